package telemetry

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// rereadChunk merges the records that the lease holder made of the journals: of all
// days that were not over when this node last did so.
func (t *Telemetry) rereadChunk(ctx context.Context, ids []beacon.HotspotID, today beacon.Day) error {
	const longest = 31 // days
	last, _ := t.folds.last()
	since := min(last.Day(), today)
	first := max(since, 1, max(today, longest)-longest+1) - 1
	for day := first; day <= today; day++ {
		if err := t.restoreDay(ctx, day, ids); err != nil {
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
		for _, day := range t.Fleet.DaysAfter(id, -1) {
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
