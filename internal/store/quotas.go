package store

import (
	"context"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const quotaSQL = `SELECT hotspots, keys, streams, statements FROM quotas WHERE user_id = $1`

// Quota returns what a user may have.
func (db UserTable) Quota(ctx context.Context, user beacon.UserID) (q beacon.Quota, err error) {
	found, err := readRow(ctx, db, []any{&q.Hotspots, &q.Keys, &q.Streams, &q.Statements}, quotaSQL, string(user))
	if err == nil && !found {
		return beacon.DefaultQuota(), nil
	}
	return q, err
}

const putQuotaSQL = `INSERT INTO quotas (user_id, hotspots, keys, streams, statements) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (user_id) DO UPDATE SET hotspots = excluded.hotspots, keys = excluded.keys,
			streams = excluded.streams, statements = excluded.statements`

// SetQuota sets what a user may have. What the user has already stays.
func (db UserTable) SetQuota(ctx context.Context, user beacon.UserID, q beacon.Quota, by beacon.Actor, now time.Time) error {
	by.Note = fmt.Sprintf("%d hotspots, %d keys, %d streams, %d statements", q.Hotspots, q.Keys, q.Streams, q.Statements)
	change := beacon.Change{Kind: beacon.QuotaSet, Target: string(user), Actor: by, At: now}
	return db.exec(ctx, "quota "+string(user), changes{&change}, putQuotaSQL, string(user), q.Hotspots, q.Keys, q.Streams, q.Statements)
}

const countUnverifiedSQL = `SELECT (SELECT count(*) FROM hotspots WHERE operator_id = $1 AND deleted_at = 0 AND verified_at = 0),
		(SELECT count(*) FROM hotspots WHERE operator_id = $1 AND deleted_at > $2 AND verified_at = 0),
		coalesce((SELECT hotspots FROM quotas WHERE user_id = $1), -1)`

// countUnverified counts the hotspots of an operator that nobody has verified: those that
// wait, and those that were deleted since a moment. One process counts exactly; two that
// write at the same time may together exceed a quota by what they have under way.
func countUnverified(tx *transaction, operator beacon.UserID, since time.Time) (waiting, discarded, quota int, err error) {
	_, err = tx.row([]any{&waiting, &discarded, &quota}, countUnverifiedSQL, string(operator), micros(since))
	if quota < 0 {
		quota = beacon.DefaultQuota().Hotspots
	}
	return waiting, discarded, quota, err
}

const countInForceSQL = `SELECT count(*), coalesce((SELECT keys FROM quotas WHERE user_id = $1), -1),
		(SELECT count(*) FROM erasures WHERE user_id = $1 AND begun <> 0)
		FROM api_keys WHERE user_id = $1 AND revoked_at = 0 AND (expires_at = 0 OR expires_at > $2)`

// countKeys counts the keys of a user that are in force, and reports whether the user is
// erased, or being so.
func countKeys(tx *transaction, user beacon.UserID, now time.Time) (has beacon.Holding, err error) {
	var erasures int
	_, err = tx.row([]any{&has.Keys, &has.Quota, &erasures}, countInForceSQL, string(user), micros(now))
	if has.Quota < 0 {
		has.Quota = beacon.DefaultQuota().Keys
	}
	has.Erased = erasures > 0
	return has, err
}
