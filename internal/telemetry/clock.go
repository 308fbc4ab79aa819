package telemetry

import (
	"math"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

const (
	// steadyFor is how long the clock must have run evenly before it is believed:
	// what is decided by a clock that was wrong for a moment stays decided.
	steadyFor = 10 * time.Minute

	// warnEvery is how often the same trouble is told.
	warnEvery = time.Hour
)

// certainty is how far the clock can be believed.
type certainty struct {
	mu     sync.Mutex
	even   clock.Steadiness
	begun  int              // how often even had begun at the last look
	last   heartbeat.Minute // the last look
	upTo   time.Time        // the last at which the clock was believed; zero: never yet
	steady bool             // it was believed at the last look
	back   bool             // it went back, and has not been believed since
	warned time.Time        // by the machine's clock
}

// look is what a look at the clock finds.
type look struct {
	now    time.Time
	steady bool      // it is believed
	upTo   time.Time // the latest moment that is certain: now, if it is believed
}

// strange reports whether the clock says another day than when it was last
// believed: for a million hotspots days would begin that have not come.
func (l look) strange() bool {
	return !l.steady && !l.upTo.IsZero() && heartbeat.MinuteOf(l.now).Day() != heartbeat.MinuteOf(l.upTo).Day()
}

// look sees what time it is and whether that can be believed. It is taken each
// second, and by every fold with the very time that it uses.
func (t *Telemetry) look() look {
	c := &t.certainty
	c.mu.Lock()
	defer c.mu.Unlock()
	now, real := t.Now(), t.machine()
	steady := c.even.At(now, real, t.Rate) >= steadyFor
	if c.steady = steady; steady {
		c.upTo = now
	}
	if begun := c.even.Begun(); begun != c.begun {
		if c.begun > 0 {
			t.suspicions.raise() // records may be of now that memory took for others
			t.warnOfClock(now, real)
		}
		c.begun = begun
	}
	minute := heartbeat.MinuteOf(now)
	if minute < c.last {
		t.suspicions.raise()
		t.finals.forget() // a day that was over may not be any more
	}
	if minute < c.last || c.back && steady {
		t.goBack(now, steady)
	}
	c.last = minute
	return look{now, steady, c.upTo}
}

// goBack tells memory that nobody was heard after now. Days after today are
// forgotten only once it is certain that they have not come: it may be now that
// is wrong, and they hold beats that were acknowledged.
func (t *Telemetry) goBack(now time.Time, steady bool) {
	c := &t.certainty
	keep := heartbeat.MinuteOf(c.upTo).Day()
	if c.upTo.IsZero() {
		keep = math.MaxInt32
	}
	if t.Table.ClockBack(now, keep) {
		t.suspicions.raise()
	}
	c.back = !steady
}

func (t *Telemetry) warnOfClock(now, real time.Time) {
	c := &t.certainty
	if !c.warned.IsZero() && real.Sub(c.warned) < warnEvery {
		return
	}
	c.warned = real
	t.Log.Warn("the clock was set, or does not run evenly; no minute is decided until it has done so for a while",
		"now", now, "while", steadyFor, "decided", c.upTo)
}

// startClock ends the start of the process: nobody was heard in the future,
// whatever the clock was before.
func (t *Telemetry) startClock() {
	l := t.look()
	t.certainty.mu.Lock()
	defer t.certainty.mu.Unlock()
	t.goBack(l.now, l.steady)
}
