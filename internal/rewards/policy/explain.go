package policy

import (
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Account shows how what a day could have earned became what it earned: Potential
// equals Earned plus Losses, exactly.
type Account struct {
	Potential beacon.Earned
	Losses    []Loss
	Earned    beacon.Earned
}

// Loss is a part of the potential that was not earned.
type Loss struct {
	Reason  Reason
	Minutes int // that the loss covers; 0 if it is not about minutes
	Amount  beacon.Earned
}

// Reason says why something was not earned.
type Reason string

// The reasons, in the order in which a policy that pays devices lists them. Under it,
// closed, excused and outside minutes cost nothing as long as the day has others; a day
// with nothing else earns no availability. If our own outage is among them, it is what
// cost the day: without it, minutes would have been expected, and those alone are paid
// (decision D100). A policy that pays places lists Outside first and has Shared and
// Unproven before Slow.
const (
	Offline  Reason = "offline"
	Closed   Reason = "closed"
	Excused  Reason = "excused"
	Outside  Reason = "not_in_service"
	Shared   Reason = "shared"
	Unproven Reason = "unproven"
	Slow     Reason = "tier"
	Capped   Reason = "cap"
)

// Explain returns what a day could have earned, and why it earned less. Under a policy
// that pays devices the potential is a day served in every expected minute, and under one
// that pays places a day that was the hotspot's own in every minute decided; at the best
// tier, and paid for all traffic carried.
func (p *Policy) Explain(f beacon.Facts) Account {
	of := p.ofDevices
	if p.PaysPlaces() {
		of = p.ofPlaces
	}
	potential, losses, reached := of(f)
	potential.Utilization = p.carried(f.Bytes)
	a := Account{Potential: potential, Earned: p.Reward(f)}
	a.Losses = append(losses,
		Loss{Reason: Slow, Amount: beacon.Earned{Performance: reached - a.Earned.Performance}},
		Loss{Reason: Capped, Amount: beacon.Earned{Utilization: a.Potential.Utilization - a.Earned.Utilization}})
	a.Losses = slices.DeleteFunc(a.Losses, func(l Loss) bool { return l == Loss{Reason: l.Reason} }) // neither minutes nor money
	return a
}

// ofDevices is ofPlaces for a policy that pays devices.
func (p *Policy) ofDevices(f beacon.Facts) (potential beacon.Earned, losses []Loss, reached beacon.Amount) {
	best, available := p.Performance[beacon.Premium], p.available(f)
	potential = beacon.Earned{Availability: p.Availability, Performance: share(p.Availability, best)}
	reached = share(available, best)
	missing := beacon.Earned{Availability: potential.Availability - available, Performance: potential.Performance - reached}
	if f.Expected == 0 {
		return potential, unexpected(f, missing), reached
	}
	return potential, []Loss{
		{Offline, f.Expected - f.Served, missing},
		{Reason: Closed, Minutes: f.Closed},
		{Reason: Excused, Minutes: f.Excused},
		{Reason: Outside, Minutes: f.Outside},
	}, reached
}

// unexpected splits the loss of a day without expected minutes among the reasons for
// that, in proportion to their minutes. All of it is the outage's if there was one.
func unexpected(f beacon.Facts, missing beacon.Earned) []Loss {
	if f.Excused > 0 {
		return []Loss{{Reason: Closed, Minutes: f.Closed}, {Excused, f.Excused, missing}, {Reason: Outside, Minutes: f.Outside}}
	}
	availability, performance := spread(missing.Availability, f.Closed, f.Outside), spread(missing.Performance, f.Closed, f.Outside)
	return []Loss{
		{Closed, f.Closed, beacon.Earned{Availability: availability[0], Performance: performance[0]}},
		{Outside, f.Outside, beacon.Earned{Availability: availability[1], Performance: performance[1]}},
	}
}

// spread splits an amount in proportion to minutes, so that the parts add up to it: the
// first is rounded to the nearest millionth. Without any minutes all of it goes to the
// second: the day has not begun.
func spread(amount beacon.Amount, first, second int) (parts [2]beacon.Amount) {
	if all := beacon.Amount(first + second); all > 0 {
		parts[0] = (amount*beacon.Amount(first) + all/2) / all
	}
	parts[1] = amount - parts[0]
	return parts
}
