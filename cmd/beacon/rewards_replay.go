package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"text/tabwriter"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
)

type rewardsReplayCmd struct {
	database
	Policy    string     `placeholder:"FILE" help:"Replay the last policy of this file. Default: the policies that were in force, to check the ledger."`
	From      beacon.Day `required:"" placeholder:"YYYY-MM-DD" help:"The first day, in UTC. It must be closed."`
	To        beacon.Day `required:"" placeholder:"YYYY-MM-DD" help:"The last day. It must be closed."`
	CSV       string     `name:"csv" placeholder:"FILE" help:"Write every operator to this file."`
	Operators int        `default:"5" help:"How many of those who gain most, and lose most, to list. Default ${default}."`
	clockFlags
}

func (rewardsReplayCmd) Help() string {
	return `Days are computed again from the heartbeats and visits on record, with the code that
closes days, as if the policy had been adopted from the first of them on. Nothing is
changed, and it may run beside servers. Without --policy each day has the policy that was
in force: then every row must be as in the ledger, to the micro-credit.`
}

func (rewardsReplayCmd) Examples() string {
	return `  beacon rewards replay --from 2026-10-01 --to 2026-10-31  is the ledger what the records give?
  beacon rewards replay --from 2026-10-01 --to 2026-10-31 --policy our.json
  beacon rewards replay --from 2026-10-01 --to 2026-10-31 --policy our.json --csv operators.csv
`
}

// Run replays days, and prints what that would have given.
func (c rewardsReplayCmd) Run(out *console) error {
	q := closing.ReplayQuery{From: c.From, To: c.To}
	if c.Policy != "" {
		last, err := lastPolicy(c.Policy)
		if err != nil {
			return err
		}
		q.Policy = &last
	}
	return c.withRewards(out, c.clockFlags, func(r *closing.Closer) error {
		replay, err := replayWithProgress(out, r, q)
		if err != nil {
			return err
		}
		if c.CSV != "" {
			if err := writeReplay(c.CSV, replay.Operators); err != nil {
				return err
			}
		}
		return showReplay(out.stdout, replay, c.Operators)
	})
}

func replayWithProgress(out *console, r *closing.Closer, q closing.ReplayQuery) (*closing.Replay, error) {
	var days, hotspots atomic.Int64
	defer showProgress(out.stderr, func() string {
		return fmt.Sprintf("%s, %d hotspots of %s", bar("days", days.Load(), int64(q.To-q.From)+1), hotspots.Load(), q.From+beacon.Day(days.Load()))
	})()
	return r.Replay(out.ctx, q, func(d closing.ReplayedDay) error {
		days.Store(int64(d.Day - q.From))
		hotspots.Store(int64(d.Rows))
		return nil
	})
}

// showReplay prints a replay, and some of those who gain or lose most. If the policies in force
// do not give what the ledger has, that is an error.
func showReplay(out io.Writer, r *closing.Replay, operators int) error {
	fmt.Fprintf(out, "%s: %s of %s\n", between(r.From, r.To), count(r.Rows, "row"), count(len(r.Operators), "operator"))
	if r.Policy == nil && r.Differ > 0 {
		return fmt.Errorf("%s of the ledger %s not what the records give; the first: %s", count(r.Differ, "row"), map[bool]string{true: "is", false: "are"}[r.Differ == 1], r.First)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(name string, was, is beacon.Amount) {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t\n", name, was, is, signed(is-was))
	}
	fmt.Fprintln(table, "CREDITS\tPAID\tREPLAYED\tCHANGE\t")
	line("availability", r.Was.Availability, r.Is.Availability)
	line("performance", r.Was.Performance, r.Is.Performance)
	line("utilization", r.Was.Utilization, r.Is.Utilization)
	line("total", r.Was.Total(), r.Is.Total())
	if err := table.Flush(); err != nil {
		return err
	}
	if r.Unvisited > 0 {
		fmt.Fprintf(out, "%s would be paid nothing on %s: no visit has found them at their places to 30 m or better\n", count(r.Unvisited, "hotspot"), r.To)
	}
	if r.Differ == 0 {
		_, err := fmt.Fprintln(out, "every row is as in the ledger, to the micro-credit")
		return err
	}
	histogram(out, r.Operators)
	return extremes(out, slices.Clone(r.Operators), operators)
}

// extremes prints who would gain and who would lose most.
func extremes(out io.Writer, all []closing.ReplayedOperator, most int) error {
	slices.SortStableFunc(all, func(a, b closing.ReplayedOperator) int { return cmp.Compare(b.Change(), a.Change()) })
	table := newTable(out, "OPERATOR\tHOTSPOTS\tPAID\tREPLAYED\tCHANGE")
	for i := range all {
		o := &all[i]
		if gains, loses := i < most && o.Change() > 0, i >= len(all)-most && o.Change() < 0; gains || loses {
			fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\n", o.User, o.Hotspots, o.Was.Total(), o.Is.Total(), signed(o.Change()))
		}
	}
	return table.Flush()
}

// signed writes a change with its sign.
func signed(a beacon.Amount) string {
	if a > 0 {
		return "+" + a.String()
	}
	return a.String()
}

// histogram prints how many operators would gain and lose how much.
func histogram(out io.Writer, all []closing.ReplayedOperator) {
	groups := closing.CountGroups(all)
	most := slices.MaxFunc(groups, func(a, b closing.GroupCount) int { return a.Operators - b.Operators }).Operators
	for _, g := range groups {
		fmt.Fprintf(out, "%-20s %7d %s\n", groupNames[g.Group], g.Operators, strings.Repeat("#", (g.Operators*40+most-1)/max(most, 1)))
	}
}

var groupNames = map[closing.ChangeGroup]string{
	closing.LoseHalf: "lose 50 % or more", closing.LoseQuarter: "lose 25 to 50 %", closing.LoseTenth: "lose 10 to 25 %", closing.LoseLittle: "lose up to 10 %",
	closing.TheSame:    "the same",
	closing.GainLittle: "gain up to 10 %", closing.GainTenth: "gain 10 to 25 %", closing.GainQuarter: "gain 25 to 50 %", closing.GainHalf: "gain 50 % or more",
}

// writeReplay writes all operators to a CSV file.
func writeReplay(path string, all []closing.ReplayedOperator) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := csv.NewWriter(file)
	_ = w.Write(strings.Split("user_id,hotspots,availability,performance,utilization,paid,replayed_availability,replayed_performance,replayed_utilization,replayed,change", ","))
	for i := range all {
		o := &all[i]
		row := []string{string(o.User), strconv.Itoa(o.Hotspots)}
		for _, a := range []beacon.Amount{
			o.Was.Availability, o.Was.Performance, o.Was.Utilization, o.Was.Total(), o.Is.Availability, o.Is.Performance, o.Is.Utilization, o.Is.Total(), o.Change(),
		} {
			row = append(row, a.String())
		}
		_ = w.Write(row)
	}
	w.Flush()
	return w.Error()
}
