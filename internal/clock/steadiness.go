package clock

import (
	"math"
	"time"
)

// tolerance is how far a clock may drift from the machine's monotonic one, from the
// start of its steady period on, before it counts as set by someone.
const tolerance = 30 * time.Second

// steadiness measures for how long a clock has run steadily. The zero value is ready to
// use.
type steadiness struct {
	since   time.Time // start of the steady period, by the clock
	machine time.Time // the same moment, by the machine's clock
	begun   int       // number of steady periods
}

// At returns for how long the clock has run steadily beside the machine's, by its own
// time. now is the time of the clock, machine the machine's at the same moment, and rate
// how much faster the clock runs than the machine's. Drift counts from the start of the
// steady period, not from the last call: a clock that drifts a little with each call is
// not steady. Nothing is known about a clock of unknown rate, 0: it is always trusted.
func (s *steadiness) At(now, machine time.Time, rate float64) time.Duration {
	if rate == 0 {
		return math.MaxInt64
	}
	now = now.Round(0) // wall clock only: the monotonic one is what it is compared with
	passed := now.Sub(s.since)
	if s.since.IsZero() || WasSet(passed, machine.Sub(s.machine), rate) {
		s.since, s.machine = now, machine
		s.begun++
		return 0
	}
	return max(passed, 0)
}

// WasSet reports whether a clock of a rate was set while time elapsed: it says that
// something else did. Nobody can tell of one of unknown rate, 0.
func WasSet(passed, elapsed time.Duration, rate float64) bool {
	return rate > 0 && math.Abs(float64(passed)-float64(elapsed)*rate) > float64(tolerance)*max(rate, 1)
}

// Begun returns how many steady periods have begun: one with the first call of At, and
// one with each that found that the clock had been set.
func (s *steadiness) Begun() int {
	return s.begun
}
