package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
)

type rewardsReopenCmd struct {
	database
	Day     *beacon.Day `placeholder:"YYYY-MM-DD" xor:"days" required:"" help:"Open this day again, the last that is closed."`
	From    *beacon.Day `placeholder:"YYYY-MM-DD" xor:"days" required:"" help:"Open all closed days again from this one on."`
	To      *beacon.Day `placeholder:"YYYY-MM-DD" help:"With --from: only if this is the last closed day."`
	Confirm bool        `help:"Do it. Without this flag, nothing is changed."`
	Users   int         `default:"10" help:"How many users to list. Default ${default}."`
	clockFlags
}

func (rewardsReopenCmd) Help() string {
	return `For days that were closed before they were over, by a clock that was wrong. Days are
closed in order, so those after the first wrong one are opened too. Set the clock right
first. Rows stay as they are: a correction in every operator's chain of hashes makes
them void. Servers then close each day again once it is over, from the heartbeats on
record, and days that were closed rightly get the same rows again. It works beside
running servers, and is in the audit. Months that are settled are final.`
}

func (rewardsReopenCmd) Examples() string {
	return `  beacon rewards reopen --from 2026-11-14                  what would happen
  beacon rewards reopen --from 2026-11-14 --confirm        do it
  beacon rewards reopen --day 2026-11-14 --confirm         if it is the last closed day
`
}

// Run opens days again, or says what that would do.
func (c rewardsReopenCmd) Run(out *console) error {
	from, to := c.From, c.To
	if c.Day != nil {
		if to != nil {
			return usageError("--to goes with --from")
		}
		from, to = c.Day, c.Day
	}
	return c.withRewards(out, c.clockFlags, func(r *closing.Closer) error {
		report, err := r.Reopen(out.ctx, commandLine.Actor(), *from, to, c.Confirm)
		if err != nil {
			return err
		}
		return showReopened(out.stdout, report, c.Confirm, c.Users)
	})
}

// showReopened prints what a reopening did or would do.
func showReopened(out io.Writer, r closing.ReopenReport, done bool, users int) error {
	verb := "this would open"
	if done {
		verb = "opened"
	}
	fmt.Fprintf(out, "%s %s again: %s. %s of %s, %s credits, void until the days are closed again\n", verb,
		count(int(r.Through-r.From)+1, "day"), between(r.From, r.Through), count(r.Rows, "row"), count(len(r.Users), "user"), r.Total())
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, u := range r.Users {
		if i == 0 {
			fmt.Fprintln(table, "USER\tROWS\tCREDITS")
		}
		if i == users {
			fmt.Fprintf(table, "and %s\t\t\n", count(len(r.Users)-i, "more user"))
			break
		}
		fmt.Fprintf(table, "%s\t%d\t%s\n", u.User, u.Rows, u.Total())
	}
	if err := table.Flush(); err != nil || done {
		return err
	}
	_, err := fmt.Fprintln(out, "if the clocks are right, do it with --confirm")
	return err
}
