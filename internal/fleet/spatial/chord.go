package spatial

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// A search compares squared chords, because a distance costs ten times as much. But
// distances are rounded to the micrometre, and equal ones are ordered by ID. So
// chords decide only where they differ by more than the slack; otherwise the
// distances do.

// step is two micrometres in radii of the Earth: two places whose chords differ by
// more are never equally far after rounding. The noise of a chord, a part in 10^16,
// is far below it.
const step = 2e-6 / geo.EarthRadius

// slack returns how much a squared chord grows with a step.
func slack(chordSquared float64) float64 {
	return step * (2*math.Sqrt(chordSquared) + step)
}

// notBeyond returns a squared chord that no place within the radius exceeds (an arc
// is longer than its chord), and the slack there.
func notBeyond(radius float64) (bound, tie float64) {
	arc := min(radius/geo.EarthRadius, math.Pi)
	tie = slack(arc * arc)
	return arc*arc + tie, tie
}

// surelyWithin returns a squared chord below which every place is within the radius.
// Beyond a quarter of the Earth's circumference no chord is proof of that.
func surelyWithin(radius float64) float64 {
	const quarter = math.Pi / 2
	arc := min(radius/geo.EarthRadius, quarter) - step
	if arc <= 0 {
		return -1
	}
	chord := 2 * math.Sin(arc/2)
	return chord * chord
}
