package harness

import (
	"fmt"
	"time"
)

// Clock is a simulated one, which goes on from one server to the next.
type Clock struct {
	At    time.Time // simulated, at some moment
	Real  time.Time // which was this
	Rate  int       // how much faster than ours it runs
	Began time.Time // what it said when the last server was started
	Until time.Time // it stands still from then on; zero: never
}

// NewClock makes a clock that says a time now.
func NewClock(at time.Time, rate int) *Clock { return &Clock{At: at, Real: time.Now(), Rate: rate} }

// Now returns what it says.
func (c *Clock) Now() time.Time {
	now := c.At.Add(time.Since(c.Real) * time.Duration(c.Rate))
	if !c.Until.IsZero() && now.After(c.Until) {
		return c.Until
	}
	return now
}

// Set sets it.
func (c *Clock) Set(at time.Time) { c.At, c.Real = at, time.Now() }

// Flags returns the flags that start a server at the time that it is now.
func (c *Clock) Flags() []string {
	c.Began = c.Now()
	return []string{"--clock-start", c.Began.Format(time.RFC3339Nano), "--clock-rate", fmt.Sprint(c.Rate)}
}

// Minute counts minutes since 1970.
type Minute int64

// MinuteOf returns the minute that a time is in.
func MinuteOf(t time.Time) Minute { return Minute(t.Unix() / 60) }
