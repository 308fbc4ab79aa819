package store

import (
	"context"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Quota returns what a user may have.
func (db *DB) Quota(ctx context.Context, user beacon.UserID) (q beacon.Quota, err error) {
	found, err := db.queryRow(ctx, []any{&q.Hotspots, &q.Keys, &q.Streams, &q.Statements}, sqlText.quota, string(user))
	if err == nil && !found {
		return beacon.DefaultQuota(), nil
	}
	return q, err
}

// SetQuota sets what a user may have. What the user has already stays.
func (db *DB) SetQuota(ctx context.Context, user beacon.UserID, q beacon.Quota, by beacon.Actor, now time.Time) error {
	by.Note = fmt.Sprintf("%d hotspots, %d keys, %d streams, %d statements", q.Hotspots, q.Keys, q.Streams, q.Statements)
	change := beacon.Change{Kind: beacon.QuotaSet, Target: string(user), Actor: by, At: now}
	return db.exec(ctx, "quota "+string(user), changes{&change}, sqlText.putQuota, string(user), q.Hotspots, q.Keys, q.Streams, q.Statements)
}

// checkQuota refuses a write if the user has as much as the quota allows and the actor is
// Limited. Text is a query for what the user has, and for the user's own quota or -1. One
// process counts exactly; two that write at the same time may together exceed the quota by
// what they have under way.
func checkQuota(tx *transaction, by beacon.Actor, most int, refusal, text string, args ...any) error {
	if !by.Limited {
		return nil
	}
	var has, own int
	if _, err := tx.row([]any{&has, &own}, text, args...); err != nil {
		return err
	}
	if own >= 0 {
		most = own
	}
	if has < most {
		return nil
	}
	return &beacon.Error{Kind: beacon.Forbidden, Message: fmt.Sprintf(refusal, has)}
}

// discards is how many hotspots that nobody has verified a user may delete in a day and
// still register others, in quotas of such hotspots. Rows of deleted hotspots are kept, and
// what reads all of a user's hotspots takes longer with each.
const discards = 3

// mayRegister refuses a registration if too many hotspots of its operator wait to be
// verified, or were deleted in the last day before they were.
func mayRegister(tx *transaction, by beacon.Actor, operator string, now time.Time) error {
	most := beacon.DefaultQuota().Hotspots
	if err := checkQuota(tx, by, most, tooManyWaiting, sqlText.countWaiting, operator); err != nil {
		return err
	}
	return checkQuota(tx, by, discards*most, tooManyDiscarded, sqlText.countDiscarded, operator, micros(now.Add(-24*time.Hour)), discards)
}

const (
	tooManyWaiting   = "you have %d hotspots that wait to be verified, the most allowed: wait until staff have verified some, delete some, or ask staff for a higher quota"
	tooManyDiscarded = "you deleted %d hotspots in the last 24 hours that were not verified, the most allowed: register others tomorrow, or ask staff for a higher quota"
	tooManyKeys      = "you have %d keys, the most allowed: revoke some, or ask staff for a higher quota"
)
