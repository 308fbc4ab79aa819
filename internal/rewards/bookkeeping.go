package rewards

import (
	"context"

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

	Policies policy.Set
}

// MonthState is how far a month is for everyone; a single user's may be settled before.
type MonthState struct {
	Month  beacon.Month
	Status Status
	Closed int // days
	ledger.MonthTotals
}

// Bookkeeping returns how far the books are, with up to so many months, for staff.
func (r *Rewards) Bookkeeping(ctx context.Context, _ beacon.Principal, months int) (Bookkeeping, error) {
	v, err := r.view(ctx, nil)
	b := Bookkeeping{First: v.since, Any: v.recorded, Closing: v.closing, Begun: v.begun, Policies: r.policySet()}
	if err != nil || !b.Any {
		return b, err
	}
	newest := beacon.MonthOf(r.Now())
	for month := newest; month >= b.First.Month() && month > newest-beacon.Month(months); month-- {
		m := MonthState{Month: month, Status: r.status(v, month, false)}
		if b.Begun {
			m.Closed = max(0, int(min(b.Closing.Through(), month.Last())-month.First())+1)
		}
		if m.MonthTotals, err = r.Store.MonthTotals(ctx, month); err != nil {
			return b, err
		}
		b.Months = append(b.Months, m)
	}
	return b, nil
}
