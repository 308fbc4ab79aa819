package telemetry

import (
	"context"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// Facts are what hotspots did on a day, decided up to and including this minute.
// Those of today come from memory, those of days before from records, with what
// memory knows beside them. Who did nothing that counts is left out.
func (t *Telemetry) Facts(
	ctx context.Context, day beacon.Day, ids []beacon.HotspotID,
) (map[beacon.HotspotID]beacon.Facts, error) {
	now := t.Now()
	today := beacon.Day(heartbeat.MinuteOf(now).Day())
	facts := make(map[beacon.HotspotID]beacon.Facts, len(ids))
	if day < 0 || day > today {
		return facts, nil
	}
	onDisk := ids
	if day == today && !t.suspicions.any() {
		onDisk = t.factsInMemory(facts, ids, now)
	}
	for chunk := range slices.Chunk(onDisk, foldChunk) {
		if err := t.factsOnDisk(ctx, facts, day, chunk, now); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

// FactsOf reads the facts from a record.
func (t *Telemetry) FactsOf(record []byte) (beacon.Facts, error) {
	return heartbeat.RecordFacts(record)
}

// factsInMemory adds the facts of today, and answers of whom memory does not
// know them. One whom nobody has in memory did nothing today.
func (t *Telemetry) factsInMemory(
	facts map[beacon.HotspotID]beacon.Facts, ids []beacon.HotspotID, now time.Time,
) (rest []beacon.HotspotID) {
	today := heartbeat.MinuteOf(now).Day()
	for _, id := range ids {
		t.Fleet.Tend(id, func(live *heartbeat.Live) {
			f, known := t.Table.Facts(live, today, nil, now)
			if !known && live.Seen() > 0 {
				rest = append(rest, id)
			} else if !f.None() {
				facts[id] = f
			}
		})
	}
	return rest
}

// factsOnDisk adds the facts of some hundreds of hotspots. Of a day that is
// written for good, the record alone counts.
func (t *Telemetry) factsOnDisk(
	ctx context.Context, facts map[beacon.HotspotID]beacon.Facts, day beacon.Day, ids []beacon.HotspotID, now time.Time,
) error {
	before, final := t.FinalBefore()
	final = final && day < before
	rows, err := t.Store.Records(ctx, int64(day), ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		record := t.decode(id, day, rows[id])
		var f beacon.Facts
		if record != nil {
			f = record.Facts()
		}
		if !final {
			t.Fleet.Tend(id, func(live *heartbeat.Live) { f, _ = t.Table.Facts(live, heartbeat.Day(day), record, now) })
		}
		if !f.None() {
			facts[id] = f
		}
	}
	return nil
}

// decode reads a record; nil: there is none. One that is damaged is passed over:
// the others must not suffer for it.
func (t *Telemetry) decode(hotspot beacon.HotspotID, day beacon.Day, data []byte) *heartbeat.Record {
	if data == nil {
		return nil
	}
	r, err := heartbeat.DecodeRecord(data)
	if err != nil {
		t.Log.Error("a record of heartbeats cannot be read, and is passed over", "hotspot", hotspot, "day", day, "err", err)
		return nil
	}
	return r
}
