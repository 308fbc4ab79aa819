package earnings

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Overview is how far the ledger is.
type Overview struct {
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
	Status rewards.Status
	Closed int // days
	ledger.MonthTotals
}

// Overview returns how far the ledger is, with the latest months, for staff.
func (r *Earnings) Overview(ctx context.Context, _ beacon.Principal, months int) (Overview, error) {
	v, err := r.View(ctx, nil)
	b := Overview{First: v.Since, Any: v.Recorded, Closing: v.Closing, Begun: v.Begun, Policies: r.Known()}
	if err != nil || !b.Any {
		return b, err
	}
	newest := beacon.MonthOf(r.Clock.Now())
	for month := newest; month >= b.First.Month() && month > newest-beacon.Month(months); month-- {
		m := MonthState{Month: month, Status: r.StatusOf(v, month, false)}
		if b.Begun {
			m.Closed = max(0, int(min(b.Closing.Through(), month.Last())-month.First())+1)
		}
		if m.MonthTotals, err = r.Totals.MonthTotals(ctx, month); err != nil {
			return b, err
		}
		b.Months = append(b.Months, m)
	}
	return b, nil
}
