package openfeeds

import (
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/fragments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
)

// choose decides whether feeds show a hotspot at all, and where (decision D176). Homes are
// left out. So are hotspots that are not in service: until staff have verified it, a place
// is only somebody's claim.
func choose(s *fleet.Hotspot, now time.Time) (item fleet.MapItem, shown bool) {
	switch fragments.SummaryOf(s).Type {
	case beacon.Business, beacon.Public:
		return fleet.MapItem{Hotspot: s, Place: s.Place(), Status: s.StatusAt(now)}, s.Active()
	default:
		return item, false
	}
}

// hotspot is what anyone may know of a hotspot. The encoders of feeds get nothing else.
type hotspot struct {
	id                  string
	place               geo.Point
	kind                beacon.Type
	status              beacon.Status
	name, ssid, address string // JSON
	radiusM             float64
	open                bool
	until               time.Time        // when open changes; zero: not within a year
	always              bool             // open
	hours               *beacon.Schedule // nil: always open, or not shown
	createdAt           time.Time
	seenAt              time.Time // by the minute; zero: never
	clients             int16     // in fives
	counted             bool      // else how many clients there are is not shown
}

// publish sets h to what feeds show of an item of an edition.
func (v *view) publish(h *hotspot, e *edition, i int) {
	item := &e.items[i]
	s := item.Hotspot
	text := fragments.SummaryOf(s)
	raw, _ := id.Parse(beacon.HotspotPrefix, s.ID())
	*h = hotspot{
		id: s.ID(), place: item.Place, kind: text.Type, status: item.Status, name: text.Name, ssid: text.SSID, address: text.Address,
		radiusM: s.RadiusM(), createdAt: raw.Time(),
	}
	if e.seen[i] != 0 {
		h.seenAt = e.seen[i].Time()
	}
	if e.counts != nil {
		h.clients, h.counted = e.counts[i], true
	}
	h.open, h.until = s.OpenAt(e.at)
	h.hours = s.Hours()
	h.always = h.hours == nil
	for _, hide := range v.hidden {
		hide(h)
	}
}

// view is what the table of audiences makes public.
type view struct {
	hidden []func(*hotspot)
	none   bool // feeds are empty
}

// essential are the details without which feeds are empty.
var essential = []beacon.Detail{beacon.ShownID, beacon.ShownType, beacon.ShownStatus, beacon.ShownLat, beacon.ShownLng}

// others are the other details that feeds show, and how each is hidden.
var others = map[beacon.Detail]func(*hotspot){
	beacon.ShownName:    func(h *hotspot) { h.name = "null" },
	beacon.ShownSSID:    func(h *hotspot) { h.ssid = "null" },
	beacon.ShownAddress: func(h *hotspot) { h.address = "null" },
	beacon.ShownRadius:  func(h *hotspot) { h.radiusM = 0 },
	beacon.ShownCreated: func(h *hotspot) { h.createdAt = time.Time{} },
	beacon.ShownSeen:    func(h *hotspot) { h.seenAt = time.Time{} },
	beacon.ShownOpen:    func(h *hotspot) { h.open, h.until = true, time.Time{} },
	beacon.ShownHours:   func(h *hotspot) { h.hours, h.always = nil, false },
	beacon.ShownUntil:   func(h *hotspot) { h.until = time.Time{} },
	beacon.ShownOpens:   func(h *hotspot) { h.until = time.Time{} },
	beacon.ShownClients: func(h *hotspot) { h.clients, h.counted = 0, false },
}

func newView(audience func(beacon.Detail) beacon.Audience) view {
	private := func(d beacon.Detail) bool {
		a := audience(d)
		return a != beacon.Everyone && a != beacon.EveryoneIfShown
	}
	v := view{none: slices.ContainsFunc(essential, private)}
	for d, hide := range others {
		if private(d) {
			v.hidden = append(v.hidden, hide)
		}
	}
	return v
}
