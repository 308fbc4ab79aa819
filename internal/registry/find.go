package registry

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Owned asks for a page of a user's hotspots.
type Owned struct {
	User   beacon.UserID // or beacon.Me
	Page   beacon.Page
	Text   string                 // part of the name, in the form of beacon.CleanSearch
	Status beacon.Status          // empty: any
	Type   beacon.Type            // empty: any
	Order  Order                  // empty: by registration
	Charge func(looked int) error // gets the number of names to scan; may refuse
}

// Order is what a user's hotspots are ordered by. What is equal is ordered by name, then by
// registration.
type Order string

// The orders. Those with a minus have the greatest first.
const (
	ByNewest      Order = "newest"
	ByName        Order = "name"
	ByNameDown    Order = "-name"
	ByStatus      Order = "status" // offline, pending, online
	ByStatusDown  Order = "-status"
	ByUptime      Order = "uptime"
	ByUptimeDown  Order = "-uptime"
	ByTraffic     Order = "traffic" // of 24 hours
	ByTrafficDown Order = "-traffic"
	BySeen        Order = "seen" // those never heard from, then those silent for longest
	BySeenDown    Order = "-seen"
)

// Orders are all orders.
func Orders() []Order {
	return []Order{ByNewest, ByName, ByNameDown, ByStatus, ByStatusDown, ByUptime, ByUptimeDown, ByTraffic, ByTrafficDown, BySeen, BySeenDown}
}

// plain reports whether the database has the page as it is asked for.
func (in *Owned) plain() bool {
	return in.Text == "" && in.Status == "" && in.Type == "" && in.Order == ""
}

// Owned lists the hotspots of the principal's user, or of anyone for an admin. It
// does not reveal whether another user exists (decision N6).
func (r *Registry) Owned(ctx context.Context, p beacon.Principal, in Owned) (beacon.Listed[View], error) {
	list := beacon.Listed[View]{Page: in.Page}
	user, err := p.Resolve(in.User)
	if err != nil {
		return list, err
	}
	if !id.Valid(beacon.UserPrefix, string(user)) {
		return list, nil // no such user; some texts cannot even be sent to a database
	}
	if !in.plain() {
		return r.search(ctx, user, in)
	}
	hotspots, total, err := r.store.HotspotsOf(ctx, user, beacon.HotspotID(in.Page.After), in.Page.Offset(), in.Page.Size)
	if err != nil {
		return list, err
	}
	list.Total = total
	for _, h := range hotspots {
		list.Items = append(list.Items, r.view(h))
	}
	return list, nil
}

// everAtOnce is how many hotspots Ever reads at a time.
const everAtOnce = 100

// Ever calls fn for each hotspot that a user has or had, by id. The caller has checked
// that the principal may act for the user.
func (r *Registry) Ever(ctx context.Context, user beacon.UserID, fn func(View) error) error {
	for after := beacon.HotspotID(""); ; {
		page, err := r.store.EverOf(ctx, user, after, everAtOnce)
		if err != nil {
			return err
		}
		for _, h := range page {
			if err := fn(r.view(h)); err != nil {
				return err
			}
			after = h.ID
		}
		if len(page) < everAtOnce {
			return nil
		}
	}
}

// HandedOver returns the hotspots that a user had and no longer has, each with the last day on
// which they earned with it. The caller has checked that the principal may act for the user.
func (r *Registry) HandedOver(ctx context.Context, user beacon.UserID) (past []Past, err error) {
	former, err := r.offers.FormerOf(ctx, user, 0)
	for _, h := range former {
		for _, t := range h.Former {
			if t.User == user {
				past = append(past, Past{h.ID, t.Through})
			}
		}
	}
	return past, err
}

// Past is a hotspot that someone had.
type Past struct {
	Hotspot beacon.HotspotID
	Through beacon.Day
}

// search is Owned for some hotspots, or in another order than that of the database.
func (r *Registry) search(ctx context.Context, user beacon.UserID, in Owned) (beacon.Listed[View], error) {
	list := beacon.Listed[View]{Page: in.Page}
	found, err := r.choose(ctx, user, in, 1)
	if err != nil {
		return list, err
	}
	list.Total = len(found)
	if in.Page.After != "" {
		found = found[sort.Search(len(found), func(i int) bool { return string(found[i]) > in.Page.After }):]
	}
	found = found[min(in.Page.Offset(), len(found)):]
	list.Items, err = r.views(ctx, found[:min(in.Page.Size, len(found))])
	return list, err
}

// eachAtOnce is how many hotspots EachOwned reads at a time.
const eachAtOnce = 500

