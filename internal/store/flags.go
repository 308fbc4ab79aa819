package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

const flagColumns = `hotspot, kind, user_id, weight, facts, first_day, last_day`

// reviewText holds the statements about flags.
var reviewText = struct {
	put             [recordChunks]string
	revive, forget  string
	finish          string
	reviewed, queue bulk
	count, operator string
	dismiss, again  string
}{
	put: [recordChunks]string(chunks(recordChunks, 8, `INSERT INTO flags (`+flagColumns+`, dismissed) VALUES `,
		` ON CONFLICT (hotspot, kind) DO UPDATE SET user_id = excluded.user_id, weight = excluded.weight, facts = excluded.facts,
			last_day = excluded.last_day`)),
	revive:   `UPDATE flags SET dismissed = 0, first_day = last_day WHERE dismissed > 0 AND dismissed < $1 AND last_day = $2`,
	forget:   `DELETE FROM flags WHERE last_day < $1 AND dismissed < $2`,
	finish:   `INSERT INTO reviewed (id, day) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET day = excluded.day`,
	reviewed: bulk{`day`, `FROM reviewed WHERE id = 1`},
	queue:    bulk{flagColumns, `FROM flags WHERE dismissed = 0 ORDER BY weight DESC, hotspot, kind LIMIT $1`},
	count:    `SELECT count(*) FROM flags WHERE dismissed = 0`,
	operator: `SELECT user_id FROM flags WHERE hotspot = $1 AND kind = $2 AND dismissed = 0`,
	dismiss:  `UPDATE flags SET dismissed = $3 WHERE hotspot = $1 AND kind = $2 AND dismissed = 0`,
	again: `SELECT max(id), count(*) FROM hotspots WHERE created_at >= $1 AND (verified_at > 0 OR visits <> '')
		GROUP BY lower(replace(replace(replace(mac, ':', ''), '-', ''), '.', '')) HAVING count(*) >= $2 ORDER BY 2 DESC, 1 LIMIT $3`,
}

// PutFlags adds flags to the queue. One that is there already keeps its first day, and
// one that was dismissed stays so. It returns Conflict if the lease was lost, like FinishReview.
func (db *DB) PutFlags(ctx context.Context, l lease.Lease, flags []beacon.Flag) error {
	type flagText struct {
		beacon.Flag
		facts string
	}
	rows := make([]flagText, len(flags))
	for i, flag := range flags {
		text, err := json.Marshal(flag.Facts)
		if err != nil {
			return internal("encode a flag", err)
		}
		rows[i] = flagText{flag, string(text)}
	}
	return db.fenced(ctx, l, func(tx *transaction) error {
		return putRows(tx, reviewText.put[:], rows, func(values []any, row *flagText) []any {
			return append(values, string(row.Hotspot), string(row.Kind), string(row.Operator), int64(row.Weight), row.facts,
				int64(row.First), int64(row.Last), int64(0))
		})
	})
}

// FinishReview records that a day was reviewed. Flags that were dismissed
// beacon.FlagsRest days ago or more and were raised again on that day return to the queue.
// Those that were last raised more than beacon.FlagsKept days ago are deleted, unless they
// rest.
func (db *DB) FinishReview(ctx context.Context, l lease.Lease, day beacon.Day, now time.Time) error {
	return db.fenced(ctx, l, func(tx *transaction) error {
		rested := micros(now.AddDate(0, 0, -beacon.FlagsRest))
		return cmp.Or(
			tx.write(reviewText.revive, rested, int64(day)),
			tx.write(reviewText.forget, int64(day-beacon.FlagsKept), rested),
			tx.write(reviewText.finish, int64(day)),
		)
	})
}

// Reviewed returns the last day that was reviewed; false if none was.
func (db *DB) Reviewed(ctx context.Context) (beacon.Day, bool, error) {
	return firstRetrying(ctx, db, reviewText.reviewed, numberRow[beacon.Day])
}

// Flags returns the first flags of the queue, and how many there are.
func (db *DB) Flags(ctx context.Context, limit int) (queue []beacon.Flag, total int, err error) {
	if _, err = db.queryRow(ctx, []any{&total}, reviewText.count); err != nil {
		return nil, 0, err
	}
	queue, err = listRetrying(ctx, db, reviewText.queue, flagRow, int64(limit))
	return queue, total, err
}

func flagRow(f *beacon.Flag) ([]any, func() error) {
	var facts string
	targets := []any{(*string)(&f.Hotspot), (*string)(&f.Kind), (*string)(&f.Operator), &f.Weight, &facts, (*int64)(&f.First), (*int64)(&f.Last)}
	return targets, func() error {
		f.Facts = nil
		return json.Unmarshal([]byte(facts), &f.Facts)
	}
}

// DismissFlag takes a flag out of the queue. It returns NotFound for one that is not
// there, and Forbidden to the operator of its hotspot.
func (db *DB) DismissFlag(ctx context.Context, hotspot beacon.HotspotID, kind beacon.FlagKind, reason string, by beacon.Actor, now time.Time) error {
	by.Note = fmt.Sprintf("%s: %s", kind, reason)
	change := beacon.Change{Kind: beacon.FlagDismissed, Target: string(hotspot), Actor: by, At: now}
	return db.commit(ctx, "flag "+string(hotspot), func(tx *transaction) (changes, error) {
		var operator string
		found, err := tx.row([]any{&operator}, reviewText.operator, string(hotspot), string(kind))
		switch {
		case err != nil:
			return nil, err
		case !found:
			return nil, notFound("flag") // and nothing for the audit
		case operator == string(by.User):
			return nil, errOwnFlag
		}
		return changes{&change}, tx.write(reviewText.dismiss, string(hotspot), string(kind), micros(now))
	})
}

var errOwnFlag = &beacon.Error{Kind: beacon.Forbidden, Message: "this flag is about a hotspot of yours: someone else must decide about it"}

// MACsAgain returns MAC addresses that were registered, and visited, at least so many times
// since a moment, the most frequent first: the last hotspot of each, and how often. What
// nobody visited earns nothing, and anyone can register any number.
func (db *DB) MACsAgain(ctx context.Context, since time.Time, least, limit int) (map[beacon.HotspotID]int, error) {
	return queryMap[beacon.HotspotID, int](ctx, db, reviewText.again, micros(since), int64(least), int64(limit))
}
