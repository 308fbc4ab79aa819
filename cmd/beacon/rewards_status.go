package main

import (
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/store"
)

type rewardsStatusCmd struct {
	database
	Months int `default:"3" help:"How many months to show, newest first. Default ${default}."`
	clockFlags
}

func (rewardsStatusCmd) Examples() string {
	return `  beacon rewards status
  beacon rewards status --months 12 --db postgres://beacon@db.example.org/beacon
`
}

// Run prints what is closed and what is settled.
func (c rewardsStatusCmd) Run(out *console) error {
	now, err := c.now()
	if err != nil {
		return err
	}
	return c.with(out, func(db *store.DB) error {
		books, err := earnings.New(earnings.Config{
			Ledger: rewards.New(rewards.Config{Store: db.Rewards(), Clock: clock.Of(now)}), Totals: db.Ledger,
		}).Overview(out.ctx, beacon.Principal{}, c.Months)
		if err != nil {
			return err
		}
		fmt.Fprintln(out.stdout, closedLine(books))
		if !books.Any {
			return nil
		}
		table := newTable(out.stdout, "MONTH\tSTATE\tUSERS\tCREDITS")
		for _, m := range books.Months {
			fmt.Fprintf(table, "%s\t%s\t%d\t%s\n", m.Month, m.Status, m.Users, m.Earned)
		}
		return table.Flush()
	})
}

func closedLine(p earnings.Overview) string {
	switch {
	case !p.Any:
		return "no hotspot has been in service yet"
	case !p.Begun:
		return fmt.Sprintf("no day is closed yet; the first to close is %s", p.First)
	case p.Closing.ClosedAt.IsZero():
		return fmt.Sprintf("%s is being closed: %s so far", p.Closing.Day, count(p.Closing.Hotspots, "hotspot"))
	}
	return fmt.Sprintf("closed through %s", p.Closing.Day)
}
