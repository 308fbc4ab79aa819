package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// PutRecords writes records, at most one for each hotspot and day, over earlier
// ones, all or none. It answers Conflict when the lease was lost. Others wait
// behind it: send some hundreds at a time, in the order of their ids.
func (db *DB) PutRecords(ctx context.Context, l lease.Lease, rows []beacon.RecordRow) error {
	rows = ownRecords(rows)
	heads := newestOf(rows)
	return db.fenced(ctx, l, func(tx *transaction) error {
		err := inChunks(sqlText.putRecords[:], len(rows), func(text string, from, to int) error {
			args := make([]any, 0, 3*(to-from))
			for _, r := range rows[from:to] {
				args = append(args, r.Day, string(r.Hotspot), r.Data)
			}
			_, err := tx.exec(text, args...)
			return err
		})
		if err != nil {
			return err
		}
		return inChunks(sqlText.putHeads[:], len(heads), func(text string, from, to int) error {
			args := make([]any, 0, 2*(to-from))
			for _, r := range heads[from:to] {
				args = append(args, string(r.Hotspot), r.Day)
			}
			_, err := tx.exec(text, args...)
			return err
		})
	})
}

// ownRecords copies rows, in the order of the table: the caller may leave before
// they are written.
func ownRecords(rows []beacon.RecordRow) []beacon.RecordRow {
	size := 0
	for _, r := range rows {
		size += len(r.Data)
	}
	memory := make([]byte, 0, size)
	own := slices.Clone(rows)
	for i, r := range own {
		start := len(memory)
		memory = append(memory, r.Data...)
		own[i].Data = memory[start:len(memory):len(memory)]
	}
	slices.SortFunc(own, func(a, b beacon.RecordRow) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), strings.Compare(string(a.Hotspot), string(b.Hotspot)))
	})
	return own
}

// newestOf leaves the newest row of each hotspot, in the order of their ids.
func newestOf(rows []beacon.RecordRow) []beacon.RecordRow {
	newest := slices.Clone(rows)
	slices.SortFunc(newest, func(a, b beacon.RecordRow) int {
		return cmp.Or(strings.Compare(string(a.Hotspot), string(b.Hotspot)), cmp.Compare(b.Day, a.Day))
	})
	return slices.CompactFunc(newest, func(a, b beacon.RecordRow) bool { return a.Hotspot == b.Hotspot })
}

// EachRecord calls fn with the newest record of every hotspot, once each, in no
// particular order and from more than one goroutine at a time: fn must be safe
// for that. It ends with the first error of fn. It is no snapshot.
func (db *DB) EachRecord(ctx context.Context, fn func(hotspot beacon.HotspotID, day int64, data []byte) error) error {
	var newest int64
	err := db.queryRow(ctx, func(scan func(...any) error) error { return scan(&newest) }, sqlText.newestDay)
	if err != nil {
		return err
	}
	return db.eachPage(ctx, sqlText.recordPage, scanners, func(ctx context.Context, s span) error {
		return db.eachRecordIn(ctx, s, newest, fn)
	})
}

// eachRecordIn reads a page. Most hotspots have a record of the newest day, and
// these lie in one piece: to look up each by itself would take twice as long.
// So the others come first, and a record that is written meanwhile is not met
// for a second time.
func (db *DB) eachRecordIn(
	ctx context.Context, s span, newest int64, fn func(hotspot beacon.HotspotID, day int64, data []byte) error,
) error {
	var hotspot string
	var day int64
	var data []byte
	met := map[string]bool{}
	err := db.scan(ctx, sqlText.olderRecords, []any{&hotspot, &day, &data}, func() (stopped, failed error) {
		met[hotspot] = true
		return fn(beacon.HotspotID(hotspot), day, data), nil
	}, s.after, s.end, newest)
	if err != nil {
		return err
	}
	return db.scan(ctx, sqlText.newestRecords, []any{&hotspot, &data}, func() (stopped, failed error) {
		if met[hotspot] {
			return nil, nil
		}
		return fn(beacon.HotspotID(hotspot), newest, data), nil
	}, s.after, s.end, newest)
}

// Records answers those records of a day that exist. It is made for some
// hundreds of ids, of which most have a record.
func (db *DB) Records(ctx context.Context, day int64, ids []beacon.HotspotID) (map[beacon.HotspotID][]byte, error) {
	found := make(map[beacon.HotspotID][]byte, len(ids))
	rest := db.recordsBetween(ctx, day, slices.Sorted(slices.Values(ids)), found)
	if err := db.recordsByID(ctx, day, rest, found); err != nil {
		return nil, err
	}
	return found, nil
}

// recordsByID looks up each record by itself.
func (db *DB) recordsByID(ctx context.Context, day int64, ids []beacon.HotspotID, found map[beacon.HotspotID][]byte) error {
	for some := range slices.Chunk(ids, idsPerQuery) {
		rows, err := listAgain(ctx, db, sqlText.recordsByID, recordRow, listArgs(some, idsPerQuery, day)...)
		if err != nil {
			return err
		}
		for _, r := range rows {
			found[r.Hotspot] = r.Data
		}
	}
	return nil
}

func recordRow() ([]any, func() (beacon.RecordRow, error)) {
	var r beacon.RecordRow
	return []any{(*string)(&r.Hotspot), &r.Data}, func() (beacon.RecordRow, error) { return r, nil }
}

// recordsBetween reads on from the first id to the last, which takes less than
// half as long as to look up each while few others stand in between (2.1 µs of
// CPU a record against 5.3). When many do, it gives up (9 against 6.5), and answers the ids that are still to be looked up. So it does when
// it fails: that is left to a way which tries again.
func (db *DB) recordsBetween(
	ctx context.Context, day int64, ids []beacon.HotspotID, found map[beacon.HotspotID][]byte,
) (rest []beacon.HotspotID) {
	if len(ids) == 0 {
		return nil
	}
	limit := 2 * len(ids)
	var hotspot string
	var data []byte
	read := 0
	rest = ids
	err := db.scan(ctx, sqlText.recordRange, []any{&hotspot, &data}, func() (stopped, failed error) {
		read++
		for len(rest) > 0 && string(rest[0]) < hotspot {
			rest = rest[1:]
		}
		if len(rest) > 0 && string(rest[0]) == hotspot {
			found[beacon.HotspotID(hotspot)] = data
		}
		return nil, nil
	}, day, string(ids[0]), string(ids[len(ids)-1]), int64(limit))
	if err == nil && read < limit {
		return nil // all were met
	}
	return rest
}

// daysPerQuery is how many days RecordsOf asks for at once: a month and its
// edges. Each is looked up by itself, because the table lies in days.
const daysPerQuery = 32

// RecordsOf answers the records of a hotspot from one day to another, both
// included, by day.
func (db *DB) RecordsOf(ctx context.Context, id beacon.HotspotID, from, to int64) ([]beacon.RecordRow, error) {
	var all []beacon.RecordRow
	for ; from <= to; from += daysPerQuery {
		args := make([]any, 1+daysPerQuery)
		args[0] = string(id)
		for i := range int64(daysPerQuery) {
			args[1+i] = min(from+i, to)
		}
		some, err := query(ctx, db, func(scan func(...any) error) (beacon.RecordRow, error) {
			r := beacon.RecordRow{Hotspot: id}
			return r, scan(&r.Day, &r.Data)
		}, sqlText.recordsOf, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
