package telemetry

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/vitals"
)

// Restore brings memory to where the journals are: the newest record of each
// hotspot, and every beat that is still in a journal. The journal keeps beats
// for a whole fold after they went into records, so that none falls between the
// two while they are read. The fleet must be loaded before.
func (t *Telemetry) Restore(ctx context.Context) error {
	if err := t.readSpans(ctx); err != nil {
		return fmt.Errorf("read when the service was up: %w", err)
	}
	if err := t.readRecords(ctx); err != nil {
		return fmt.Errorf("read the records: %w", err)
	}
	if err := t.Look(ctx); err != nil {
		return fmt.Errorf("read the journals: %w", err)
	}
	if err := t.Follow(ctx); err != nil {
		return fmt.Errorf("replay the journals: %w", err)
	}
	t.folds.done(vitals.MinuteOf(t.Now()))
	return nil
}

// readRecords takes over the newest record of each hotspot, and where the day
// before was not over for good when that one was begun, also its record.
func (t *Telemetry) readRecords(ctx context.Context) error {
	var mu sync.Mutex
	open := map[vitals.Day][]beacon.HotspotID{}
	err := t.Store.EachRecord(ctx, func(hotspot beacon.HotspotID, day int64, data []byte) error {
		record, err := vitals.DecodeRecord(data)
		if err != nil {
			return fmt.Errorf("record of %s on day %d: %w", hotspot, day, err)
		}
		t.Fleet.With(hotspot, func(live *vitals.Live) { t.Table.Restore(live, record) })
		if record.NeedsDayBefore() {
			mu.Lock()
			defer mu.Unlock()
			open[record.Day()-1] = append(open[record.Day()-1], hotspot)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for day, ids := range open {
		slices.Sort(ids)
		for chunk := range slices.Chunk(ids, foldChunk) {
			if err := t.restoreDay(ctx, day, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}