// EachOwned calls fn with all hotspots of which Owned would return a page, in its order and
// some at a time.
func (r *Registry) EachOwned(ctx context.Context, p beacon.Principal, in Owned, fn func([]View) error) error {
	user, err := p.Resolve(in.User)
	if err != nil {
		return err
	}
	var found []beacon.HotspotID
	if id.Valid(beacon.UserPrefix, string(user)) {
		if found, err = r.choose(ctx, user, in, rowIsLooks); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(found, eachAtOnce) {
		views, err := r.views(ctx, some)
		if err == nil {
			err = fn(views)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// choose returns the hotspots that are asked for, in order. It reads the names of all of the
// user's, and the rest from memory.
func (r *Registry) choose(ctx context.Context, user beacon.UserID, in Owned, cost int) ([]beacon.HotspotID, error) {
	if strings.HasSuffix(string(in.Order), string(ByTraffic)) {
		cost += rowIsLooks
	}
	names, err := r.names(ctx, user, cost, in.Charge)
	if err != nil {
		return nil, err
	}
	now, by := r.now(), strings.TrimPrefix(string(in.Order), "-")
	found := make([]chosen, 0, len(names))
	for _, n := range names {
		c := chosen{id: n.ID}
		if in.Text != "" || in.Order != "" && in.Order != ByNewest {
			c.name = beacon.FoldName(n.Name)
		}
		if !strings.Contains(c.name, in.Text) {
			continue
		}
		h, known := r.fleet.Find(n.ID)
		status := beacon.Pending // one that is not in memory yet was registered a moment ago, elsewhere
		if known {
			status = h.StatusAt(now)
		}
		if in.Status != "" && status != in.Status || in.Type != "" && (!known || h.Type() != in.Type) {
			continue
		}
		if known {
			c.rank = r.rank(Order(by), h, status, now)
		}
		found = append(found, c)
	}
	if in.Order != "" {
		slices.SortFunc(found, in.Order.compare)
	}
	ids := make([]beacon.HotspotID, len(found))
	for i := range found {
		ids[i] = found[i].id
	}
	return ids, nil
}

// chosen is a hotspot with what it is ordered by.
type chosen struct {
	id   beacon.HotspotID
	name string // as beacon.FoldName returns it, if it is needed
	rank int64
}

// rank returns the number that an order is by, or 0.
func (r *Registry) rank(by Order, h *fleet.Hotspot, status beacon.Status, now time.Time) int64 {
	switch by {
	case ByStatus:
		return int64(slices.Index([]beacon.Status{beacon.Offline, beacon.Pending, beacon.Online}, status))
	case ByUptime:
		return int64(h.Condition(now).Uptime)
	case ByTraffic:
		metrics, _ := r.fleet.Metrics(beacon.HotspotID(h.ID()), now)
		return int64(min(metrics.Bytes24h, math.MaxInt64))
	case BySeen:
		if at := h.SeenAt(); !at.IsZero() {
			return at.UnixMicro()
		}
	}
	return 0
}

// compare orders two hotspots.
func (o Order) compare(a, b chosen) int {
	name, id := strings.Compare(a.name, b.name), strings.Compare(string(a.id), string(b.id))
	switch {
	case o == ByNewest:
		return -id
	case o == ByNameDown:
		return cmp.Or(-name, -id)
	case o[0] == '-':
		return cmp.Or(cmp.Compare(b.rank, a.rank), name, id)
	default:
		return cmp.Or(cmp.Compare(a.rank, b.rank), name, id)
	}
}

// views reads hotspots, in the order of their ids here. One that was deleted meanwhile is left
// out.
func (r *Registry) views(ctx context.Context, ids []beacon.HotspotID) ([]View, error) {
	hotspots, err := r.store.HotspotsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	at := make(map[beacon.HotspotID]int, len(hotspots))
	for i := range hotspots {
		at[hotspots[i].ID] = i
	}
	var views []View
	for _, id := range ids {
		if i, there := at[id]; there && !hotspots[i].Deleted() {
			views = append(views, r.view(hotspots[i]))
		}
	}
	return views, nil
}

// names returns all live hotspots of a user by id, with their names. Charge is called
// before they are read, with their number times cost.
func (r *Registry) names(ctx context.Context, user beacon.UserID, cost int, charge func(looked int) error) ([]beacon.HotspotName, error) {
	_, count, err := r.store.HotspotsOf(ctx, user, "", 0, 0)
	if err != nil {
		return nil, err
	}
	if err := charge(count * cost); err != nil {
		return nil, err
	}
	return r.store.NamesOf(ctx, user)
}

// List returns a page of all hotspots, from memory, or of those of an operator or with a MAC
// address, which only the database knows. It is for staff: the table of routes has checked the
// key.
func (r *Registry) List(ctx context.Context, in fleet.ListQuery, operator beacon.UserID, mac beacon.MAC) (beacon.Listed[*fleet.Hotspot], error) {
	if mac != "" {
		h, err := r.finder.HotspotWithMAC(ctx, mac)
		if err != nil && beacon.KindOf(err) != beacon.NotFound {
			return beacon.Listed[*fleet.Hotspot]{}, err
		}
		in.Among = beacon.Some([]string{})
		if err == nil && (operator == "" || operator == h.Operator) {
			in.Among.V = append(in.Among.V, string(h.ID))
		}
		return r.fleet.List(in)
	}
	if operator == "" {
		return r.fleet.List(in)
	}
	names, err := r.names(ctx, operator, rowIsLooks, in.Charge)
	if err != nil {
		return beacon.Listed[*fleet.Hotspot]{}, err
	}
	ids := make([]string, len(names))
	for i, n := range names {
		ids[i] = string(n.ID)
	}
	in.Among = beacon.Some(ids)
	return r.fleet.List(in)
}

// rowIsLooks is the cost of a row of the database, in names scanned in memory.
const rowIsLooks = 5
