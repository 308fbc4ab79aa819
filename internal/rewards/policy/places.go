package policy

import (
	"errors"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// The steps from the time that was decided to the time that is paid, under a policy that
// pays places. Each is what is left of the one before.
const (
	decided   = iota // all of the day so far
	inService        // without the time before it was verified and linked, or after
	open             // and without the hours in which it was closed
	expected         // excused time counts as the hotspot would have served it, from here on
	served           // the expected time that was served
	owned            // and only the share of the ground that was its own
	paid             // and only a share of that, without proof
	steps
)

// maxSpare is more than any outage leaves: it keeps sums far from overflowing.
const maxSpare = 1000 * maxCap

// whole is all of something that is counted in millionths.
const whole = 1_000_000

// left returns how much of a day's rate is left at each step, each rounded down to the
// millionth. No step is more than the one before, because an excused minute counts for a
// minute at most. Rates are limited, so the products stay inside 64 bits.
func (p *Policy) left(rate beacon.Amount, f beacon.Facts) (left [steps]beacon.Amount) {
	would := int64(f.Excused) * f.Recent // excused time at its own rate, of the time and the ground
	own := would
	if p.Counts() == beacon.InMinutes {
		would, own = f.Due, f.Due*f.Recent/whole
	}
	times := [...]int64{
		decided:   whole * int64(f.Outside+f.Closed+f.Excused+f.Expected),
		inService: whole * int64(f.Closed+f.Excused+f.Expected),
		open:      whole * int64(f.Excused+f.Expected),
		expected:  whole*int64(f.Expected) + would,
		served:    whole*int64(f.Served) + would,
		owned:     f.Own + own,
	}
	if f.Proof == 0 { // its ground is not divided: all is lost at the last step
		times[owned] = times[served]
	}
	for step, time := range times {
		left[step] = rate * beacon.Amount(time) / (beacon.MinutesADay * whole)
	}
	left[paid] = share(left[owned], beacon.Amount(f.Proof))
	return left
}

// Spare returns what is left, on the day after, of the most that traffic could have earned while
// our service was down: a device tells what it carried when it is heard again. Of the day on
// which an outage began it is the part of the outage, and it adds up until the hotspot serves.
func (p *Policy) Spare(f beacon.Facts, utilization beacon.Amount) beacon.Amount {
	if p.Counts() != beacon.InMinutes || f.Excused == 0 || f.Proof == 0 {
		return 0
	}
	left := p.left(p.Cap, f)[paid] + f.Spare - utilization
	outage := beacon.Facts{Expected: beacon.MinutesADay - f.Excused, Excused: f.Excused}
	outage.Ground = beacon.Ground{Due: f.Due, Recent: f.Recent, Proof: f.Proof}
	most := p.left(p.Cap, outage)[paid]
	if f.Served == 0 {
		most += f.Spare
	}
	return min(left, most)
}

// CheckGround returns an error if the ground of a hotspot cannot have been so. It names the
// first wrong field as a statement does.
func (p *Policy) CheckGround(f *beacon.Facts) error {
	if f.Counts != p.Counts() {
		return fmt.Errorf("the fields of the ground are not those of policy %d", p.Version)
	}
	if !p.PaysPlaces() {
		return nil
	}
	most := whole * int64(f.Served)
	switch inMinutes := p.Counts() == beacon.InMinutes; {
	case f.Own < 0 || f.Own > most:
		return fmt.Errorf("owned_minutes: is %s, but %d were served", beacon.Amount(f.Own), f.Served)
	case f.Recent < 0 || f.Recent > whole:
		return fmt.Errorf("recent_share: is %s, but must be from 0 to 1", beacon.Amount(f.Recent))
	case f.Due < 0 || f.Due > whole*int64(f.Excused):
		return fmt.Errorf("due_minutes: is %s, but %d were excused", beacon.Amount(f.Due), f.Excused)
	case f.Spare < 0 || f.Spare > maxSpare:
		return fmt.Errorf("spare_credits: is %s, but must be from 0 to %s", f.Spare, beacon.Amount(maxSpare))
	case f.Proof != whole && f.Proof != int64(p.Unproven) && (f.Proof != 0 || !inMinutes):
		return fmt.Errorf("proof: is %s, but must be 1 or %s", beacon.Amount(f.Proof), p.Unproven)
	case !f.Ground.OnEarth():
		return errors.New("place_lat_e7, place_lng_e7: there is no such place")
	case f.Proof == 0:
		if f.Own != 0 || f.Recent != 0 || f.Due != 0 || f.Spare != 0 || f.Shared != 0 || f.Older != 0 {
			return errors.New("proof: is 0, so nothing can be said of the ground")
		}
		return nil
	case f.Shared > f.Served:
		return fmt.Errorf("shared_minutes: is %d, but %d were served", f.Shared, f.Served)
	case (f.Shared > 0) != (f.Own < most) || (f.Shared > 0) != (f.Older > 0):
		return fmt.Errorf("shared_minutes is %d and shared_with is %d, but owned_minutes is %s of %d",
			f.Shared, f.Older, beacon.Amount(f.Own), f.Served)
	}
	return nil
}

// ofPlaces returns what a day could have earned under a policy that pays places, all but
// for traffic, what it lost on the way, and what would have been left at the best tier.
// Each loss is the difference between two steps.
func (p *Policy) ofPlaces(f beacon.Facts) (potential beacon.Earned, losses []Loss, reached beacon.Amount) {
	time, best := p.left(p.Availability, f), p.Performance[beacon.Premium]
	losses = []Loss{
		{Reason: Outside, Minutes: f.Outside},
		{Reason: Closed, Minutes: f.Closed},
		{Reason: Excused, Minutes: f.Excused},
		{Reason: Offline, Minutes: f.Expected - f.Served},
		{Reason: Shared, Minutes: f.Shared},
		{Reason: Unproven},
	}
	for i := range losses {
		losses[i].Amount = beacon.Earned{
			Availability: time[i] - time[i+1], Performance: share(time[i], best) - share(time[i+1], best),
		}
	}
	potential = beacon.Earned{Availability: time[decided], Performance: share(time[decided], best)}
	return potential, losses, share(time[paid], best)
}
