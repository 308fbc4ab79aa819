package fleet

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet/directory"
)

// entry is a hotspot with what lists find it by.
type entry = directory.Entry[*Hotspot]

// The kinds of hotspots that lists count separately. Whether a hotspot in service is
// online depends on the clock, so each is checked.
const (
	unverified directory.Kind = iota
	unlinked                  // verified, and without a device
	inService
)

// newEntry returns a hotspot with what lists find it by.
func (f *Fleet) newEntry(h beacon.Hotspot) entry {
	e := entry{Item: f.newHotspot(h), Text: beacon.FoldName(h.Name)}
	switch {
	case !e.Item.Verified():
		e.Kind = unverified
	case !e.Item.Linked():
		e.Kind = unlinked
	default:
		e.Kind = inService
	}
	return e
}

// ListQuery asks for a page of all hotspots, in the order of registration.
type ListQuery struct {
	Status   beacon.Status        // empty: any
	Verified beacon.Opt[bool]     // only those whose place was, or was not, verified
	Rejected beacon.Opt[bool]     // only those that staff have, or have not, rejected
	Type     beacon.Type          // empty: any
	Among    beacon.Opt[[]string] // only those with these ids, which are in order
	Text     string               // only those whose name contains this, in the form of beacon.CleanSearch
	Newest   bool                 // last registered first
	By       ListOrder            // instead of by registration; Page has no After then
	Agent    AgentQuery
	Page     beacon.Page
	Now      time.Time            // the moment the status is for
	Charge   func(cost int) error // is called before the work with its cost, in names scanned; may refuse
}

// ListOrder is what a list is ordered by. What is equal is ordered by id.
type ListOrder string

// The orders. Those with a minus have the greatest first.
const (
	ByUptime     ListOrder = "uptime"
	ByUptimeDown ListOrder = "-uptime"
	BySeen       ListOrder = "seen" // those never heard from, then those silent for longest
	BySeenDown   ListOrder = "-seen"
)

// ListOrders are all orders.
func ListOrders() []ListOrder { return []ListOrder{ByUptime, ByUptimeDown, BySeen, BySeenDown} }

// value returns what an order is by.
func (o ListOrder) value(s *Hotspot) (v int64) {
	switch {
	case s.live == nil:
	case o == ByUptime || o == ByUptimeDown:
		v = int64(s.live.Shown().Uptime)
	default:
		v = s.live.Seen()
	}
	if o[0] == '-' {
		return -v
	}
	return v
}

// sorted returns a page of all items that a query finds, by an order. Each is looked at
// once: heartbeats change it meanwhile.
func (o ListOrder) sorted(all *directory.Snapshot[*Hotspot], q directory.Query[*Hotspot]) (page []*Hotspot, total int) {
	from, size := q.Offset, q.Limit
	q.Offset, q.Limit = 0, math.MaxInt
	items, total := all.List(q, nil)
	type placed struct {
		value int64
		at    int
	}
	places := make([]placed, len(items))
	for i, s := range items {
		places[i] = placed{o.value(s), i}
	}
	slices.SortFunc(places, func(a, b placed) int { return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.at, b.at)) })
	places = places[min(from, total):]
	for _, p := range places[:min(size, len(places))] {
		page = append(page, items[p.at])
	}
	return page, total
}

// AgentQuery asks for hotspots by what their devices run. Of an empty field, any will do.
type AgentQuery beacon.AgentKind

func (q AgentQuery) matches(kind beacon.AgentKind) bool {
	return (q.Version == "" || q.Version == kind.Version) && (q.Model == "" || q.Model == kind.Model) &&
		(q.Firmware == "" || q.Firmware == kind.Firmware)
}

// checkCost is the cost of examining a hotspot, such as whether it is online, in names
// scanned: those are contiguous in memory.
const checkCost = 5

// List returns a page of the hotspots of one snapshot.
func (f *Fleet) List(in ListQuery) (beacon.Listed[*Hotspot], error) {
	q := in.query()
	all := f.directory.Snapshot()
	if in.Among.Set {
		all = all.Of(in.Among.V)
	}
	page := beacon.Listed[*Hotspot]{Page: in.Page}
	cost := all.Scans(q)
	if q.Keep != nil {
		cost *= checkCost
	}
	if in.By != "" {
		cost = max(cost, f.Len()*checkCost)
	}
	if err := in.Charge(cost); err != nil {
		return page, err
	}
	if in.By != "" {
		page.Items, page.Total = in.By.sorted(all, q)
		return page, nil
	}
	page.Items, page.Total = all.List(q, nil)
	return page, nil
}

func (in ListQuery) query() directory.Query[*Hotspot] {
	q := directory.Query[*Hotspot]{Kinds: directory.All, Text: in.Text, Newest: in.Newest, After: in.Page.After, Offset: in.Page.Offset(), Limit: in.Page.Size}
	switch in.Status {
	case beacon.Pending:
		q.Kinds = directory.SetOf(unverified, unlinked)
	case beacon.Online, beacon.Offline:
		q.Kinds = directory.SetOf(inService)
		q.Keep = func(s *Hotspot) bool { return s.heardAt(in.Now) == (in.Status == beacon.Online) }
	}
	if in.Agent != (AgentQuery{}) || in.Rejected.Set || in.Type != "" {
		online := q.Keep
		q.Keep = func(s *Hotspot) bool {
			return in.Agent.matches(s.Agent()) && (!in.Rejected.Set || s.Rejected() == in.Rejected.V) &&
				(in.Type == "" || s.Type() == in.Type) && (online == nil || online(s))
		}
	}
	if in.Verified.Set {
		wanted := directory.SetOf(unlinked, inService)
		if !in.Verified.V {
			wanted = directory.SetOf(unverified)
		}
		q.Kinds &= wanted
	}
	return q
}
