package rewards

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Bookkeeping is how far the books are.
type Bookkeeping struct {
	First   beacon.Day // with a record of heartbeats
	Any     bool       // there is one
	Closing ledger.Closing
	Begun   bool         // a day was closed, or is being closed
	Months  []MonthState // newest first

	Policies policy.Set // of ReadBookkeeping none
}

// MonthState is how far a month is for everyone; a single user's may be settled before.
type MonthState struct {
	Month  beacon.Month
	Status Status
	Closed int // days
	ledger.MonthTotals
}

// BookkeepingStore is what ReadBookkeeping needs of a database.
type BookkeepingStore interface {
	Books(ctx context.Context, read func(ledger.Books) error) error
	MonthTotals(ctx context.Context, month beacon.Month) (ledger.MonthTotals, error)
}

// ReadBookkeeping returns how far the books are, with up to so many months.
func ReadBookkeeping(ctx context.Context, db BookkeepingStore, now time.Time, months int) (p Bookkeeping, err error) {
	var finished beacon.Month
	var settled bool
	err = db.Books(ctx, func(b ledger.Books) (err error) {
		if p.Closing, p.Begun, err = b.Closing(ctx); err != nil {
			return err
		}
		if p.First, p.Any, err = b.FirstRecord(ctx); err != nil {
			return err
		}
		finished, settled, err = b.Finished(ctx)
		return err
	})
	if err != nil || !p.Any {
		return p, err
	}
	newest := beacon.MonthOf(now)
	for month := newest; month >= p.First.Month() && month > newest-beacon.Month(months); month-- {
		m := MonthState{Month: month, Status: Finalizing}
		switch {
		case settled && month <= finished:
			m.Status = Settled
		case month == newest:
			m.Status = InProgress
		}
		if p.Begun {
			m.Closed = max(0, int(min(p.Closing.Through(), month.Last())-month.First())+1)
		}
		if m.MonthTotals, err = db.MonthTotals(ctx, month); err != nil {
			return p, err
		}
		p.Months = append(p.Months, m)
	}
	return p, nil
}

// Bookkeeping returns how far the books are, for staff.
func (r *Rewards) Bookkeeping(ctx context.Context, _ beacon.Principal, months int) (Bookkeeping, error) {
	b, err := ReadBookkeeping(ctx, r.Store, r.Now(), months)
	b.Policies = r.policySet()
	return b, err
}
