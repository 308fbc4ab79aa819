package main

import "time"

// clockFlags is the flags of a simulated clock, for tests and demonstrations (decision
// C1).
type clockFlags struct {
	ClockStart time.Time `placeholder:"TIME" help:"Start the clock at this time (RFC 3339). For tests and demos."`
	ClockRate  float64   `default:"1" help:"How many seconds the clock advances in one second. Default ${default}. For tests and demos."`
}

// simulated reports whether the clock is not the machine's.
func (c clockFlags) simulated() bool { return !c.ClockStart.IsZero() || c.ClockRate != 1 }

// now returns the clock of all data.
func (c clockFlags) now() (func() time.Time, error) {
	if !(c.ClockRate > 0) {
		return nil, usageError("--clock-rate must be greater than 0")
	}
	if !c.simulated() {
		return time.Now, nil
	}
	began, start := time.Now(), c.ClockStart
	if start.IsZero() {
		start = began
	}
	return func() time.Time {
		return start.Add(time.Duration(float64(time.Since(began)) * c.ClockRate))
	}, nil
}
