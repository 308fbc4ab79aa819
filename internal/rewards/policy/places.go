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
	expected         // excused time counts at the hotspot's own recent rate, from here on
	served           // the expected time that was served
	owned            // and only the share of the ground that was its own
	paid             // and only a share of that, without proof
	steps
)

// whole is all of something that is counted in millionths.
const whole = 1_000_000

// left returns how much of a day's rate is left at each step, each rounded down to the
// millionth. No step is more than the one before, because an excused minute counts for a
// minute at most. Rates are limited, so the products stay inside 64 bits.
func left(rate beacon.Amount, f beacon.Facts) (left [steps]beacon.Amount) {
	excused := int64(f.Excused) * f.Recent
	for step, time := range [...]int64{
		decided:   whole * int64(f.Outside+f.Closed+f.Excused+f.Expected),
		inService: whole * int64(f.Closed+f.Excused+f.Expected),
		open:      whole * int64(f.Excused+f.Expected),
		expected:  whole*int64(f.Expected) + excused,
		served:    whole*int64(f.Served) + excused,
		owned:     f.Own + excused,
	} {
		left[step] = rate * beacon.Amount(time) / (beacon.MinutesADay * whole)
	}
	left[paid] = share(left[owned], beacon.Amount(f.Proof))
	return left
}

// CheckGround returns an error if the ground of a hotspot cannot have been so. It names the
// first wrong field as a statement does.
func (p *Policy) CheckGround(f *beacon.Facts) error {
	if !p.PaysPlaces() {
		return nil
	}
	most := whole * int64(f.Served)
	switch {
	case f.Own < 0 || f.Own > most:
		return fmt.Errorf("owned_minutes: is %s, but %d were served", beacon.Amount(f.Own), f.Served)
	case f.Recent < 0 || f.Recent > whole:
		return fmt.Errorf("recent_share: is %s, but must be from 0 to 1", beacon.Amount(f.Recent))
	case f.Proof != whole && f.Proof != int64(p.Unproven):
		return fmt.Errorf("proof: is %s, but must be 1 or %s", beacon.Amount(f.Proof), p.Unproven)
	case !f.Ground.OnEarth():
		return errors.New("place_lat_e7, place_lng_e7: there is no such place")
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
	time, best := left(p.Availability, f), p.Performance[beacon.Premium]
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
