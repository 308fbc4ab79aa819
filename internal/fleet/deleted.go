package fleet

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// deleted is a deleted hotspot whose last day is not written for good. No response
// shows it; its heartbeats count until then.
type deleted struct {
	live    *heartbeat.Live
	version int64
	at      time.Time // when it was deleted
}

// depart keeps the heartbeat state of a deleted hotspot. One that never had a device
// has nothing to keep.
func (f *Fleet) depart(h beacon.Hotspot) {
	live := f.departed[h.ID].live
	if spot, ok := f.index.Get(string(h.ID)); ok {
		live = spot.live
		if live == nil && neverServed(h) {
			return
		}
	}
	f.departed[h.ID] = deleted{f.table.Place(live, h), h.Version, h.DeletedAt}
}

// Tend is With for every hotspot whose heartbeats count: also for deleted ones that
// Purge has not removed yet. It reports whether there was one.
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

// Deleted calls fn with each deleted hotspot that Purge has not removed yet, and when
// it was deleted. Fn must not call the fleet.
func (f *Fleet) Deleted(fn func(id beacon.HotspotID, live *heartbeat.Live, at time.Time)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, d := range f.departed {
		fn(id, d.live, d.at)
	}
}

// Purge removes a departed hotspot.
func (f *Fleet) Purge(id beacon.HotspotID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d, ok := f.departed[id]; ok {
		f.table.Remove(d.live)
		delete(f.departed, id)
	}
}
