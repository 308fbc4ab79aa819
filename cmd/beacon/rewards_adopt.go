package main

import (
	"fmt"
	"io"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

type rewardsAdoptCmd struct {
	database
	From    beacon.Day `required:"" placeholder:"YYYY-MM-DD" help:"The first day of the policy, in UTC. It must not have begun."`
	Policy  string     `placeholder:"FILE" xor:"terms" help:"Adopt the last policy of this file, instead of the newest built-in one."`
	Rewards string     `enum:",on,off" default:"" xor:"terms" placeholder:"on|off" help:"Turn rewards off, so that nothing is earned, or on again by the last policy that was on."`
	Confirm bool       `help:"Do it. Without this flag, nothing is changed."`
	clockFlags
}

func (rewardsAdoptCmd) Help() string {
	return `A policy decides what hotspots earn. The newest built-in one pays places: each square of
ground once a minute, to the hotspot that has served there for the longest time. Days
before --from keep their policy, and a policy that was adopted stays in force until
another one is. Without --confirm, the last closed days (up to seven) are computed again
under it, to show who would gain and lose; "beacon rewards replay" does so for any days.
While rewards are off, nothing is earned, and the console does not mention them; what was
earned before stays, and is settled. Running servers take a policy over within seconds. It is in the audit.`
}

func (rewardsAdoptCmd) Examples() string {
	return `  beacon rewards adopt --from 2026-12-01                   what would change
  beacon rewards adopt --from 2026-12-01 --confirm         do it
  beacon rewards adopt --from 2026-12-01 --policy our.json the last policy of a file
  beacon rewards adopt --from 2026-12-01 --rewards off     no rewards from December on
`
}

// Run adopts a policy, or says what that would do.
func (c rewardsAdoptCmd) Run(out *console) error {
	return c.withRewards(out, c.clockFlags, func(r *closing.Closer) error {
		adopted, err := c.adopted(out, r)
		if err != nil {
			return err
		}
		a, err := r.Adopt(out.ctx, commandLine.Actor(), adopted, c.From, c.Confirm)
		if err != nil {
			return err
		}
		if err := showAdoption(out.stdout, a); err != nil || c.Confirm {
			return err
		}
		if err := tryOnPast(out, r, adopted); err != nil {
			return err
		}
		_, err = fmt.Fprintln(out.stdout, "nothing is changed; do it with --confirm")
		return err
	})
}

func (c rewardsAdoptCmd) adopted(out *console, r *closing.Closer) (policy.Policy, error) {
	switch {
	case c.Policy != "":
		return lastPolicy(c.Policy)
	case c.Rewards == "off":
		return policy.Policy{}, nil
	case c.Rewards == "on":
		return r.Resumed(out.ctx)
	}
	return policy.Newest(), nil
}

const (
	triedDays = 7
	triedRows = 3_000_000
)

// tryOnPast shows what the last closed days would have paid under a policy: all of triedDays,
// unless they have too many rows.
func tryOnPast(out *console, r *closing.Closer, p policy.Policy) error {
	v, err := r.View(out.ctx, nil)
	if err != nil || !v.Begun || v.First <= v.Since {
		return err
	}
	q := closing.ReplayQuery{From: max(v.First-triedDays, v.Since), To: v.First - 1, Policy: &p, MaxRows: triedRows}
	replay, err := replayWithProgress(out, r, q)
	if beacon.KindOf(err) == beacon.Conflict {
		q.From, q.MaxRows = q.To, 0
		replay, err = replayWithProgress(out, r, q)
	}
	if err != nil {
		return err
	}
	fmt.Fprint(out.stdout, "\ntried on the past, ")
	return showReplay(out.stdout, replay, 5)
}

// showAdoption prints what an adoption did or would do.
func showAdoption(out io.Writer, a rewards.Adoption) error {
	verb := "this would put policy %d into force from %s on\n"
	if a.Confirmed {
		verb = "policy %d is in force from %s on\n"
	}
	fmt.Fprintf(out, verb, a.Policy.Version, a.Policy.From)
	table := newTable(out, fmt.Sprintf("\tPOLICY %d\tPOLICY %d", a.Before.Version, a.Policy.Version))
	row := func(name string, of func(*policy.Policy) any) {
		fmt.Fprintf(table, "%s\t%v\t%v\n", name, of(&a.Before), of(&a.Policy))
	}
	row("pays", func(p *policy.Policy) any {
		if p.Off() {
			return "nothing: rewards are off"
		}
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
	row("standing", func(p *policy.Policy) any {
		switch p.Counts() {
		case beacon.InMinutes:
			return fmt.Sprintf("minutes, %d a day", p.StandingADay)
		case beacon.InDays:
			return "days"
		}
		return "none"
	})
	row("never visited", func(p *policy.Policy) any {
		if p.Counts() == beacon.InMinutes {
			return "nothing"
		}
		return "as without proof"
	})
	if err := table.Flush(); err != nil || a.ProvenBefore == 0 {
		return err
	}
	_, err := fmt.Fprintf(out, "places that hotspots had before count as proven through %s: visit them by then\n", a.ProvenBefore-1)
	return err
}
