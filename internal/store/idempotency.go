package store

import (
	"context"
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

// claim writes the record, or returns the live one that is already there.
func (r *onceRow) claim(tx *transaction) (earlier *beacon.Idempotency, err error) {
	if r == nil {
		return nil, nil //nolint:nilnil // claimed: there is no earlier one
	}
	n, err := tx.exec(sqlText.claimOnce, r.owner, r.key, r.fingerprint, r.result, r.expires, r.now)
	if err != nil || n > 0 {
		return nil, err
	}
	found, err := tx.row(func(scan func(...any) error) error {
		earlier = &beacon.Idempotency{Owner: beacon.UserID(r.owner), Key: r.key}
		return r.scan(scan, earlier)
	}, sqlText.once, r.owner, r.key)
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
	for {
		var n int64
		op := &operation{order: "idempotency"}
		op.run = func(tx *transaction) (_ changes, err error) {
			n, err = tx.exec(sqlText.pruneOnce, micros(now), pruneSize)
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
