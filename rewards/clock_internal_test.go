package rewards

import (
	"testing"
	"time"
)

// TestSteadiness: a clock is believed once it ran evenly for ten minutes, and a
// jump in either direction begins them anew.
func TestSteadiness(t *testing.T) {
	for _, rate := range []float64{1, 60, 3600, 0.5} {
		for _, jumped := range []time.Duration{0, time.Hour, -time.Hour, 40 * 24 * time.Hour, -40 * 24 * time.Hour} {
			jumped = time.Duration(float64(jumped) * max(rate, 1))
			var s steadiness
			clock, real := time.Date(2026, 10, 31, 23, 55, 0, 0, time.UTC), time.Now()
			believed := false
			for second := range 4000 {
				if second == 100 {
					clock = clock.Add(jumped)
				}
				even := time.Duration(second) * time.Second
				if jumped != 0 && second >= 100 {
					even -= 100 * time.Second
				}
				believed = s.at(clock, real, rate)
				if want := time.Duration(float64(even)*rate) >= steadyFor; believed != want {
					t.Fatalf("rate %v, jump of %s, second %d: believed %v; want %v", rate, jumped, second, believed, want)
				}
				clock, real = clock.Add(time.Duration(float64(time.Second)*rate)), real.Add(time.Second)
			}
			if rate >= 1 && !believed {
				t.Errorf("rate %v: never believed", rate)
			}
		}
	}
	if s := (steadiness{}); !s.at(time.Now(), time.Now(), 0) {
		t.Error("a clock that tests set is not believed")
	}
}
