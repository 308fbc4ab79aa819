package main

import (
	"fmt"
	"io"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
)

type rewardsClockCmd struct {
	database
	Confirm *beacon.Day `placeholder:"YYYY-MM-DD" help:"Say that this is today's date, in UTC: all days before it are over."`
	clockFlags
}

func (rewardsClockCmd) Help() string {
	return `A day is closed only when it is over by every clock there is: those of the servers,
the database's, and what the database knows has passed. A server whose clock is far
ahead of that goes on serving, and closes nothing: it may have been off, or its clock
may be wrong, and what a wrong clock closes stays closed. After a night or a weekend it
goes on by itself, once its clock has run evenly for one or for eight hours. After more
than four days someone has to say what day it is. Without --confirm nothing is changed.`
}

func (rewardsClockCmd) Examples() string {
	return `  beacon rewards clock                                     what the clocks say, and what waits for them
  beacon rewards clock --confirm 2026-11-16                today is that day: go on
`
}

// Run prints what is known about the time, and confirms a date.
func (c rewardsClockCmd) Run(out *console) error {
	return c.withRewards(out, c.clockFlags, func(r *closing.Closer) error {
		report, err := r.ReportClock(out.ctx)
		if err != nil {
			return err
		}
		if c.Confirm == nil {
			return showClock(out.stdout, report)
		}
		if err := r.ConfirmClock(out.ctx, commandLine.Actor(), *c.Confirm); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out.stdout, "confirmed that today is %s\n%s", *c.Confirm, dueLine(report, *c.Confirm))
		return err
	})
}

// showClock prints the clocks, and what would happen if ours was confirmed.
func showClock(out io.Writer, c rewards.ClockReport) error {
	table := newTable(out, "CLOCK\tSAYS (UTC)\tAHEAD OF WHAT IS CERTAIN")
	line := func(name string, says time.Time) {
		if !says.IsZero() {
			fmt.Fprintf(table, "%s\t%s\t%s\n", name, beacon.FormatTime(says), aheadBy(says, c.Certain))
		}
	}
	line("certain", c.Certain)
	line("this machine", c.Now)
	line("database", c.Database)
	for _, m := range c.Marks {
		line(m.Node, m.Said)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	today := beacon.DayOf(c.Now)
	if !c.Waits() {
		_, err := fmt.Fprintln(out, "nothing waits for a clock")
		return err
	}
	_, err := fmt.Fprintf(out, "if today is %s, say so with --confirm %s\n%s", today, today, dueLine(c, today))
	return err
}

// aheadBy formats how far a clock is ahead.
func aheadBy(says, certain time.Time) string {
	if certain.IsZero() || says.Equal(certain) {
		return ""
	}
	return says.Sub(certain).Round(time.Second).String()
}

// dueLine says what a date closes and settles.
func dueLine(c rewards.ClockReport, today beacon.Day) string {
	days, months := c.Due(today)
	if days == 0 {
		return "that closes no day\n"
	}
	text := fmt.Sprintf("that closes %s for good: %s", count(days, "day"), between(c.First, today-1))
	if months > 0 {
		text += fmt.Sprintf(", and settles %s: %s", count(months, "month"), between(c.Month, c.Month+beacon.Month(months)-1))
	}
	return text + "\n"
}
