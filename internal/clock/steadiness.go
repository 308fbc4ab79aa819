// Package clock tells how far a clock can be believed: for how long it has run steadily,
// which moment has certainly come, and whether other clocks disagree. It reads none of
// them, and does not decide what follows: callers pass the times, and draw the
// conclusions. It also repeats work at intervals of real time.
//
// Its one invariant: as time passes, what is certain moves no faster than the machine's
// monotonic clock, and does not overtake the clock that is in question.
package clock

import (
	"math"
	"sync"
	"time"
)

// tolerance is how far a clock may drift from the machine's monotonic one, from the
// start of its steady period on, before it counts as set by someone.
const tolerance = 30 * time.Second

// Steadiness measures for how long a clock has run steadily. The zero value is ready to
// use. It is safe for concurrent use.
type Steadiness struct {
	mu    sync.Mutex
	since time.Time // start of the steady period, by the clock
	real  time.Time // the same moment, by the machine's clock
	begun int       // number of steady periods
}

// At returns for how long the clock has run steadily beside the machine's, by its own
// time. now is the time of the clock, real the machine's at the same moment, and rate
// how much faster the clock runs than the machine's. Drift counts from the start of the
// steady period, not from the last call: a clock that drifts a little with each call is
// not steady. Nothing is known about a clock of unknown rate, 0: it is always trusted.
func (s *Steadiness) At(now, real time.Time, rate float64) time.Duration {
	if rate == 0 {
		return math.MaxInt64
	}
	now = now.Round(0) // wall clock only: the monotonic one is what it is compared with
	s.mu.Lock()
	defer s.mu.Unlock()
	passed, truly := now.Sub(s.since), float64(real.Sub(s.real))*rate
	if s.since.IsZero() || math.Abs(float64(passed)-truly) > float64(tolerance)*max(rate, 1) {
		s.since, s.real = now, real
		s.begun++
		return 0
	}
	return max(passed, 0)
}

// Begun returns how many steady periods have begun: one with the first call of At, and
// one with each that found that the clock had been set.
func (s *Steadiness) Begun() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}
