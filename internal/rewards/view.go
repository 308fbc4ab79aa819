package rewards

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// view is how far the ledger is, as of one snapshot.
type view struct {
	closing ledger.Closing
	begun   bool         // a day was closed, or is being closed
	first   beacon.Day   // the first day that is not closed for everyone
	month   beacon.Month // the first month that is not settled for everyone
	settled bool         // some month is settled for everyone
}

// view reads the state from a snapshot. More reads whatever else the caller needs
// from the same snapshot; it may be called again from the start.
func (r *Rewards) view(ctx context.Context, more func(v view, b ledger.Books) error) (v view, err error) {
	err = r.Store.Books(ctx, func(b ledger.Books) error {
		v, err = r.look(ctx, b)
		if err == nil && more != nil {
			err = more(v, b)
		}
		return err
	})
	return v, err
}

func (r *Rewards) look(ctx context.Context, b ledger.Books) (v view, err error) {
	if v.closing, v.begun, err = b.Closing(ctx); err != nil {
		return v, err
	}
	recorded := false
	if v.first, recorded, err = b.FirstRecord(ctx); err != nil {
		return v, err
	}
	if !recorded {
		v.first = r.today() // memory may have heartbeats that are in no record yet
	}
	v.month = v.first.Month()
	if v.begun {
		v.first = v.closing.Through() + 1
	}
	var last beacon.Month
	if last, v.settled, err = b.Finished(ctx); v.settled {
		v.month = last + 1
	}
	return v, err
}

func (r *Rewards) today() beacon.Day { return beacon.DayOf(r.Now()) }

// open returns the days that are not closed, up to today: all of them, or those of
// one month.
func (r *Rewards) open(v view, month beacon.Month) (days []beacon.Day) {
	from, to := v.first, r.today()
	if month != anyMonth {
		from, to = max(from, month.First()), min(to, month.Last())
	}
	for day := from; day <= to; day++ {
		days = append(days, day)
	}
	return days
}

// anyMonth selects all months.
const anyMonth = ledger.NoMonth

// status returns the state of a month; settled means that it has a statement. A month
// before everything in the ledger counts as settled.
func (r *Rewards) status(v view, month beacon.Month, settled bool) Status {
	switch end := (month + 1).Start(); {
	case settled, v.settled && month < v.month:
		return Settled
	case r.Now().Before(end):
		return InProgress
	case month < v.month && !r.Now().Before(end.Add(Grace)):
		return Settled
	default:
		return Finalizing
	}
}
