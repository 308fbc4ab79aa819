// Package clock tells how far a clock can be believed.
package clock

import (
	"math"
	"sync"
	"time"
)

// tolerance is how far a clock may run off from the machine's monotonic one, from
// the start of its even time on, before it counts as set by someone.
const tolerance = 30 * time.Second

// Steadiness tells for how long a clock has run evenly. The zero value is ready.
// It is safe for concurrent use.
type Steadiness struct {
	mu    sync.Mutex
	since time.Time // when the even time began, by the clock
	real  time.Time // the same moment, by the machine's
	begun int       // how often it began
}

// At takes a look, and answers for how long the clock has run evenly beside the
// machine's, by its own time. Now is what the clock says, real is what the
// machine's says at the same moment, and rate is how much faster the clock runs
// than that one. What counts is how far it has come since the even time began,
// not since the last look: a clock that runs off a little with each look is not
// even. Of a clock whose rate nobody knows, 0, nothing can be told: it is
// believed for ever.
func (s *Steadiness) At(now, real time.Time, rate float64) time.Duration {
	if rate == 0 {
		return math.MaxInt64
	}
	now = now.Round(0) // by the wall: the machine's clock is what it is compared with
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

// Begun is how often the even time began: with the first look, and with each that
// found that the clock had been set.
func (s *Steadiness) Begun() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}
