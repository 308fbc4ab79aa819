package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/store"
)

type rewardsStatusCmd struct {
	database
	Months int `default:"3" help:"How many months to show, newest first. Default ${default}."`
	clock
}

// Examples are shown by --help.
func (rewardsStatusCmd) Examples() string {
	return `  beacon rewards status
  beacon rewards status --months 12 --db postgres://beacon@db.example.org/beacon
`
}

// bookkeeping is how far the ledger is, as of one snapshot.
type bookkeeping struct {
	closing    ledger.Closing
	begun      bool
	first      beacon.Day // with a record of heartbeats
	any        bool       // there is one
	finished   beacon.Month
	anySettled bool
}

// Run prints what is closed and what is settled.
func (c rewardsStatusCmd) Run(out *console) error {
	now, err := c.now()
	if err != nil {
		return err
	}
	return c.with(out, func(db *store.DB) error {
		var books bookkeeping
		if err := db.Books(out.ctx, func(b ledger.Books) error { return books.read(out.ctx, b) }); err != nil {
			return err
		}
		fmt.Fprintln(out.stdout, books.closedLine())
		if !books.any {
			return nil
		}
		table := tabwriter.NewWriter(out.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "MONTH\tSTATE\tUSERS\tCREDITS")
		newest := beacon.MonthOf(now())
		for month := newest; month >= books.first.Month() && month > newest-beacon.Month(c.Months); month-- {
			users, total, err := addUp(out.ctx, db, month)
			if err != nil {
				return err
			}
			fmt.Fprintf(table, "%s\t%s\t%d\t%s\n", month, books.state(month, now()), users, total)
		}
		return table.Flush()
	})
}

func (k *bookkeeping) read(ctx context.Context, b ledger.Books) (err error) {
	if k.closing, k.begun, err = b.Closing(ctx); err != nil {
		return err
	}
	if k.first, k.any, err = b.FirstRecord(ctx); err != nil {
		return err
	}
	k.finished, k.anySettled, err = b.Finished(ctx)
	return err
}

func (k *bookkeeping) closedLine() string {
	switch {
	case !k.any:
		return "no hotspot has been in service yet"
	case !k.begun:
		return fmt.Sprintf("no day is closed yet; the first to close is %s", k.first)
	case k.closing.ClosedAt.IsZero():
		return fmt.Sprintf("%s is being closed: %s so far", k.closing.Day, count(k.closing.Hotspots, "hotspot"))
	}
	return fmt.Sprintf("closed through %s", k.closing.Day)
}

// state returns the state of a month for everyone; a single user's may be settled
// before.
func (k *bookkeeping) state(month beacon.Month, now time.Time) rewards.Status {
	switch {
	case k.anySettled && month <= k.finished:
		return rewards.Settled
	case now.Before((month + 1).Start()):
		return rewards.InProgress
	}
	return rewards.Finalizing
}

// addUp returns the closed part of a month: how many users earned something, and the
// total.
func addUp(ctx context.Context, db *store.DB, month beacon.Month) (users int, total beacon.Amount, err error) {
	const atATime = 1000
	for after := beacon.UserID(""); ; {
		page, err := db.UserPage(ctx, month, after, atATime)
		if err != nil || len(page) == 0 {
			return users, total, err
		}
		for _, u := range page {
			users++
			total += u.Total()
		}
		after = page[len(page)-1].User
	}
}
