package store

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/lease"
)

// TakeLease takes the lease of a job for ttl from now on, when it is free, has
// expired, or is the holder's already, and reports whether it did. A renewal
// keeps the token; whoever takes the lease from another gets a higher one. To
// give a lease back is to renew it for no time at all. Where another's lease is
// in the way, that is what it answers.
func (db *DB) TakeLease(
	ctx context.Context, name, holder string, now time.Time, ttl time.Duration,
) (l lease.Lease, taken bool, err error) {
	if err := storableText(name, holder); err != nil {
		return lease.Lease{}, false, internal("take lease", err)
	}
	l.Name = name
	var until int64
	op := &operation{order: leaseOrder(name)}
	op.run = func(tx *transaction) (changes, error) {
		n, err := tx.exec(sqlText.takeLease, name, holder, micros(now.Add(ttl)), micros(now))
		if taken = n > 0; err != nil {
			return nil, err
		}
		_, err = tx.row(func(scan func(...any) error) error { return scan(&l.Holder, &l.Token, &until) }, sqlText.lease, name)
		return nil, err
	}
	if err := db.committer.do(ctx, op); err != nil {
		return lease.Lease{}, false, err
	}
	l.Until = fromMicros(until)
	return l, taken, nil
}

func leaseOrder(name string) string { return "lease " + name }

// fenced has a write committed only while a lease is held: it touches the row of
// the lease, so that nobody can take that over before the write is committed,
// and answers Conflict when someone already has.
func (db *DB) fenced(ctx context.Context, l lease.Lease, write func(*transaction) error) error {
	op := &operation{order: leaseOrder(l.Name)}
	op.run = func(tx *transaction) (changes, error) {
		n, err := tx.exec(sqlText.fence, l.Name, l.Holder, l.Token)
		if err == nil && n == 0 {
			err = leaseLost(l.Name)
		}
		if err != nil {
			return nil, err
		}
		return nil, write(tx)
	}
	return db.committer.do(ctx, op)
}
