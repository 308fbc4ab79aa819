package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// onceRow is the idempotency record that an operation writes. It is nil for a request
// without a key.
type onceRow struct {
	owner, key  string
	fingerprint []byte
	result      []byte
	expires     int64
	now         int64
	most        int // how many its owner may have; 0: any number

	earlier []byte // the result of the record that claim found
}

func newOnceRow(once *beacon.Idempotency, h beacon.Hotspot) (*onceRow, error) {
	if once == nil {
		return nil, nil //nolint:nilnil // see onceRow
	}
	result, err := encodeRegistration(h)
	return &onceRow{
		owner: string(once.Owner), key: once.Key, fingerprint: once.Fingerprint[:], result: result,
		expires: micros(once.ExpiresAt), now: micros(h.CreatedAt),
	}, errors.Join(err, storableText(string(once.Owner), once.Key))
}

// maxOnce is how many records a user may have whose quota matters. Registrations have a
// quota of their own.
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
	var r onceRow
	var first beacon.Idempotency
	err := db.queryRow(ctx, func(scan func(...any) error) error { return r.scan(scan, &first) }, sqlText.once, owner, key)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !first.ExpiresAt.After(now) {
		return nil, nil //nolint:nilnil // nothing is remembered
	}
	if err != nil {
		return nil, err
	}
	return &beacon.Once{Owner: owner, Key: key, Fingerprint: first.Fingerprint, ExpiresAt: first.ExpiresAt, Result: r.earlier}, nil
}

// doOnce does an operation of a request that may be repeated, and writes its record in
// the same transaction. It returns Conflict, and does nothing, if there is a record: the
// caller reads it with Once. An operation that fails, or has no result, leaves none.
func (db *DB) doOnce(ctx context.Context, op *operation, by beacon.Actor) error {
	once := by.Once
	if once == nil {
		return db.committer.do(ctx, op)
	}
	if err := storableText(once.Owner, once.Key); err != nil {
		return internal("write an idempotency record", err)
	}
	row := &onceRow{
		owner: once.Owner, key: once.Key, fingerprint: once.Fingerprint[:], result: []byte{},
		expires: micros(once.ExpiresAt), now: micros(once.At),
	}
	if by.Limited {
		row.most = maxOnce
	}
	run := op.run
	op.run = func(tx *transaction) (changes, error) {
		earlier, err := row.claim(tx)
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
			_, err = tx.exec(sqlText.keepOnce, row.owner, row.key, once.Result)
			return made, err
		}
		if failed := row.release(tx); failed != nil {
			return nil, failed
		}
		return made, err // unchanged
	}
	return db.committer.do(ctx, op)
}

// claim writes the record, or returns the live one that is already there.
func (r *onceRow) claim(tx *transaction) (earlier *beacon.Idempotency, err error) {
	if r == nil {
		return nil, nil //nolint:nilnil // claimed: there is no earlier one
	}
	n, err := tx.exec(sqlText.claimOnce, r.owner, r.key, r.fingerprint, r.result, r.expires, r.now, r.most)
	if err != nil || n > 0 {
		return nil, err
	}
	found, err := tx.row(func(scan func(...any) error) error {
		earlier = &beacon.Idempotency{Owner: beacon.UserID(r.owner), Key: r.key}
		return r.scan(scan, earlier)
	}, sqlText.once, r.owner, r.key)
	if err == nil && r.most > 0 && (!found || micros(earlier.ExpiresAt) <= r.now) {
		return nil, errTooMany
	}
	if err == nil && !found {
		// It was pruned between the two statements, so it had expired by the clock of
		// the node that pruned it. Nothing was written; the client may retry.
		return nil, unavailable(fmt.Errorf("idempotency record of %s vanished", r.owner))
	}
	return earlier, err
}

// release deletes the record again, for an operation that then wrote nothing.
func (r *onceRow) release(tx *transaction) error {
	if r == nil {
		return nil
	}
	_, err := tx.exec(sqlText.forgetOnce, r.owner, r.key)
	return err
}

func (r *onceRow) scan(scan func(...any) error, once *beacon.Idempotency) error {
	var fingerprint []byte
	var expires int64
	if err := scan(&fingerprint, &r.earlier, &expires); err != nil {
		return err
	}
	if copy(once.Fingerprint[:], fingerprint) != len(once.Fingerprint) {
		return fmt.Errorf("fingerprint of %d bytes", len(fingerprint))
	}
	once.ExpiresAt = fromMicros(expires)
	return nil
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
		op := &operation{order: order}
		op.run = func(tx *transaction) (_ changes, err error) {
			n, err = tx.exec(text, limit, pruneSize)
			return nil, err
		}
		if err := db.committer.do(ctx, op); err != nil {
			return total, err
		}
		total += int(n)
		if n < pruneSize {
			return total, nil
		}
	}
}
