package fleet

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// deletedHotspot is a deleted hotspot whose last day is not final. No response shows
// it; its heartbeats count until then.
type deletedHotspot struct {
	live    *heartbeat.Live
	version int64
	at      time.Time // when it was deleted
}

// keepDeleted keeps the heartbeat state of a deleted hotspot. One that never had a
// device has nothing to keep.
func (f *Fleet) keepDeleted(h beacon.Hotspot) {
	live := f.deleted[h.ID].live
	if current, ok := f.index.Get(string(h.ID)); ok {
		live = current.live
		if live == nil && neverServed(h) {
			return
		}
	}
	f.deleted[h.ID] = deletedHotspot{f.table.Place(live, h), h.Version, h.DeletedAt}
}

// Purge forgets the heartbeats of hotspots that were deleted before a moment, and where
// those stood that were deleted before an earlier one: until a day is closed, what others
// earn depends on it.
func (f *Fleet) Purge(deletedBefore, stoodBefore time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.places.purge(stoodBefore)
	for id, d := range f.deleted {
		if d.at.Before(deletedBefore) {
			f.table.Remove(d.live)
			delete(f.deleted, id)
		}
	}
}
