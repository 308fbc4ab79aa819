package rewards

import (
	"context"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
)

// ClockReport is what is known about the time, and what waits for it.
type ClockReport struct {
	clock.State
	Now   time.Time    // by the clock of this process
	Begun bool         // a day was closed, or there is one to close
	First beacon.Day   // the first day that is not closed
	Month beacon.Month // the first month that is not settled
}

// ReportClock returns what is known about the time.
func (r *Ledger) ReportClock(ctx context.Context) (c ClockReport, err error) {
	if c.State, err = r.Clock.State(ctx); err != nil {
		return c, err
	}
	v, err := r.View(ctx, nil)
	c.Now, c.Begun, c.First, c.Month = r.Clock.Now().UTC(), v.Begun || v.Recorded, v.First, v.Month
	return c, err
}

// Due returns how many days are over and not closed, and how many months are over and
// not settled, when a day begins.
func (c ClockReport) Due(today beacon.Day) (days, months int) {
	if !c.Begun {
		return 0, 0
	}
	return max(int(today-c.First), 0), Unsettled(c.Month, today.Time())
}

// Waits reports whether days wait for someone to say what day it is.
func (c ClockReport) Waits() bool {
	today := beacon.DayOf(c.Now)
	days, _ := c.Due(today)
	return days > 0 && (c.Certain.IsZero() || beacon.DayOf(c.Certain) != today)
}

// ConfirmClock says that today is a day: all days before it are over, whatever was
// certain before. Some clock must show that day, so that no slip of the pen closes a
// year.
func (r *Ledger) ConfirmClock(ctx context.Context, by beacon.Actor, today beacon.Day) error {
	c, err := r.ReportClock(ctx)
	if err != nil {
		return err
	}
	clocks := []time.Time{c.Now}
	if !c.Database.IsZero() {
		clocks = append(clocks, c.Database)
	}
	for _, m := range c.Marks {
		clocks = append(clocks, m.Said)
	}
	var shown []string
	for _, at := range clocks {
		day := beacon.DayOf(at)
		if day == today {
			return r.Store.ConfirmClock(ctx, today.Time(), by, r.Clock.Now())
		}
		shown = append(shown, day.String())
	}
	return Refuse("no clock says that it is %s: they say %s (days are in UTC)", today, strings.Join(shown, ", "))
}
