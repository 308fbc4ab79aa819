package fleet

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// deletedHotspot is a deleted hotspot. No response shows it. Its heartbeats count until
// its last day is final. Its version is kept for tombstoneTime at least, so that an
// older copy still in flight cannot bring it back.
type deletedHotspot struct {
	live    *heartbeat.Live // nil if it never had a device, or its last day is final
	version int64
	at      time.Time // when it was deleted
	learned time.Time // when the fleet learned of it, by the machine's clock
}

// tombstoneTime is longer than anything can be in flight: a request, or a read of
// changes, is abandoned after seconds.
const tombstoneTime = 10 * time.Minute

// keepDeleted keeps the version and the heartbeat state of a deleted hotspot. One that
// never had a device has no such state.
func (f *Fleet) keepDeleted(h beacon.Hotspot) {
	live := f.deleted[h.ID].live
	current, stood := f.index.Get(string(h.ID))
	if stood {
		live = current.live
	}
	if !stood || live != nil || !neverServed(h) {
		live = f.table.Place(live, h)
	}
	f.deleted[h.ID] = deletedHotspot{live, h.Version, h.DeletedAt, time.Now()}
}

// Purge forgets the heartbeats of hotspots that were deleted before a moment, and where
// those stood that were deleted before an earlier one: until a day is closed, what others
// earn depends on it.
func (f *Fleet) Purge(deletedBefore, stoodBefore time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.places.purge(stoodBefore)
	for id, d := range f.deleted {
		if d.live != nil && d.at.Before(deletedBefore) {
			f.table.Remove(d.live)
			d.live = nil
			f.deleted[id] = d
		}
		if d.live == nil && time.Since(d.learned) > tombstoneTime {
			delete(f.deleted, id)
		}
	}
}
