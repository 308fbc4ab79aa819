package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// PutRecords writes records, at most one for each hotspot and day, replacing earlier
// ones. It writes all or none. It returns Conflict if the lease was lost. Other writes
// wait for it: send some hundreds at a time, ordered by id.
func (db *DB) PutRecords(ctx context.Context, l lease.Lease, rows []beacon.RecordRow) error {
	rows = ownRecords(rows)
	heads := newestOf(rows)
	return db.fenced(ctx, l, func(tx *transaction) error {
		return cmp.Or(
			putRows(tx, sqlText.putRecords[:], rows, func(values []any, r *beacon.RecordRow) []any {
				return append(values, int64(r.Day), string(r.Hotspot), r.Data)
			}),
			putRows(tx, sqlText.putHeads[:], heads, func(values []any, r *beacon.RecordRow) []any {
				return append(values, string(r.Hotspot), int64(r.Day))
			}),
		)
	})
}

// ForgetRecords deletes the records of days after one, of hotspots that have a record of
// that day. It returns Conflict if the lease was lost.
func (db *DB) ForgetRecords(ctx context.Context, l lease.Lease, after beacon.Day) error {
	newest, err := db.newestDay(ctx)
	if err != nil || newest <= int64(after) {
		return err
	}
	return db.fenced(ctx, l, func(tx *transaction) error {
		return cmp.Or(tx.write(sqlText.forgetRecords, int64(after)), tx.write(sqlText.forgetHeads, int64(after)))
	})
}

func (db *DB) newestDay(ctx context.Context) (day int64, err error) {
	_, err = db.queryRow(ctx, []any{&day}, sqlText.newestDay)
	return day, err
}

// ownRecords copies rows and sorts them as the table does. The copy is needed because
// the caller may leave before they are written.
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

// newestOf returns the newest row of each hotspot, ordered by id.
func newestOf(rows []beacon.RecordRow) []beacon.RecordRow {
	newest := slices.Clone(rows)
	slices.SortFunc(newest, func(a, b beacon.RecordRow) int {
		return cmp.Or(strings.Compare(string(a.Hotspot), string(b.Hotspot)), cmp.Compare(b.Day, a.Day))
	})
	return slices.CompactFunc(newest, func(a, b beacon.RecordRow) bool { return a.Hotspot == b.Hotspot })
}

// EachRecord calls fn with the newest record of every hotspot, once each, in no
// particular order. It calls fn from several goroutines at once. It stops at the first
// error of fn. It is not a snapshot.
func (db *DB) EachRecord(ctx context.Context, fn func(hotspot beacon.HotspotID, day beacon.Day, data []byte) error) error {
	newest, err := db.newestDay(ctx)
	if err != nil {
		return err
	}
	return db.eachPage(ctx, sqlText.recordPage, scanners, func(ctx context.Context, s span) error {
		return db.eachRecordIn(ctx, s, newest, fn)
	})
}

// eachRecordIn reads a page. Most hotspots have a record of the newest day, and those
// are contiguous: looking up each one would take twice as long. The others are read
// first, so that a record written meanwhile is not passed to fn twice.
func (db *DB) eachRecordIn(
	ctx context.Context, s span, newest int64, fn func(hotspot beacon.HotspotID, day beacon.Day, data []byte) error,
) error {
	var hotspot string
	var day int64
	var data []byte
	met := map[string]bool{}
	err := db.scan(ctx, sqlText.olderRecords, []any{&hotspot, &day, &data}, func() (stopped, failed error) {
		met[hotspot] = true
		return fn(beacon.HotspotID(hotspot), beacon.Day(day), data), nil
	}, s.after, s.end, newest)
	if err != nil {
		return err
	}
	return db.scan(ctx, sqlText.newestRecords, []any{&hotspot, &data}, func() (stopped, failed error) {
		if met[hotspot] {
			return nil, nil
		}
		return fn(beacon.HotspotID(hotspot), beacon.Day(newest), data), nil
	}, s.after, s.end, newest)
}

// Records returns the records of a day that exist. It is designed for some hundreds of
// ids, most of which have a record.
func (db *DB) Records(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID][]byte, error) {
	found := make(map[beacon.HotspotID][]byte, len(ids))
	var r beacon.RecordRow
	rest := db.scanAmong(ctx, sqlText.recordRange, []any{(*string)(&r.Hotspot), &r.Data}, &r.Hotspot, ids, func() error {
		found[r.Hotspot] = r.Data
		return nil
	}, int64(day))
	if err := db.recordsByID(ctx, day, rest, found); err != nil {
		return nil, err
	}
	return found, nil
}

// RecordPage returns up to limit records of a day of hotspots after one, by hotspot.
func (db *DB) RecordPage(ctx context.Context, day beacon.Day, after beacon.HotspotID, limit int) ([]beacon.RecordRow, error) {
	return listRetrying(ctx, db, sqlText.dayRecords, recordRow, int64(day), string(after), int64(limit))
}

// recordsByID looks up each record by its key.
func (db *DB) recordsByID(ctx context.Context, day beacon.Day, ids []beacon.HotspotID, found map[beacon.HotspotID][]byte) error {
	for some := range slices.Chunk(ids, idsPerQuery) {
		rows, err := listRetrying(ctx, db, sqlText.recordsByID, recordRow, listArgs(some, idsPerQuery, int64(day))...)
		if err != nil {
			return err
		}
		for _, r := range rows {
			found[r.Hotspot] = r.Data
		}
	}
	return nil
}

func recordRow(r *beacon.RecordRow) ([]any, func() error) {
	return []any{(*string)(&r.Hotspot), &r.Data}, done
}

// daysPerQuery is how many days RecordsOf requests at once: a month and its edges. Each
// is looked up by its key, because the table is ordered by day.
const daysPerQuery = 32

// RecordsOf returns the records of a hotspot between two days, both included, by day.
func (db *DB) RecordsOf(ctx context.Context, id beacon.HotspotID, from, to beacon.Day) ([]beacon.RecordRow, error) {
	var all []beacon.RecordRow
	for ; from <= to; from += daysPerQuery {
		args := make([]any, 1+daysPerQuery)
		args[0] = string(id)
		for i := range beacon.Day(daysPerQuery) {
			args[1+i] = int64(min(from+i, to))
		}
		some, err := query(ctx, db, func(r *beacon.RecordRow) ([]any, func() error) {
			r.Hotspot = id
			return []any{(*int64)(&r.Day), &r.Data}, done
		}, sqlText.recordsOf, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
