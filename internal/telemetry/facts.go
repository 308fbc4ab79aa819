package telemetry

import (
	"context"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// Facts returns what hotspots did on a day, sealed up to and including this minute.
// Facts of today come from memory, those of earlier days from records merged with
// memory. A hotspot that did nothing that counts is left out.
func (t *Telemetry) Facts(
	ctx context.Context, day beacon.Day, ids []beacon.HotspotID,
) (map[beacon.HotspotID]beacon.Facts, error) {
	now := t.Now()
	today := beacon.MinuteOf(now).Day()
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

// FactsOf returns the facts of an encoded record.
func (t *Telemetry) FactsOf(record []byte) (beacon.Facts, error) {
	return heartbeat.RecordFacts(record)
}

// ServedOf returns the minutes that an encoded record counts as served.
func (t *Telemetry) ServedOf(record []byte) (beacon.Minutes, error) {
	return heartbeat.RecordServed(record)
}

// factsInMemory adds the facts of today and returns the hotspots whose facts memory
// does not have. A hotspot that is not in memory did nothing today.
func (t *Telemetry) factsInMemory(
	facts map[beacon.HotspotID]beacon.Facts, ids []beacon.HotspotID, now time.Time,
) (rest []beacon.HotspotID) {
	today := beacon.MinuteOf(now).Day()
	for _, id := range ids {
		if f, known := t.Fleet.Facts(id, today, nil, now); !known {
			rest = append(rest, id)
		} else if !f.None() {
			facts[id] = f
		}
	}
	return rest
}

// factsOnDisk adds the facts of some hundreds of hotspots. Of a final day, the record
// alone counts.
func (t *Telemetry) factsOnDisk(
	ctx context.Context, facts map[beacon.HotspotID]beacon.Facts, day beacon.Day, ids []beacon.HotspotID, now time.Time,
) error {
	before, final := t.FinalBefore()
	final = final && day < before
	rows, err := t.Store.Records(ctx, day, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		record := t.decode(id, day, rows[id])
		var f beacon.Facts
		if !final {
			f, _ = t.Fleet.Facts(id, day, record, now)
		} else if record != nil {
			f = record.Facts()
		}
		if !f.None() {
			facts[id] = f
		}
	}
	return nil
}

// decode decodes a record and returns nil if there is none. A damaged record is
// skipped, so that the others do not suffer for it.
func (t *Telemetry) decode(hotspot beacon.HotspotID, day beacon.Day, data []byte) *heartbeat.Record {
	if data == nil {
		return nil
	}
	r, err := heartbeat.DecodeRecord(data)
	if err != nil {
		t.Log.Error("a heartbeat record cannot be read and was skipped", "hotspot", hotspot, "day", day, "err", err)
		return nil
	}
	return r
}
