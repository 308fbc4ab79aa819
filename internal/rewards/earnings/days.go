package earnings

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

// DaysQuery asks what a user earned on each day of a month.
type DaysQuery struct {
	User  beacon.UserID // or beacon.Me
	Month *beacon.Month // nil: the current one

	// Charge is called with how many rows will be read, and may refuse. It may be nil.
	Charge func(rows int) error
}

// Days are the days of a month, up to today.
type Days struct {
	User  beacon.UserID
	Month beacon.Month
	Days  []DaySum // by day; none is left out
}

// DaySum is what a user's hotspots earned on one day.
type DaySum struct {
	Day      beacon.Day
	Open     bool // the day is not closed: everything is up to now
	Hotspots int  // that were in service
	ledger.Sum
}

// Days returns what a user's hotspots earned together on each day of a month, up to
// today: closed days from their rows, open days computed with the same function
// (decision D200).
func (r *Earnings) Days(ctx context.Context, p beacon.Principal, q DaysQuery) (Days, error) {
	user, err := p.Resolve(q.User)
	if err != nil {
		return Days{}, err
	}
	month := beacon.MonthOf(r.Clock.Now())
	if q.Month != nil && *q.Month > month {
		var faults beacon.Faults
		faults.Add("month", "must not be in the future")
		return Days{}, faults.Err()
	}
	if q.Month != nil {
		month = *q.Month
	}
	d := Days{User: user, Month: month}
	for day := month.First(); day <= min(month.Last(), r.Today()); day++ {
		d.Days = append(d.Days, DaySum{Day: day})
	}
	if !rewards.ValidUser(user) {
		return d, nil
	}
	return d, r.fillDays(ctx, &d, q.Charge)
}

// fillDays adds the rows of a month, and what its open days have earned so far.
func (r *Earnings) fillDays(ctx context.Context, d *Days, charge func(rows int) error) error {
	var a *accrual
	charged := false
	v, err := r.View(ctx, func(v rewards.View, b ledger.Books) error {
		for i := range d.Days { // it may be called again
			d.Days[i] = DaySum{Day: d.Days[i].Day}
		}
		names, err := b.Names(ctx, d.User, v.First.Time())
		if err != nil {
			return err
		}
		months, users, err := readSums(ctx, b, d.User, d.Month)
		if err != nil {
			return err
		}
		a = newAccrual(d.User, names)
		a.addMonths(months, nil)
		if len(users) == 0 {
			return nil
		}
		if !charged && charge != nil {
			if err := charge(users[0].Rows); err != nil {
				return err
			}
			charged = true
		}
		return d.read(ctx, b, v.Reopened, users[0].Sum)
	})
	if err != nil {
		return err
	}
	days := r.openDays(v)
	for i := range d.Days {
		sum := &d.Days[i]
		if sum.Open = sum.Day >= v.First; !sum.Open {
			continue
		}
		err := days.each(ctx, a, sum.Day, func(_ beacon.HotspotID, _ beacon.Tier, earned ledger.Sum) { sum.add(earned) })
		if err != nil {
			return err
		}
	}
	return nil
}

// read adds the rows that hold. They must add up to what is known of the month.
func (d *Days) read(ctx context.Context, b ledger.Books, reopened ledger.Reopenings, want ledger.Sum) error {
	var total ledger.Sum
	add := func(row ledger.Row) error {
		i := int(row.Day - d.Month.First())
		if row.Kind != ledger.Earning || !reopened.Valid(&row) || i < 0 || i >= len(d.Days) {
			return nil
		}
		total = total.Plus(row.Sum())
		d.Days[i].add(row.Sum())
		return nil
	}
	for i := range d.Days {
		if err := b.Rows(ctx, d.User, d.Days[i].Day, add); err != nil {
			return err
		}
	}
	if reopened.Touch(d.Month) {
		again, err := b.Again(ctx, d.User, d.Month)
		if err != nil {
			return err
		}
		for _, row := range again {
			_ = add(row) // it returns no error
		}
	}
	if total != want {
		return rewards.Mismatch(d.User, "the days of "+d.Month.String())
	}
	return nil
}

func (s *DaySum) add(sum ledger.Sum) {
	s.Hotspots++
	s.Sum = s.Plus(sum)
}
