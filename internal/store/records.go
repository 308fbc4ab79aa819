package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

const (
	putRecordsSQL = `INSERT INTO records (day, hotspot, data) VALUES (…) ON CONFLICT (day, hotspot) DO UPDATE SET data = excluded.data`
	putHeadsSQL   = `INSERT INTO record_heads (hotspot, day) VALUES (…) ON CONFLICT (hotspot) DO UPDATE SET day = excluded.day WHERE record_heads.day < excluded.day`
)

// PutRecords writes records, at most one for each hotspot and day, replacing earlier
// ones. It writes all or none. It returns Conflict if the lease was lost. Other writes
// wait for it: send some hundreds at a time, ordered by id.
func (db RecordTable) PutRecords(ctx context.Context, l lease.Lease, rows []beacon.RecordRow) error {
	rows = ownRecords(rows)
	heads := newestOf(rows)
	return db.fenced(ctx, l, func(tx *transaction) error {
		return cmp.Or(
			putRows(tx, putRecordsSQL, rows, func(r *beacon.RecordRow) []any { return append([]any{(*int64)(&r.Day)}, recordRow(r)...) }),
			putRows(tx, putHeadsSQL, heads, func(r *beacon.RecordRow) []any { return []any{(*string)(&r.Hotspot), (*int64)(&r.Day)} }),
		)
	})
}

const forgetRecordsSQL = `DELETE FROM records WHERE day > $1
		AND EXISTS (SELECT 1 FROM records AS of_the_day WHERE of_the_day.day = $1 AND of_the_day.hotspot = records.hotspot)`

const forgetHeadsSQL = `UPDATE record_heads SET day = $1 WHERE day > $1
		AND EXISTS (SELECT 1 FROM records WHERE records.day = $1 AND records.hotspot = record_heads.hotspot)`

// ForgetRecords deletes the records of days after one, of hotspots that have a record of
// that day. It returns Conflict if the lease was lost.
func (db RecordTable) ForgetRecords(ctx context.Context, l lease.Lease, after beacon.Day) error {
	newest, err := db.newestDay(ctx)
	if err != nil || newest <= int64(after) {
		return err
	}
	return db.fenced(ctx, l, func(tx *transaction) error {
		return cmp.Or(tx.write(forgetRecordsSQL, int64(after)), tx.write(forgetHeadsSQL, int64(after)))
	})
}

func (db *core) newestDay(ctx context.Context) (day int64, err error) {
	_, err = readRow(ctx, db, []any{&day}, `SELECT coalesce(max(day), 0) FROM records`)
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

const recordPageSQL = `SELECT hotspot FROM record_heads WHERE hotspot > $1 ORDER BY hotspot LIMIT 1 OFFSET $2`

// EachRecord calls fn with the newest record of every hotspot, once each, in no
// particular order. It calls fn from several goroutines at once. It stops at the first
// error of fn. It is not a snapshot.
func (db RecordTable) EachRecord(ctx context.Context, fn func(hotspot beacon.HotspotID, day beacon.Day, data []byte) error) error {
	newest, err := db.newestDay(ctx)
	if err != nil {
		return err
	}
	return db.eachPage(ctx, recordPageSQL, scanners, func(ctx context.Context, s span) error {
		return db.eachRecordIn(ctx, s, newest, fn)
	})
}

const olderRecordsSQL = `SELECT record_heads.hotspot, record_heads.day, data FROM record_heads JOIN records ON records.day = record_heads.day AND records.hotspot = record_heads.hotspot
			WHERE record_heads.hotspot > $1 AND record_heads.hotspot <= $2 AND record_heads.day <> $3`
const newestRecordsSQL = `SELECT hotspot, data FROM records WHERE day = $3 AND hotspot > $1 AND hotspot <= $2`

// eachRecordIn reads a page. Most hotspots have a record of the newest day, and those
// are contiguous: looking up each one would take twice as long. The others are read
// first, so that a record written meanwhile is not passed to fn twice.
func (db *core) eachRecordIn(
	ctx context.Context, s span, newest int64, fn func(hotspot beacon.HotspotID, day beacon.Day, data []byte) error,
) error {
	var hotspot string
	var day int64
	var data []byte
	met := map[string]bool{}
	err := db.scan(ctx, olderRecordsSQL, []any{&hotspot, &day, &data}, func() (stopped, failed error) {
		met[hotspot] = true
		return fn(beacon.HotspotID(hotspot), beacon.Day(day), data), nil
	}, s.after, s.end, newest)
	if err != nil {
		return err
	}
	return db.scan(ctx, newestRecordsSQL, []any{&hotspot, &data}, func() (stopped, failed error) {
		if met[hotspot] {
			return nil, nil
		}
		return fn(beacon.HotspotID(hotspot), beacon.Day(newest), data), nil
	}, s.after, s.end, newest)
}

const recordRangeSQL = `SELECT hotspot, data FROM records WHERE day = $1 AND hotspot >= $2 AND hotspot <= $3 ORDER BY hotspot LIMIT $4`

// Records returns the records of a day that exist. It is designed for some hundreds of
// ids, most of which have a record.
func (db RecordTable) Records(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID][]byte, error) {
	found := make(map[beacon.HotspotID][]byte, len(ids))
	rest := scanAmong(ctx, db.core, recordRow, func(r *beacon.RecordRow) beacon.HotspotID { return r.Hotspot }, ids,
		func(r *beacon.RecordRow) { found[r.Hotspot] = r.Data }, recordRangeSQL, int64(day))
	if err := recordsByID(ctx, db, day, rest, found); err != nil {
		return nil, err
	}
	return found, nil
}

const dayRecordsSQL = `SELECT hotspot, data FROM records WHERE day = $1 AND hotspot > $2 ORDER BY hotspot LIMIT $3`

// RecordPage returns up to limit records of a day of hotspots after one, by hotspot.
func (db RecordTable) RecordPage(ctx context.Context, day beacon.Day, after beacon.HotspotID, limit int) ([]beacon.RecordRow, error) {
	return list(ctx, db, recordRow, dayRecordsSQL, int64(day), string(after), int64(limit))
}

// recordsByID looks up each record by its key.
func recordsByID(ctx context.Context, from source, day beacon.Day, ids []beacon.HotspotID, found map[beacon.HotspotID][]byte) error {
	rows, err := listByID(ctx, from, recordRow, `SELECT hotspot, data FROM records WHERE day = $1 AND hotspot IN (…)`, ids, int64(day))
	for _, r := range rows {
		found[r.Hotspot] = r.Data
	}
	return err
}

func recordRow(r *beacon.RecordRow) []any {
	return []any{(*string)(&r.Hotspot), &r.Data}
}

// daysPerQuery is how many days RecordsOf requests at once: a month and its edges. Each
// is looked up by its key, because the table is ordered by day.
const daysPerQuery = 32

const recordsOfSQL = `SELECT day, data FROM records WHERE hotspot = $1 AND day IN (…)
		ORDER BY day`

// RecordsOf returns the records of a hotspot between two days, both included, by day.
func (db RecordTable) RecordsOf(ctx context.Context, id beacon.HotspotID, from, to beacon.Day) ([]beacon.RecordRow, error) {
	var all []beacon.RecordRow
	for ; from <= to; from += daysPerQuery {
		args := make([]any, 1+daysPerQuery)
		args[0] = string(id)
		for i := range beacon.Day(daysPerQuery) {
			args[1+i] = int64(min(from+i, to))
		}
		some, err := list(ctx, db, func(r *beacon.RecordRow) []any {
			r.Hotspot = id
			return []any{(*int64)(&r.Day), &r.Data}
		}, recordsOfSQL, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
