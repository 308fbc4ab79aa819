package rewards

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// View is how far the ledger is, as of one snapshot.
type View struct {
	Closing ledger.Closing
	Begun   bool         // a day was closed, or is being closed
	First   beacon.Day   // the first day that is not closed for everyone
	Since   beacon.Day   // the first day with a record of heartbeats
	Month   beacon.Month // the first month that is not settled for everyone
	Settled bool         // some month is settled for everyone

	Recorded bool // there is a day with a record
	Reopened ledger.Reopenings
}

// Revision is how often days were opened again.
func (v *View) Revision() int64 { return int64(len(v.Reopened)) }

// View reads the state from a snapshot. More reads whatever else the caller needs
// from the same snapshot; it may be called again from the start.
func (r *Ledger) View(ctx context.Context, more func(v View, b ledger.Books) error) (v View, err error) {
	err = r.Store.Books(ctx, func(b ledger.Books) error {
		v, err = r.readView(ctx, b)
		if err == nil && more != nil {
			err = more(v, b)
		}
		return err
	})
	return v, err
}

func (r *Ledger) readView(ctx context.Context, b ledger.Books) (v View, err error) {
	if v.Closing, v.Begun, err = b.Closing(ctx); err != nil {
		return v, err
	}
	if v.Reopened, err = b.Reopenings(ctx); err != nil {
		return v, err
	}
	if v.Since, v.Recorded, err = b.FirstRecord(ctx); err != nil {
		return v, err
	}
	if v.First = v.Since; !v.Recorded {
		v.First = r.Today() // memory may have heartbeats that are in no record yet
	}
	v.Month = v.First.Month()
	if v.Begun {
		v.First = v.Closing.Through() + 1
	}
	var last beacon.Month
	if last, v.Settled, err = b.Finished(ctx); v.Settled {
		v.Month = last + 1
	}
	return v, err
}

// Today returns the current day.
func (r *Ledger) Today() beacon.Day { return beacon.DayOf(r.Clock.Now()) }

// OpenDays returns the days that are not closed, up to today: all of them, or those of
// one month.
func (r *Ledger) OpenDays(v View, month beacon.Month) (days []beacon.Day) {
	from, to := v.First, r.Today()
	if month != AnyMonth {
		from, to = max(from, month.First()), min(to, month.Last())
	}
	for day := from; day <= to; day++ {
		days = append(days, day)
	}
	return days
}

// AnyMonth selects all months.
const AnyMonth = ledger.NoMonth

// StatusOf returns the state of a month; settled means that it has a statement. A month
// before everything in the ledger counts as settled.
func (r *Ledger) StatusOf(v View, month beacon.Month, settled bool) Status {
	switch end := (month + 1).Start(); {
	case settled, v.Settled && month < v.Month:
		return Settled
	case r.Clock.Now().Before(end):
		return InProgress
	case month < v.Month && !r.Clock.Now().Before(end.Add(Grace)):
		return Settled
	default:
		return Finalizing
	}
}
