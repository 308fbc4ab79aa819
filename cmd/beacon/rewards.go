package main

import (
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/node"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
)

type rewardsCmd struct {
	Settle rewardsSettleCmd `cmd:"" help:"Settle a month: write every user's statement."`
	Verify rewardsVerifyCmd `cmd:"" help:"Recompute statements offline and name the first wrong row."`
	Status rewardsStatusCmd `cmd:"" help:"Show which days are closed and which months are settled."`
	Clock  rewardsClockCmd  `cmd:"" help:"Show what the clocks say and what waits for them, and confirm the date."`
	Adopt  rewardsAdoptCmd  `cmd:"" help:"Put a reward policy into force from a day on, and show what changes."`
	Replay rewardsReplayCmd `cmd:"" help:"Show what closed days would have earned under another policy, and who gains and loses."`
	Reopen rewardsReopenCmd `cmd:"" help:"Open days again that a wrong clock closed, and show what that does."`
}

// policies is the --policy flag of servers.
type policies struct {
	Policy string `placeholder:"FILE" help:"A file of reward policies to use instead of the built-in ones. A new database starts with the built-in one that pays places."`
}

// load returns the policies of a server, and those of a new database.
func (p policies) load() (set, founding policy.Set, err error) {
	if p.Policy == "" {
		return policy.Devices(), policy.BuiltIn(), nil
	}
	set, err = policy.Load(p.Policy)
	return set, nil, err
}

// withRewards runs a command on the rewards of a database. Their policies are those that
// servers have stored.
func (d database) withRewards(out *console, c clockFlags, command func(*closing.Closer) error) error {
	return d.with(out, func(db *store.DB) error {
		now, err := c.now()
		if err != nil {
			return err
		}
		tables := db.Rewards()
		r := closing.New(closing.Config{
			Ledger: rewards.New(rewards.Config{Store: tables, Clock: clock.New(clock.Config{Store: db.Clocks, Now: now, RealTime: !c.simulated()})}),
			Days:   tables, Months: tables, Places: tables, Holds: tables, Telemetry: node.Records(), Log: slog.New(slog.DiscardHandler),
		})
		if err := r.Reload(out.ctx); err != nil {
			return err
		}
		return command(r)
	})
}

// lastPolicy returns the last policy of a file.
func lastPolicy(file string) (policy.Policy, error) {
	set, err := policy.Load(file)
	if err != nil {
		return policy.Policy{}, err
	}
	return set[len(set)-1], nil
}

type rewardsSettleCmd struct {
	database
	Month beacon.Month `required:"" placeholder:"YYYY-MM" help:"The month to settle."`
	Force bool         `help:"Settle it before 72 hours have passed since its end."`
	clockFlags
}

func (rewardsSettleCmd) Examples() string {
	return `  beacon rewards settle --month 2026-10                    servers do this themselves, 72 hours after the month
  beacon rewards settle --month 2026-10 --force            as soon as all days of the month are closed
  beacon rewards settle --month 2026-10 --db postgres://beacon@db.example.org/beacon
`
}

// Run settles a month (decision C5). It may be repeated, and may run beside servers
// and other commands: a statement is written once.
func (c rewardsSettleCmd) Run(out *console) error {
	return c.withRewards(out, c.clockFlags, func(r *closing.Closer) error {
		var done, total atomic.Int64
		stop := showProgress(out.stderr, func() string { return bar("sums and statements", done.Load(), total.Load()) })
		report, err := r.Settle(out.ctx, commandLine.Actor(), c.Month, c.Force, func(d, t int) {
			done.Store(int64(d))
			total.Store(int64(t))
		})
		stop()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out.stdout, settledLine(report))
		return err
	})
}

// settledLine describes what a settlement did.
func settledLine(r closing.SettleReport) string {
	all := fmt.Sprintf("%s, %s credits", count(r.Statements, "statement"), r.Total)
	switch already := r.Statements - r.Written; {
	case r.Already, r.Written == 0 && r.Statements > 0:
		return fmt.Sprintf("nothing to do: %s is already settled (%s)", r.Month, all)
	case already > 0:
		return fmt.Sprintf("settled %s: %s; %d of them were already written", r.Month, all, already)
	}
	return fmt.Sprintf("settled %s: %s", r.Month, all)
}
