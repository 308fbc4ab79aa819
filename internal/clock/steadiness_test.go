package clock

import (
	"math"
	"testing"
	"time"
)

var evening = time.Date(2026, 10, 31, 23, 55, 0, 0, time.UTC)

// Even time is counted from the last jump on, in either direction, by the
func TestSteadiness(t *testing.T) {
	for _, rate := range []float64{1, 60, 3600, 0.5} {
		for _, jumped := range []time.Duration{0, 29 * time.Second, 31 * time.Second, time.Hour, -29 * time.Second, -31 * time.Second, -time.Hour, -40 * 24 * time.Hour} {
			jumped = time.Duration(float64(jumped) * max(rate, 1))
			tolerated := time.Duration(math.Abs(float64(jumped))/max(rate, 1)) <= 30*time.Second
			var s steadiness
			now, machine := evening, time.Now()
			since, begun := now, 1
			for second := range 2000 {
				if second == 100 {
					if now = now.Add(jumped); !tolerated {
						since, begun = now, 2
					}
				}
				if got, want := s.At(now, machine, rate), now.Sub(since); got != max(want, 0) {
					t.Fatalf("rate %v, jump of %s, second %d: even for %s; want %s", rate, jumped, second, got, want)
				}
				now, machine = now.Add(time.Duration(float64(time.Second)*rate)), machine.Add(time.Second)
			}
			if got := s.Begun(); got != begun {
				t.Errorf("rate %v, jump of %s: begun %d times; want %d", rate, jumped, got, begun)
			}
		}
	}
}

// A clock that runs too fast or too slow runs off a little with each look, and
// is never even for long.
func TestSteadiness_RunsOff(t *testing.T) {
	for _, speed := range []float64{25, 1.06, 0.94, 0, -1} {
		var s steadiness
		now, machine := evening, time.Now()
		for second := range 3600 {
			if even := s.At(now, machine, 1); even >= 10*time.Minute {
				t.Fatalf("at %v times the speed, even for %s after %d seconds", speed, even, second)
			}
			now, machine = now.Add(time.Duration(float64(time.Second)*speed)), machine.Add(time.Second)
		}
	}
}

func TestSteadiness_NobodyKnowsTheRate(t *testing.T) {
	var s steadiness
	for _, now := range []time.Time{evening, evening.AddDate(1, 0, 0), evening} {
		if even := s.At(now, time.Now(), 0); even != math.MaxInt64 {
			t.Errorf("even for %s", even)
		}
	}
}
