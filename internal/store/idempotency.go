package store

import (
	"context"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const onceSQL = `SELECT owner, request_key, fingerprint, result, expires_at FROM idempotency WHERE owner = $1 AND request_key = $2`

// Once returns what is remembered of a request with an Idempotency-Key, or nil if there
// is nothing or it has expired by now.
func (db RequestTable) Once(ctx context.Context, owner, key string, now time.Time) (*beacon.Once, error) {
	first, found, err := first(ctx, db, onceRow, onceSQL, owner, key)
	if err != nil || !found || !first.ExpiresAt.After(now) {
		return nil, err
	}
	return &first, nil
}

const keepOnceSQL = `UPDATE idempotency SET result = $3 WHERE owner = $1 AND request_key = $2`

// doOnce commits an operation, and counts what it changes if the actor is counted. If its request has an Idempotency-Key (by.Once), it writes
// the record of the request in the same transaction. If there is a record already, it does
// nothing and returns ErrRepeated: the caller reads that record with Once. If the result is
// not known before, the operation sets it. One that fails, or sets no result, leaves no
// record.
func (db *core) doOnce(ctx context.Context, op *operation, by beacon.Actor) error {
	op.run = counted(by, op.run)
	once := by.Once
	if once == nil {
		return db.committer.do(ctx, op)
	}
	if err := storableText(once.Owner, once.Key); err != nil {
		return internal("write an idempotency record", err)
	}
	run, known := op.run, once.Result
	op.run = func(tx *transaction) (changes, error) {
		once.Result = known // not that of an earlier attempt at this transaction
		if err := claimOnce(tx, once); err != nil {
			return nil, err
		}
		made, err := run(tx)
		if tx.failed != nil {
			return nil, tx.failed
		}
		if err == nil && len(once.Result) > 0 {
			if len(known) == 0 {
				err = tx.write(keepOnceSQL, once.Owner, once.Key, once.Result)
			}
			return made, err
		}
		if failed := tx.write(`DELETE FROM idempotency WHERE owner = $1 AND request_key = $2`, once.Owner, once.Key); failed != nil {
			return nil, failed
		}
		return made, err // unchanged
	}
	return db.committer.do(ctx, op)
}

// An expired record counts as none, and is overwritten. Without a limit ($7 is 0),
// nothing is counted.
const claimOnceSQL = `INSERT INTO idempotency (owner, request_key, fingerprint, result, expires_at)
		SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) = 0 OR count(*) < $7
			FROM (SELECT owner FROM idempotency WHERE owner = $1 LIMIT $7) AS held)
		ON CONFLICT (owner, request_key) DO UPDATE SET fingerprint = excluded.fingerprint,
			result = excluded.result, expires_at = excluded.expires_at
		WHERE idempotency.expires_at <= $6`

// claimOnce writes the record of a request. It returns ErrRepeated if there is one that
// has not expired, and ErrTooManyOnce if its owner has once.Most records.
func claimOnce(tx *transaction, once *beacon.Once) error {
	result := append([]byte{}, once.Result...) // never NULL
	n, err := tx.exec(claimOnceSQL, once.Owner, once.Key, once.Fingerprint[:], result, micros(once.ExpiresAt), micros(once.At), once.Most)
	if err != nil || n > 0 {
		return err
	}
	first, found, err := first(tx.ctx, tx, onceRow, onceSQL, once.Owner, once.Key)
	switch {
	case err != nil:
		return err
	case once.Most > 0 && (!found || micros(first.ExpiresAt) <= micros(once.At)):
		return beacon.ErrTooManyOnce
	case !found:
		// It was pruned between the two statements, so it had expired by the clock of
		// the node that pruned it. Nothing was written; the client may retry.
		return beacon.Unavailable(fmt.Errorf("idempotency record of %s vanished", once.Owner))
	}
	return beacon.ErrRepeated
}

func onceRow(o *beacon.Once) []any {
	return []any{&o.Owner, &o.Key, hash(&o.Fingerprint), &o.Result, moment(&o.ExpiresAt)}
}

// pruneSize keeps transactions short, because other writes wait for them.
const pruneSize = 500

const pruneOnceSQL = `DELETE FROM idempotency WHERE (owner, request_key) IN
		(SELECT owner, request_key FROM idempotency WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`

// PruneIdempotency deletes the records that have expired by now, and returns their
// number.
func (db RequestTable) PruneIdempotency(ctx context.Context, now time.Time) (total int, err error) {
	return db.prune(ctx, "idempotency", pruneOnceSQL, micros(now))
}

// prune deletes all rows up to a limit, some at a time, and returns their number.
func (db *core) prune(ctx context.Context, order, text string, limit int64) (total int, err error) {
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
