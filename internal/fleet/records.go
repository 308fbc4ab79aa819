package fleet

import (
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// Dirty returns the hotspots whose heartbeats changed since they were last folded, or
// all that have any, by id. Deleted hotspots are included until Purge.
func (f *Fleet) Dirty(all bool) []beacon.HotspotID {
	var ids []beacon.HotspotID
	f.All(func(h *Hotspot) bool {
		if h.live != nil && (all || h.live.Dirty()) {
			ids = append(ids, beacon.HotspotID(h.ID()))
		}
		return true
	})
	f.mu.Lock()
	for id, d := range f.deleted {
		if d.live != nil && (all || d.live.Dirty()) {
			ids = append(ids, id)
		}
	}
	f.mu.Unlock()
	slices.Sort(ids)
	return ids
}

// Fold returns the records of hotspots to write: of today, and of each earlier day that
// is not final yet. Memory must hold all that records say. Call finish once it is known
// whether the records were written: if not, the hotspots are dirty again.
func (f *Fleet) Fold(ids []beacon.HotspotID, at heartbeat.Moment) (rows []beacon.RecordRow, finish func(written bool)) {
	rows = make([]beacon.RecordRow, 0, len(ids))
	for _, id := range ids {
		f.with(id, func(live *heartbeat.Live) {
			for _, r := range f.table.Fold(live, at) {
				rows = append(rows, beacon.RecordRow{Hotspot: id, Day: r.Day(), Data: r.Append(nil)})
			}
		})
	}
	return rows, func(written bool) {
		finish := f.table.Unfold
		if written {
			finish = f.table.Folded
		}
		for _, id := range ids {
			f.with(id, finish)
		}
	}
}

// with calls do with the heartbeat state of a hotspot, if there is one; see live.
func (f *Fleet) with(id beacon.HotspotID, do func(*heartbeat.Live)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if live := f.live(id); live != nil {
		do(live)
	}
}

// Restore merges a record into memory and reports whether its hotspot is known.
func (f *Fleet) Restore(id beacon.HotspotID, r *heartbeat.Record) (known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	live := f.revive(id)
	if live != nil {
		f.table.Restore(live, r)
	}
	return live != nil
}

// Days returns the days of which memory has heartbeats.
func (f *Fleet) Days(id beacon.HotspotID) (days []beacon.Day) {
	f.with(id, func(live *heartbeat.Live) { days = f.table.Days(live) })
	return days
}

// Join merges the record of such a day, except for when the hotspot was seen: that may be
// in the future.
func (f *Fleet) Join(id beacon.HotspotID, r *heartbeat.Record) {
	f.with(id, func(live *heartbeat.Live) { f.table.Join(live, r) })
}

// Facts returns what a hotspot did on a day, as its record would say if it were written
// now. r is the record of that day on disk, or nil. known is false if the record could
// add something: memory has heartbeats of the hotspot, and none of that day.
func (f *Fleet) Facts(id beacon.HotspotID, day beacon.Day, r *heartbeat.Record, now time.Time) (facts beacon.Facts, known bool) {
	return lookUp(f, id, r, (*heartbeat.Record).Facts, func(live *heartbeat.Live) (beacon.Facts, bool) {
		return f.table.Facts(live, day, r, now)
	})
}

// Decided is Facts as of the minutes that are decided; see heartbeat.Table.Decided.
func (f *Fleet) Decided(id beacon.HotspotID, day beacon.Day, r *heartbeat.Record, now time.Time) (did beacon.Did, known bool) {
	return lookUp(f, id, r, (*heartbeat.Record).Did, func(live *heartbeat.Live) (beacon.Did, bool) {
		return f.table.Decided(live, day, r, now)
	})
}

// lookUp returns what memory says of a hotspot, or the record if memory has no state of it.
func lookUp[T any](
	f *Fleet, id beacon.HotspotID, r *heartbeat.Record, recorded func(*heartbeat.Record) T, inMemory func(*heartbeat.Live) (T, bool),
) (said T, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if live := f.live(id); live != nil {
		said, known = inMemory(live)
		return said, known || live.Seen() == 0
	}
	if r != nil {
		said = recorded(r)
	}
	return said, true
}

// Unrecorded returns why nothing was expected of a hotspot on a day that has no record;
// see heartbeat.Table.Unrecorded.
func (f *Fleet) Unrecorded(id beacon.HotspotID, day beacon.Day) (facts beacon.Facts, known bool) {
	f.with(id, func(live *heartbeat.Live) { facts, known = f.table.Unrecorded(live, day) })
	return facts, known
}

// Latest returns the records of a hotspot, by day, as they would be if they were
// written now: the given ones, merged with those in memory.
func (f *Fleet) Latest(id beacon.HotspotID, records []*heartbeat.Record, now time.Time) []*heartbeat.Record {
	f.with(id, func(live *heartbeat.Live) { records = f.table.Latest(live, records, now) })
	return records
}
