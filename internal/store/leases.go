package store

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// HolderLease is the name of the lease held by the one node that folds heartbeats,
// orders events, announces who is online, and closes and settles what was earned.
const HolderLease = "keeper"

// A holder that renews keeps its token.
const takeLeaseSQL = `INSERT INTO leases (name, holder, token, expires_at) VALUES ($1, $2, 1, $3)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
			token = leases.token + CASE WHEN leases.holder = excluded.holder THEN 0 ELSE 1 END
		WHERE leases.holder = excluded.holder OR leases.expires_at <= $4`

// TakeLease takes a lease until now+ttl if it is free, has expired, or already belongs
// to the holder, and reports whether it did. A renewal keeps the token; taking over
// another's lease raises it. To release a lease, renew it with a negative ttl. If another
// holds the lease, TakeLease returns that lease.
func (db LeaseTable) TakeLease(
	ctx context.Context, name, holder string, now time.Time, ttl time.Duration,
) (l lease.Lease, taken bool, err error) {
	if err := storableText(name, holder); err != nil {
		return lease.Lease{}, false, internal("take lease", err)
	}
	var rows int64
	var found lease.Lease // not the results: the caller may leave before this is done
	err = db.commit(ctx, leaseOrder(name), func(tx *transaction) (_ changes, err error) {
		if rows, err = tx.exec(takeLeaseSQL, name, holder, micros(now.Add(ttl)), micros(now)); err != nil {
			return nil, err
		}
		found, _, err = first(tx.ctx, tx, leaseRow, `SELECT name, holder, token, expires_at FROM leases WHERE name = $1`, name)
		return nil, err
	})
	if err != nil {
		return lease.Lease{}, false, err
	}
	return found, rows > 0, nil
}

func leaseRow(l *lease.Lease) []any {
	return []any{&l.Name, &l.Holder, &l.Token, moment(&l.Until)}
}

func leaseOrder(name string) string { return "lease " + name }

const fenceSQL = `UPDATE leases SET token = token WHERE name = $1 AND holder = $2 AND token = $3`

// fenced commits a write only while a lease is held. It updates the lease row, so that
// nobody can take the lease over before the write is committed. It returns Conflict if
// someone already has.
func (db *core) fenced(ctx context.Context, l lease.Lease, write func(*transaction) error) error {
	return db.commit(ctx, leaseOrder(l.Name), func(tx *transaction) (changes, error) {
		n, err := tx.exec(fenceSQL, l.Name, l.Holder, l.Token)
		if err == nil && n == 0 {
			err = leaseLost(l.Name)
		}
		if err != nil {
			return nil, err
		}
		return nil, write(tx)
	})
}

// Node returns the name of the node whose clock and spans are written.
func (db ClockTable) Node() string { return db.node }

const extendSpanSQL = `INSERT INTO service_spans (node, from_minute, to_minute) VALUES ($1, $2, $3)
		ON CONFLICT (node, from_minute) DO UPDATE SET to_minute = excluded.to_minute
		WHERE service_spans.to_minute < excluded.to_minute`

// ExtendSpan records that this node was up between two minutes since 1970, both
// included. The span that begins with from grows and never shrinks.
func (db ClockTable) ExtendSpan(ctx context.Context, from, to int64) error {
	return db.exec(ctx, "span "+db.node, nil, extendSpanSQL, db.node, from, to)
}

// ForgetSpans deletes the spans of all nodes that begin after a minute.
func (db ClockTable) ForgetSpans(ctx context.Context, after int64) error {
	return db.exec(ctx, "span "+db.node, nil, `DELETE FROM service_spans WHERE from_minute > $1`, after)
}

const spansSQL = `SELECT from_minute, to_minute FROM service_spans WHERE to_minute >= $1 ORDER BY from_minute, to_minute`

// Spans returns the spans of all nodes that end at the minute since or later, ordered
// by start. They may overlap.
func (db ClockTable) Spans(ctx context.Context, since int64) ([]beacon.ServiceSpan, error) {
	return list(ctx, db, func(s *beacon.ServiceSpan) []any { return []any{&s.From, &s.To} }, spansSQL, since)
}
