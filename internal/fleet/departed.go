package fleet

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// departed is a hotspot that is deleted, and whose last day is not written for
// good. No answer shows it; its heartbeats go on to count until then.
type departed struct {
	live    *heartbeat.Live
	version int64
	at      time.Time // when it was deleted
}

// depart keeps of a hotspot that is deleted what its heartbeats add up to. Of
// one that never had a device there is nothing to keep.
func (f *Fleet) depart(h beacon.Hotspot) {
	live := f.departed[h.ID].live
	if spot, ok := f.index.Get(string(h.ID)); ok {
		live = spot.live
		if live == nil && neverServed(h) {
			return
		}
	}
	f.departed[h.ID] = departed{f.table.Place(live, h), h.Version, h.DeletedAt}
}

// Tend is With for everyone whose heartbeats count: also for hotspots that are
// deleted and not buried. It reports whether there was one.
func (f *Fleet) Tend(id beacon.HotspotID, fn func(*heartbeat.Live)) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if spot, ok := f.index.Get(string(id)); ok {
		if spot.live != nil {
			fn(spot.live)
		}
		return spot.live != nil
	}
	return f.tendDeparted(id, fn)
}

func (f *Fleet) tendDeparted(id beacon.HotspotID, fn func(*heartbeat.Live)) bool {
	d, ok := f.departed[id]
	if ok {
		fn(d.live)
	}
	return ok
}

// Departed calls fn with each hotspot that is deleted and not buried, and when
// it was deleted. Fn must not ask the fleet anything.
func (f *Fleet) Departed(fn func(id beacon.HotspotID, live *heartbeat.Live, at time.Time)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, d := range f.departed {
		fn(id, d.live, d.at)
	}
}

// Bury forgets a hotspot that has departed.
func (f *Fleet) Bury(id beacon.HotspotID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d, ok := f.departed[id]; ok {
		f.table.Remove(d.live)
		delete(f.departed, id)
	}
}
