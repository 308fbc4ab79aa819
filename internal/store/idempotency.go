package store

import (
	"context"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// maxOnce is how many records a user may have if the actor is Limited. It does not limit
// registrations, which have a quota of their own.
const maxOnce = 1000

var (
	errRepeated = &beacon.Error{Kind: beacon.Conflict, Message: "this Idempotency-Key was used for an earlier request"}
	errTooMany  = &beacon.Error{
		Kind:       beacon.RateLimited,
		Message:    fmt.Sprintf("you have sent %d requests with an Idempotency-Key within a day, the most that are remembered: send it without, or later", maxOnce),
		RetryAfter: time.Hour,
	}
)

// Once returns what is remembered of a request with an Idempotency-Key, or nil if there
// is nothing or it has expired by now.
func (db *DB) Once(ctx context.Context, owner, key string, now time.Time) (*beacon.Once, error) {
	first, found, err := queryFirst(ctx, db, onceRow, sqlText.once, owner, key)
	if err != nil || !found || !first.ExpiresAt.After(now) {
		return nil, err
	}
	return &first, nil
}

// doOnce commits an operation. If its request has an Idempotency-Key (by.Once), it writes
// the record of the request in the same transaction. If there is a record already, it does
// nothing and returns Conflict: the caller reads that record with Once. An operation that
// fails, or sets no result, leaves no record.
func (db *DB) doOnce(ctx context.Context, op *operation, by beacon.Actor) error {
	once, most := by.Once, 0
	if once == nil {
		return db.committer.do(ctx, op)
	}
	if err := storableText(once.Owner, once.Key); err != nil {
		return internal("write an idempotency record", err)
	}
	if by.Limited {
		most = maxOnce
	}
	run := op.run
	op.run = func(tx *transaction) (changes, error) {
		earlier, err := claimOnce(tx, once, []byte{}, most)
		if err == nil && earlier != nil {
			err = errRepeated
		}
		if err != nil {
			return nil, err
		}
		made, err := run(tx)
		if tx.failed != nil {
			return nil, tx.failed
		}
		if err == nil && len(once.Result) > 0 {
			return made, tx.write(sqlText.keepOnce, once.Owner, once.Key, once.Result)
		}
		if failed := releaseOnce(tx, once); failed != nil {
			return nil, failed
		}
		return made, err // unchanged
	}
	return db.committer.do(ctx, op)
}

// claimOnce writes the record of a request, or returns the one that is already there and
// has not expired. Its owner may have up to most records; 0 is no limit. It does nothing
// for a nil once.
func claimOnce(tx *transaction, once *beacon.Once, result []byte, most int) (earlier *beacon.Once, err error) {
	if once == nil {
		return nil, nil //nolint:nilnil // claimed: there is no earlier one
	}
	n, err := tx.exec(sqlText.claimOnce, once.Owner, once.Key, once.Fingerprint[:], result, micros(once.ExpiresAt), micros(once.At), most)
	if err != nil || n > 0 {
		return nil, err
	}
	first, found, err := rowIn(tx, onceRow, sqlText.once, once.Owner, once.Key)
	switch {
	case err != nil:
		return nil, err
	case most > 0 && (!found || micros(first.ExpiresAt) <= micros(once.At)):
		return nil, errTooMany
	case !found:
		// It was pruned between the two statements, so it had expired by the clock of
		// the node that pruned it. Nothing was written; the client may retry.
		return nil, unavailable(fmt.Errorf("idempotency record of %s vanished", once.Owner))
	}
	return &first, nil
}

// releaseOnce deletes the record again, for an operation that then wrote nothing.
func releaseOnce(tx *transaction, once *beacon.Once) error {
	if once == nil {
		return nil
	}
	return tx.write(sqlText.forgetOnce, once.Owner, once.Key)
}

func onceRow(o *beacon.Once) ([]any, func() error) {
	var fingerprint []byte
	return []any{&o.Owner, &o.Key, &fingerprint, &o.Result, (*moment)(&o.ExpiresAt)}, func() error {
		if copy(o.Fingerprint[:], fingerprint) != len(o.Fingerprint) {
			return fmt.Errorf("fingerprint of %d bytes", len(fingerprint))
		}
		return nil
	}
}

// pruneSize keeps transactions short, because other writes wait for them.
const pruneSize = 500

// PruneIdempotency deletes the records that have expired by now, and returns their
// number.
func (db *DB) PruneIdempotency(ctx context.Context, now time.Time) (total int, err error) {
	return db.prune(ctx, "idempotency", sqlText.pruneOnce, micros(now))
}

// prune deletes all rows up to a limit, some at a time, and returns their number.
func (db *DB) prune(ctx context.Context, order, text string, limit int64) (total int, err error) {
	for {
		var n int64
		err := db.commit(ctx, order, func(tx *transaction) (_ changes, err error) {
			n, err = tx.exec(text, limit, pruneSize)
			return nil, err
		})
		if err != nil {
			return total, err
		}
		total += int(n)
		if n < pruneSize {
			return total, nil
		}
	}
}
