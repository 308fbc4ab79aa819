package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/simulate"
)

// listAttacks prints the names of all attacks.
func listAttacks(out *console) error {
	table := tabwriter.NewWriter(out.stdout, 0, 0, 2, ' ', 0)
	for _, a := range simulate.Attacks() {
		fmt.Fprintf(table, "%s\t%s\n", a.Name, a.About)
	}
	return table.Flush()
}

// attack attacks a server, in real time or by a clock of its own.
func (c simulateCmd) attack(out *console) error {
	a, ok := simulate.FindAttack(c.Attack)
	if !ok {
		return usageError(fmt.Sprintf("--attack %q: no such attack; --attack list prints the names", c.Attack))
	}
	if c.URL != "" {
		return c.onServer(out, func(out *console, staff *simulate.Client) error { return c.attackLive(out, staff, a) })
	}
	err := c.onHost(out, func(clock *handClock, staff *simulate.Client) error { return c.attackHost(out, clock, staff, a) })
	if err != nil && out.ctx.Err() != nil {
		return errors.New("interrupted, so nothing is known")
	}
	return err
}

// attackLive attacks a server until interrupted, or for the duration.
func (c simulateCmd) attackLive(out *console, staff *simulate.Client, a simulate.Attack) error {
	if err := staff.Check(out.ctx); err != nil {
		return err
	}
	raid, err := staff.NewRaid(out.ctx, a, 0, c.Seed)
	if err != nil {
		return err
	}
	defer raid.Close()
	ctx, cancel := c.limited(out.ctx)
	defer cancel()
	if err := raid.Drive(ctx); err != nil {
		return err
	}
	return showEarned(context.WithoutCancel(out.ctx), out, raid)
}

// attackHost attacks a server of our own for some days, next to an honest hotspot.
func (c simulateCmd) attackHost(out *console, clock *handClock, staff *simulate.Client, a simulate.Attack) error {
	honest, _ := simulate.FindAttack("honest")
	var raids []*simulate.Raid
	for i, of := range []simulate.Attack{honest, a} {
		raid, err := staff.NewRaid(out.ctx, of, i, c.Seed)
		if err != nil {
			return err
		}
		defer raid.Close()
		raids = append(raids, raid)
	}
	end := simulationStart.AddDate(0, 0, max(c.Days, 1))
	stop := clock.watch(out, end)
	err := staff.Raids(out.ctx, raids, simulationStart, end, clock.set)
	stop()
	if err != nil {
		return err
	}
	return showEarned(out.ctx, out, raids...)
}

// showEarned prints what attacks earned.
func showEarned(ctx context.Context, out *console, raids ...*simulate.Raid) error {
	table := newTable(out.stdout, "\tMINUTES HEARD\tEARNED\tAVAILABILITY\tPERFORMANCE\tUTILIZATION")
	for _, raid := range raids {
		earned, err := raid.Earned(ctx, client.AllMonths)
		if err != nil {
			return err
		}
		row(table, raid.Name, len(raid.Heard), earned)
		if raid.Neighbor == nil {
			continue
		}
		if earned, err = raid.Neighbor.Earned(ctx, client.AllMonths); err != nil {
			return err
		}
		row(table, "its neighbor", len(raid.Neighbor.Heard), earned)
	}
	return table.Flush()
}

func row(table io.Writer, name string, minutes int, earned client.Rewards) {
	b := earned.Breakdown
	fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\n", name, minutes, earned.Summary.TotalEarned, b.Availability, b.Performance, b.Utilization)
}
