package store

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// KeeperLease is the name of the lease held by the one node that folds heartbeats,
// orders events, announces who is online, and closes and settles what was earned.
const KeeperLease = "keeper"

// TakeLease takes a lease until now+ttl if it is free, has expired, or already belongs
// to the holder, and reports whether it did. A renewal keeps the token; taking over
// another's lease raises it. To release a lease, renew it with a negative ttl. If another
// holds the lease, TakeLease returns that lease.
func (db *DB) TakeLease(
	ctx context.Context, name, holder string, now time.Time, ttl time.Duration,
) (l lease.Lease, taken bool, err error) {
	if err := storableText(name, holder); err != nil {
		return lease.Lease{}, false, internal("take lease", err)
	}
	var rows int64
	var found lease.Lease // not the results: the caller may leave before this is done
	err = db.commit(ctx, leaseOrder(name), func(tx *transaction) (_ changes, err error) {
		if rows, err = tx.exec(sqlText.takeLease, name, holder, micros(now.Add(ttl)), micros(now)); err != nil {
			return nil, err
		}
		found, _, err = rowIn(tx, leaseRow, sqlText.lease, name)
		return nil, err
	})
	if err != nil {
		return lease.Lease{}, false, err
	}
	return found, rows > 0, nil
}

func leaseRow(l *lease.Lease) ([]any, func() error) {
	return []any{&l.Name, &l.Holder, &l.Token, (*moment)(&l.Until)}, done
}

func leaseOrder(name string) string { return "lease " + name }

// fenced commits a write only while a lease is held. It updates the lease row, so that
// nobody can take the lease over before the write is committed. It returns Conflict if
// someone already has.
func (db *DB) fenced(ctx context.Context, l lease.Lease, write func(*transaction) error) error {
	return db.commit(ctx, leaseOrder(l.Name), func(tx *transaction) (changes, error) {
		n, err := tx.exec(sqlText.fence, l.Name, l.Holder, l.Token)
		if err == nil && n == 0 {
			err = leaseLost(l.Name)
		}
		if err != nil {
			return nil, err
		}
		return nil, write(tx)
	})
}

// ExtendSpan records that this node was up between two minutes since 1970, both
// included. The span that begins with from grows and never shrinks.
func (db *DB) ExtendSpan(ctx context.Context, from, to int64) error {
	return db.exec(ctx, "span "+db.node, nil, sqlText.extendSpan, db.node, from, to)
}

// ForgetSpans deletes the spans of all nodes that begin after a minute.
func (db *DB) ForgetSpans(ctx context.Context, after int64) error {
	return db.exec(ctx, "span "+db.node, nil, sqlText.forgetSpans, after)
}

// Spans returns the spans of all nodes that end at the minute since or later, ordered
// by start. They may overlap.
func (db *DB) Spans(ctx context.Context, since int64) ([]beacon.ServiceSpan, error) {
	return query(ctx, db, func(s *beacon.ServiceSpan) ([]any, func() error) { return []any{&s.From, &s.To}, done }, sqlText.spans, since)
}
