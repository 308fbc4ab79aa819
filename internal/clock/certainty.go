package clock

import "time"

// A clock that is ahead of what is certain may be wrong, or the machine was off or
// suspended in between: nobody can tell the two apart from within. So a clock is
// believed once it has run steadily, for the longer the farther it is ahead, and beyond
// mostAhead only if staff say what day it is. Who is away for a night or a weekend
// needs nobody; a clock that is wrong for some hours decides nothing.
const (
	aLittleAhead = 15 * time.Minute
	aDayAhead    = 24 * time.Hour

	// mostAhead is how far ahead a clock can be and yet be believed without staff.
	mostAhead = 4 * 24 * time.Hour
)

// waitFor returns for how long a clock that is ahead of what is certain must run steadily
// to be believed. It returns false if no time is long enough.
func waitFor(ahead time.Duration) (steady time.Duration, enough bool) {
	switch {
	case ahead <= aLittleAhead:
		return SteadyFor, true
	case ahead <= aDayAhead:
		return SteadyForLong, true
	case ahead <= mostAhead:
		return 8 * time.Hour, true // a working day, in which someone may see the warning
	}
	return 0, false
}

// certainty tracks the latest moment that has certainly come. From one that is known,
// it goes on by the machine's monotonic clock, which nobody sets. The zero value knows
// of none.
type certainty struct {
	certain time.Time
	machine time.Time // the last call of At, by the machine's clock
}

// Know says that a moment is past.
func (c *certainty) Know(certain time.Time) {
	if certain.After(c.certain) {
		c.certain = certain.Round(0)
	}
}

// Set corrects what is certain, to an earlier or a later moment.
func (c *certainty) Set(certain time.Time) {
	c.certain = certain.Round(0)
}

// At returns the latest moment that has certainly come, or the zero time. now is the
// time of the clock, machine the machine's at the same moment, and rate how much faster
// the clock runs than the machine's. What is certain follows the slower of the two, and
// never overtakes now: a clock may stand still.
func (c *certainty) At(now, machine time.Time, rate float64) time.Time {
	now = now.Round(0)
	passed := time.Duration(0)
	if c.machine.IsZero() {
		c.machine = machine
	}
	if machine.After(c.machine) { // callers may overtake each other
		passed = time.Duration(float64(machine.Sub(c.machine)) * rate)
		c.machine = machine
	}
	if c.certain.IsZero() || !now.After(c.certain) {
		return c.certain
	}
	if c.certain = c.certain.Add(passed); c.certain.After(now) {
		c.certain = now
	}
	return c.certain
}
