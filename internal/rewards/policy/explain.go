package policy

import "github.com/beacon-wifi/beacon/internal/beacon"

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

// The reasons, in the order in which they are listed. Closed, excused and outside
// minutes cost nothing as long as the day has others; a day with nothing else earns no
// availability. If our own outage is among them, it is what cost the day: without it,
// minutes would have been expected, and those alone are paid (decision D100).
const (
	Offline Reason = "offline"
	Closed  Reason = "closed"
	Excused Reason = "excused"
	Outside Reason = "not_in_service"
	Slow    Reason = "tier"
	Capped  Reason = "cap"
)

// Explain returns what a day could have earned, and what became of it. The potential
// is a day served in every expected minute, at the best tier, and paid for all
// traffic carried.
func (p *Policy) Explain(f beacon.Facts) Account {
	best := p.Performance[beacon.Premium]
	a := Account{
		Potential: beacon.Earned{
			Availability: p.Availability,
			Performance:  share(p.Availability, best),
			Utilization:  p.carried(f.Bytes),
		},
		Earned: p.Reward(f),
	}
	reached := share(a.Earned.Availability, best) // at the best tier, in the minutes that were served
	missing := beacon.Earned{
		Availability: a.Potential.Availability - a.Earned.Availability,
		Performance:  a.Potential.Performance - reached,
	}
	if f.Expected == 0 {
		a.Losses = unexpected(f, missing)
	} else {
		a.Losses = []Loss{
			{Offline, f.Expected - f.Served, missing},
			{Reason: Closed, Minutes: f.Closed},
			{Reason: Excused, Minutes: f.Excused},
			{Reason: Outside, Minutes: f.Outside},
		}
	}
	a.Losses = told(append(a.Losses,
		Loss{Reason: Slow, Amount: beacon.Earned{Performance: reached - a.Earned.Performance}},
		Loss{Reason: Capped, Amount: beacon.Earned{Utilization: a.Potential.Utilization - a.Earned.Utilization}}))
	return a
}

// told drops losses with neither minutes nor money.
func told(losses []Loss) []Loss {
	kept := losses[:0]
	for _, l := range losses {
		if l != (Loss{Reason: l.Reason}) {
			kept = append(kept, l)
		}
	}
	return kept
}

// unexpected splits the loss of a day without expected minutes among the reasons for
// that, in proportion to their minutes. All of it is the outage's if there was one.
func unexpected(f beacon.Facts, missing beacon.Earned) []Loss {
	if f.Excused > 0 {
		return []Loss{{Reason: Closed, Minutes: f.Closed}, {Excused, f.Excused, missing}, {Reason: Outside, Minutes: f.Outside}}
	}
	minutes := [2]int{f.Closed, f.Outside}
	availability, performance := spread(missing.Availability, minutes), spread(missing.Performance, minutes)
	losses := make([]Loss, 0, len(minutes)+2)
	for i, reason := range [...]Reason{Closed, Outside} {
		losses = append(losses, Loss{reason, minutes[i], beacon.Earned{Availability: availability[i], Performance: performance[i]}})
	}
	return losses
}

// spread splits an amount in proportion to minutes, so that the parts add up to it: the
// first is rounded to the nearest millionth. Without any minutes all of it goes to the
// second: the day has not begun.
func spread(amount beacon.Amount, minutes [2]int) (parts [2]beacon.Amount) {
	if all := beacon.Amount(minutes[0] + minutes[1]); all > 0 {
		parts[0] = (amount*beacon.Amount(minutes[0]) + all/2) / all
	}
	parts[1] = amount - parts[0]
	return parts
}
