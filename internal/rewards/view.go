package rewards

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// view is how far the books have come, as of one moment.
type view struct {
	closing ledger.Closing
	begun   bool         // a day was closed, or is being closed
	first   beacon.Day   // the first day that is not closed for everyone
	month   beacon.Month // the first that is not settled for everyone
	settled bool         // one was
}

// view reads the books as of one moment. More reads the rest of what an answer
// needs from the same books; it may be called again, from the start.
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
		v.first = r.today() // memory may know more than any record
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

// open are the days that are not closed, up to today, and of one month where one
// is given.
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

// anyMonth is no month in particular.
const anyMonth = ledger.NoMonth

// status is how far a month is from being paid; settled says that there is a
// statement. A month before all that is in the books is as good as settled.
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
