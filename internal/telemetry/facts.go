package telemetry

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// Facts returns what hotspots did on a day, decided up to and including this minute.
// Facts of today come from memory, those of earlier days from records merged with
// memory. A hotspot that did nothing that counts is left out.
func (t *Telemetry) Facts(
	ctx context.Context, day beacon.Day, ids []beacon.HotspotID,
) (map[beacon.HotspotID]beacon.Facts, error) {
	facts, err := lookUp(ctx, t, day, ids, t.Fleet.Facts, (*heartbeat.Record).Facts)
	maps.DeleteFunc(facts, func(_ beacon.HotspotID, f beacon.Facts) bool { return f.None() })
	return facts, err
}

// Decided is Facts as of the minutes that are decided, with those that were served. It
// has every hotspot that has a record or beats of the day.
func (t *Telemetry) Decided(
	ctx context.Context, day beacon.Day, ids []beacon.HotspotID,
) (map[beacon.HotspotID]beacon.Did, error) {
	return lookUp(ctx, t, day, ids, t.Fleet.Decided, (*heartbeat.Record).Did)
}

// DidOf returns the facts of an encoded record, with the minutes that were served.
func (t *Telemetry) DidOf(record []byte) (beacon.Did, error) {
	return heartbeat.RecordDid(record)
}

// lookUp returns what memory or the records say of hotspots on a day.
func lookUp[T any](
	ctx context.Context, t *Telemetry, day beacon.Day, ids []beacon.HotspotID,
	inMemory func(beacon.HotspotID, beacon.Day, *heartbeat.Record, time.Time) (T, bool), recorded func(*heartbeat.Record) T,
) (map[beacon.HotspotID]T, error) {
	now := t.Clock.Now()
	today := beacon.MinuteOf(now).Day()
	said := make(map[beacon.HotspotID]T, len(ids))
	if day < 0 || day > today {
		return said, nil
	}
	onDisk := ids
	if day == today && !t.suspicions.any() {
		onDisk = nil
		for _, id := range ids { // known is also true for one without state in memory: it did nothing today
			if is, known := inMemory(id, today, nil, now); known {
				said[id] = is
			} else {
				onDisk = append(onDisk, id)
			}
		}
	}
	before, final := t.FinalBefore()
	final = final && day < before // then the record alone counts
	for chunk := range slices.Chunk(onDisk, hotspotsAtATime) {
		rows, err := t.Store.Records(ctx, day, chunk)
		if err != nil {
			return nil, err
		}
		for _, id := range chunk {
			var record *heartbeat.Record
			if data, found := rows[id]; found {
				record = t.decode(id, day, data)
			}
			if !final {
				said[id], _ = inMemory(id, day, record, now)
			} else if record != nil {
				said[id] = recorded(record)
			}
		}
	}
	return said, nil
}

// decode decodes a record, or returns nil if it is damaged: it is skipped, so that the
// others do not suffer for it.
func (t *Telemetry) decode(hotspot beacon.HotspotID, day beacon.Day, data []byte) *heartbeat.Record {
	r, err := heartbeat.DecodeRecord(data)
	if err != nil {
		t.Log.Error("a heartbeat record cannot be read and was skipped", "hotspot", hotspot, "day", day, "err", err)
		return nil
	}
	return r
}
