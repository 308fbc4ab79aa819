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

const flagColumns = `hotspot, kind, user_id, weight, facts, first_day, last_day, stake, members`

const putFlagsSQL = `INSERT INTO flags (` + flagColumns + `, dismissed) VALUES (…) ON CONFLICT (hotspot, kind) DO UPDATE SET user_id = excluded.user_id, weight = excluded.weight, facts = excluded.facts,
			last_day = excluded.last_day, stake = excluded.stake, members = excluded.members`

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

// A line has the flag of its account and kind that was seen last. If one account is asked
// for, each flag is a line.
const (
	flagCountSQL = `SELECT count(*), count(DISTINCT user_id || ' ' || kind) FROM flags WHERE dismissed = 0 AND ($1 = '' OR user_id = $1) AND ($2 = '' OR kind = $2)`
	flagLinesSQL = `SELECT ` + flagColumns + `, alike, rank FROM
			(SELECT ` + flagColumns + `, count(*) OVER (PARTITION BY user_id, kind) AS alike,
				max(weight * (stake + 1)) OVER (PARTITION BY user_id) AS rank,
				row_number() OVER (PARTITION BY user_id, kind ORDER BY last_day DESC, hotspot) AS number
			FROM flags WHERE dismissed = 0 AND ($1 = '' OR user_id = $1) AND ($2 = '' OR kind = $2)) AS queue
		WHERE (number = 1 OR $1 <> '') AND (rank < $3 OR rank = $3 AND (user_id > $4 OR user_id = $4 AND
			(weight < $5 OR weight = $5 AND (kind > $6 OR kind = $6 AND $1 <> '' AND hotspot > $7))))
		ORDER BY rank DESC, user_id, weight DESC, kind, hotspot LIMIT $8 OFFSET $9`
)

// CountFlags returns how many lines the queue has, and how many flags.
func (db FlagTable) CountFlags(ctx context.Context, of beacon.FlagFilter) (lines, flags int, err error) {
	_, err = readRow(ctx, db, []any{&flags, &lines}, flagCountSQL, string(of.Operator), string(of.Kind))
	if of.Operator != "" {
		lines = flags
	}
	return lines, flags, err
}

// Flags returns up to limit lines of the queue after one, apart from the next offset lines,
// and how many lines and flags there are. If the flags of one account are asked for, each is
// a line.
func (db FlagTable) Flags(ctx context.Context, of beacon.FlagFilter, after beacon.FlagPlace, offset, limit int) (page []beacon.FlagLine, lines, flags int, err error) {
	if lines, flags, err = db.CountFlags(ctx, of); err != nil {
		return nil, 0, 0, err
	}
	page, err = list(ctx, db, func(l *beacon.FlagLine) []any { return append(flagRow(&l.Flag), &l.Count, &l.Rank) }, flagLinesSQL,
		string(of.Operator), string(of.Kind), after.Rank, string(after.Operator), int64(after.Weight), string(after.Kind), string(after.Hotspot), int64(limit), int64(offset))
	if of.Operator != "" {
		for i := range page {
			page[i].Count = 1
		}
	}
	return page, lines, flags, err
}

func flagRow(f *beacon.Flag) []any {
	facts := as(&f.Facts, func(facts map[string]int64) (string, error) {
		text, err := json.Marshal(facts)
		return string(text), err
	}, func(text string) (facts map[string]int64, err error) {
		return facts, json.Unmarshal([]byte(text), &facts)
	})
	group := as(&f.Group, encodeGroup, decodeGroup)
	return []any{
		(*string)(&f.Hotspot), (*string)(&f.Kind), (*string)(&f.Operator), &f.Weight, facts, (*int64)(&f.First), (*int64)(&f.Last),
		(*int64)(&f.Stake), group,
	}
}

const (
	dismissedSQL    = `SELECT ` + flagColumns + ` FROM flags WHERE (hotspot = $1 OR user_id = $1) AND kind = $2 AND dismissed = 0`
	dismissFlagsSQL = `UPDATE flags SET dismissed = $3 WHERE (hotspot = $1 OR user_id = $1) AND kind = $2 AND dismissed = 0`
)

// DismissFlags takes the flags of a kind out of the queue that a hotspot has, or an account,
// if may allows it for each operator that they are about. It returns NotFound if there are none. An
// error of may is returned unchanged.
func (db FlagTable) DismissFlags(
	ctx context.Context, of string, kind beacon.FlagKind, reason string, by beacon.Actor, now time.Time, may func(beacon.UserID) error,
) error {
	by.Note = fmt.Sprintf("%s: %s", kind, reason)
	change := beacon.Change{Kind: beacon.FlagDismissed, Target: of, Actor: by, At: now}
	return db.commit(ctx, "flag "+of, func(tx *transaction) (changes, error) {
		flags, err := list(tx.ctx, tx, flagRow, dismissedSQL, of, string(kind))
		if err == nil && len(flags) == 0 {
			err = absent("there is no such flag") // and nothing for the audit
		}
		if err != nil {
			return nil, err
		}
		for i := range flags {
			for _, operator := range flags[i].About() {
				if err := may(operator); err != nil {
					return nil, err
				}
			}
			since, err := ownersSince(tx, flags[i].Hotspot, now)
			if err != nil {
				return nil, err
			}
			for _, operator := range since {
				if err := may(operator); err != nil {
					return nil, err
				}
			}
		}
		return changes{&change}, tx.write(dismissFlagsSQL, of, string(kind), micros(now))
	})
}

// ownersSince returns to whom the hotspot of a flag belongs: they may have taken it over since it
// was raised. Those who gave it away not long ago are among them.
func ownersSince(tx *transaction, hotspot beacon.HotspotID, now time.Time) ([]beacon.UserID, error) {
	whose, found, err := first(tx.ctx, tx, ownersRow, `SELECT operator_id, former FROM hotspots WHERE id = $1`, string(hotspot))
	if err != nil || !found {
		return nil, err
	}
	return whose.From(beacon.DayOf(now.Add(-beacon.HoldAtMost))), nil
}

const (
	wasVisited     = `created_at >= $1 AND (verified_at > 0 OR visits <> '')`
	deletedMACsSQL = `SELECT id, mac FROM hotspots WHERE ` + wasVisited + ` AND deleted_at > 0`
	liveMACSQL     = `SELECT id FROM hotspots WHERE ` + wasVisited + ` AND mac_live = $2`
)

// MACsAgain returns MAC addresses that were registered, and visited, at least that often
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
