package main

import (
	"fmt"
	"io"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

type rewardsAdoptCmd struct {
	database
	From    beacon.Day `required:"" placeholder:"YYYY-MM-DD" help:"The first day of the policy, in UTC. It must not have begun."`
	Policy  string     `placeholder:"FILE" help:"Adopt the last policy of this file, instead of the built-in one that pays places."`
	Confirm bool       `help:"Do it. Without this flag, nothing is changed."`
	clock
}

func (rewardsAdoptCmd) Help() string {
	return `A policy decides what hotspots earn. The built-in one pays places: each square of
ground once a minute, to the hotspot that has served there on the most days. Days before
--from keep their policy, and a policy that was adopted stays in force until another one
is. Running servers take it over within seconds. It is in the audit.`
}

func (rewardsAdoptCmd) Examples() string {
	return `  beacon rewards adopt --from 2026-12-01                   what would change
  beacon rewards adopt --from 2026-12-01 --confirm         do it
  beacon rewards adopt --from 2026-12-01 --policy our.json the last policy of a file
`
}

// Run adopts a policy, or says what that would do.
func (c rewardsAdoptCmd) Run(out *console) error {
	adopted := policy.Places()
	if c.Policy != "" {
		var err error
		if adopted, err = lastPolicy(c.Policy); err != nil {
			return err
		}
	}
	return c.withRewards(out, c.clock, func(r *rewards.Rewards) error {
		a, err := r.Adopt(out.ctx, commandLine.Actor(), adopted, c.From, c.Confirm)
		if err != nil {
			return err
		}
		return showAdoption(out.stdout, a, c.Confirm)
	})
}

// showAdoption prints what an adoption did or would do.
func showAdoption(out io.Writer, a rewards.Adoption, done bool) error {
	verb := "this would put policy %d into force from %s on\n"
	if done {
		verb = "policy %d is in force from %s on\n"
	}
	fmt.Fprintf(out, verb, a.Policy.Version, a.Policy.From)
	table := newTable(out, fmt.Sprintf("\tPOLICY %d\tPOLICY %d", a.Before.Version, a.Policy.Version))
	row := func(name string, of func(*policy.Policy) any) {
		fmt.Fprintf(table, "%s\t%v\t%v\n", name, of(&a.Before), of(&a.Policy))
	}
	row("pays", func(p *policy.Policy) any {
		if p.PaysPlaces() {
			return fmt.Sprintf("places, %d m around", p.Radius)
		}
		return "devices"
	})
	row("availability", func(p *policy.Policy) any { return p.Availability })
	for tier := beacon.Standard; tier <= beacon.Premium; tier++ {
		row("performance, "+tier.String(), func(p *policy.Policy) any { return p.Performance[tier] })
	}
	row("utilization per GB", func(p *policy.Policy) any { return p.PerGB })
	row("utilization cap", func(p *policy.Policy) any { return p.Cap })
	row("without proof", func(p *policy.Policy) any {
		if p.PaysPlaces() {
			return fmt.Sprintf("× %s", p.Unproven)
		}
		return "the same"
	})
	if err := table.Flush(); err != nil {
		return err
	}
	if a.ProvenBefore != 0 {
		fmt.Fprintf(out, "places that hotspots had before count as proven through %s: visit them by then\n", a.ProvenBefore-1)
	}
	if done {
		return nil
	}
	_, err := fmt.Fprintln(out, "nothing is changed; do it with --confirm")
	return err
}
