package telemetry

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// Restore loads the newest record of each hotspot. The fleet must be loaded before. The
// journals are applied by the follower's first step; then call Restored. The journal
// keeps beats for a whole fold after they went into records, so that none is missed
// while both are read.
func (t *Telemetry) Restore(ctx context.Context) error {
	if err := t.readSpans(ctx); err != nil {
		return fmt.Errorf("read the spans of service: %w", err)
	}
	if err := t.readRecords(ctx); err != nil {
		return fmt.Errorf("read the records: %w", err)
	}
	return nil
}

// Restored ends the startup. It rereads records that were read before their hotspot was
// known. No hotspot was seen in the future, whatever the clock was before.
func (t *Telemetry) Restored(ctx context.Context) error {
	today := beacon.MinuteOf(t.Clock.Now()).Day()
	for _, day := range []beacon.Day{today - 1, today} {
		if _, err := t.restoreDay(ctx, day, t.unknown); err != nil {
			return fmt.Errorf("read the records: %w", err)
		}
	}
	t.unknown = nil
	t.startClock()
	t.restored.Store(true)
	t.folds.done(beacon.MinuteOf(t.Clock.Now())-foldEvery+1, 0) // the first fold comes soon: the journal may be long
	return nil
}

// Reread loads the newest records again, and shows them. It is for records that something
// else in this process wrote, under a lease that this node did not hold.
func (t *Telemetry) Reread(ctx context.Context) error {
	if err := t.readRecords(ctx); err != nil {
		return fmt.Errorf("read the records: %w", err)
	}
	t.Fleet.Refresh(t.Clock.Now())
	return t.Fleet.RedrawAll(t.Clock.Now())
}

// readRecords loads the newest record of each hotspot, and also the one before, if its day
// was not final when the newest was begun. If the newest is of the future, it also loads
// those up to today: what it says of traffic counts once the clock is trusted.
func (t *Telemetry) readRecords(ctx context.Context) error {
	today := beacon.MinuteOf(t.Clock.Now()).Day()
	var mu sync.Mutex
	var ahead []beacon.HotspotID
	open := map[beacon.Day][]beacon.HotspotID{}
	err := t.Store.EachRecord(ctx, func(hotspot beacon.HotspotID, day beacon.Day, data []byte) error {
		record, known := t.restoreRecord(hotspot, day, data)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case !known:
			t.unknown = append(t.unknown, hotspot)
		case day > today: // a clock was ahead, or is behind
			ahead = append(ahead, hotspot)
		case record != nil && record.NeedsDayBefore():
			open[record.Day()-1] = append(open[record.Day()-1], hotspot)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for day, ids := range open {
		if err := t.restoreUpTo(ctx, day, ids); err != nil {
			return err
		}
	}
	return t.restoreUpTo(ctx, today, ahead)
}

// recordsMatter is for how many days something in a record may still matter: as many as may
// wait to be written after an outage.
const recordsMatter = 100

// restoreUpTo loads the newest records of hotspots that are not of later days, and also
// the ones before while their days were not final. Between two days with a record there
// may be others on which the service was down.
func (t *Telemetry) restoreUpTo(ctx context.Context, last beacon.Day, ids []beacon.HotspotID) error {
	for day := last; len(ids) > 0 && day+recordsMatter > last; day-- {
		complete, err := t.restoreDay(ctx, day, ids)
		if err != nil {
			return err
		}
		ids = slices.DeleteFunc(ids, func(id beacon.HotspotID) bool { return complete[id] })
	}
	return nil
}

// restoreDay loads the records of one day. It returns those hotspots that have one and
// need none of an earlier day.
func (t *Telemetry) restoreDay(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (complete map[beacon.HotspotID]bool, err error) {
	slices.Sort(ids)
	complete = map[beacon.HotspotID]bool{}
	for chunk := range slices.Chunk(ids, hotspotsAtATime) {
		rows, err := t.Store.Records(ctx, day, chunk)
		if err != nil {
			return nil, err
		}
		for id, data := range rows {
			r, _ := t.restoreRecord(id, day, data)
			complete[id] = r == nil || !r.NeedsDayBefore()
		}
	}
	return complete, nil
}

// restoreRecord merges a record into memory and reports whether its hotspot is known. A
// damaged record is skipped, so that the others do not suffer for it.
func (t *Telemetry) restoreRecord(hotspot beacon.HotspotID, day beacon.Day, data []byte) (r *heartbeat.Record, known bool) {
	if r = t.decode(hotspot, day, data); r == nil {
		return nil, true
	}
	return r, t.Fleet.Restore(hotspot, r)
}

// rereadChunk merges the records that the lease holder made of the journals: of all
// days that were not over when this node last did so.
func (t *Telemetry) rereadChunk(ctx context.Context, ids []beacon.HotspotID, today beacon.Day) error {
	last, _ := t.folds.last()
	since := min(last.Day(), today)
	first := max(since, 1, max(today, recordsMatter)-recordsMatter+1) - 1
	for day := first; day <= today; day++ {
		if _, err := t.restoreDay(ctx, day, ids); err != nil {
			return err
		}
	}
	return t.rereadOthers(ctx, ids, first, today)
}

// rereadOthers merges the records of other days of which memory has beats. They have not
// come, or are long over: if now is wrong, those are right.
func (t *Telemetry) rereadOthers(ctx context.Context, ids []beacon.HotspotID, first, today beacon.Day) error {
	others := map[beacon.Day][]beacon.HotspotID{}
	for _, id := range ids {
		for _, day := range t.Fleet.Days(id) {
			if day < first || day > today {
				others[day] = append(others[day], id)
			}
		}
	}
	for day, ids := range others {
		rows, err := t.Store.Records(ctx, day, ids)
		if err != nil {
			return err
		}
		for id, data := range rows {
			if r := t.decode(id, day, data); r != nil {
				t.Fleet.Join(id, r)
			}
		}
	}
	return nil
}
