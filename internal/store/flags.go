package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

const flagColumns = `hotspot, kind, user_id, weight, facts, first_day, last_day`

const putFlagsSQL = `INSERT INTO flags (` + flagColumns + `, dismissed) VALUES (…) ON CONFLICT (hotspot, kind) DO UPDATE SET user_id = excluded.user_id, weight = excluded.weight, facts = excluded.facts,
			last_day = excluded.last_day`

// PutFlags adds flags to the queue. One that is there already keeps its first day, and
// one that was dismissed stays so. It returns Conflict if the lease was lost, like FinishReview.
func (db FlagTable) PutFlags(ctx context.Context, l lease.Lease, flags []beacon.Flag) error {
	flags = slices.Clone(flags) // the caller may leave before they are written
	return db.fenced(ctx, l, func(tx *transaction) error {
		return putRows(tx, putFlagsSQL, flags, func(f *beacon.Flag) []any { return append(flagRow(f), new(int64)) })
	})
}

const (
	reviveFlagsSQL  = `UPDATE flags SET dismissed = 0, first_day = last_day WHERE dismissed > 0 AND dismissed < $1 AND last_day = $2`
	finishReviewSQL = `INSERT INTO reviewed (id, day) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET day = excluded.day`
)

// FinishReview records that a day was reviewed. Flags that were dismissed before a moment
// and were raised again on that day return to the queue. Those that were last raised before
// the day kept are deleted, unless they were dismissed since that moment.
func (db FlagTable) FinishReview(ctx context.Context, l lease.Lease, day, kept beacon.Day, dismissed time.Time) error {
	return db.fenced(ctx, l, func(tx *transaction) error {
		return cmp.Or(
			tx.write(reviveFlagsSQL, micros(dismissed), int64(day)),
			tx.write(`DELETE FROM flags WHERE last_day < $1 AND dismissed < $2`, int64(kept), micros(dismissed)),
			tx.write(finishReviewSQL, int64(day)),
		)
	})
}

// Reviewed returns the last day that was reviewed; false if none was.
func (db FlagTable) Reviewed(ctx context.Context) (beacon.Day, bool, error) {
	return first(ctx, db, number[beacon.Day], `SELECT day FROM reviewed WHERE id = 1`)
}

const flagsSQL = `SELECT ` + flagColumns + ` FROM flags WHERE dismissed = 0 ORDER BY weight DESC, hotspot, kind LIMIT $1`

// Flags returns the first flags of the queue, and how many there are.
func (db FlagTable) Flags(ctx context.Context, limit int) (queue []beacon.Flag, total int, err error) {
	if _, err = readRow(ctx, db, []any{&total}, `SELECT count(*) FROM flags WHERE dismissed = 0`); err != nil {
		return nil, 0, err
	}
	queue, err = list(ctx, db, flagRow, flagsSQL, int64(limit))
	return queue, total, err
}

func flagRow(f *beacon.Flag) []any {
	facts := as(&f.Facts, func(facts map[string]int64) (string, error) {
		text, err := json.Marshal(facts)
		return string(text), err
	}, func(text string) (facts map[string]int64, err error) {
		return facts, json.Unmarshal([]byte(text), &facts)
	})
	return []any{(*string)(&f.Hotspot), (*string)(&f.Kind), (*string)(&f.Operator), &f.Weight, facts, (*int64)(&f.First), (*int64)(&f.Last)}
}

const (
	flaggedOperatorSQL = `SELECT user_id FROM flags WHERE hotspot = $1 AND kind = $2 AND dismissed = 0`
	dismissFlagSQL     = `UPDATE flags SET dismissed = $3 WHERE hotspot = $1 AND kind = $2 AND dismissed = 0`
)

// DismissFlag takes a flag out of the queue, if may allows it for the operator of its
// hotspot. It returns NotFound for one that is not there. An error of may is returned
// unchanged.
func (db FlagTable) DismissFlag(
	ctx context.Context, hotspot beacon.HotspotID, kind beacon.FlagKind, reason string, by beacon.Actor, now time.Time,
	may func(operator beacon.UserID) error,
) error {
	by.Note = fmt.Sprintf("%s: %s", kind, reason)
	change := beacon.Change{Kind: beacon.FlagDismissed, Target: string(hotspot), Actor: by, At: now}
	return db.commit(ctx, "flag "+string(hotspot), func(tx *transaction) (changes, error) {
		var operator string
		found, err := tx.row([]any{&operator}, flaggedOperatorSQL, string(hotspot), string(kind))
		if err == nil && !found {
			err = beacon.NoSuch("flag") // and nothing for the audit
		}
		if err != nil {
			return nil, err
		}
		if err := may(beacon.UserID(operator)); err != nil {
			return nil, err
		}
		return changes{&change}, tx.write(dismissFlagSQL, string(hotspot), string(kind), micros(now))
	})
}

const (
	wasVisited     = `created_at >= $1 AND (verified_at > 0 OR visits <> '')`
	deletedMACsSQL = `SELECT id, mac FROM hotspots WHERE ` + wasVisited + ` AND deleted_at > 0`
	liveMACSQL     = `SELECT id FROM hotspots WHERE ` + wasVisited + ` AND mac_live = $2`
)

// MACsAgain returns MAC addresses that were registered, and visited, at least so many times
// since a moment: the last hotspot of each, and how often. What nobody visited earns
// nothing, and anyone can register any number. An address can be registered again only once
// its hotspot is deleted, so it reads those: there are few.
func (db HotspotTable) MACsAgain(ctx context.Context, since time.Time, least int) (map[beacon.HotspotID]int, error) {
	deleted, err := readMap[string, string](ctx, db, func(id string) string { return id }, deletedMACsSQL, micros(since))
	if err != nil {
		return nil, err
	}
	registered := map[string][]string{}
	for id, mac := range deleted {
		mac = beacon.MAC(mac).Canonical()
		registered[mac] = append(registered[mac], id)
	}
	again := map[beacon.HotspotID]int{}
	for mac, ids := range registered {
		if len(ids) < least-1 {
			continue
		}
		live, err := list(ctx, db, label[string], liveMACSQL, micros(since), mac)
		if err != nil {
			return nil, err
		}
		if ids = append(ids, live...); len(ids) >= least {
			again[beacon.HotspotID(slices.Max(ids))] = len(ids)
		}
	}
	return again, nil
}
