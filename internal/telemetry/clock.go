package telemetry

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

const (
	// steadyFor is how long the clock must have run steadily before it is trusted: what
	// is decided by a clock that was wrong for a moment stays decided.
	steadyFor = 10 * time.Minute

	// warnEvery is how often the same problem is logged.
	warnEvery = time.Hour
)

// trust is how far the clock can be trusted.
type trust struct {
	mu         sync.Mutex
	steadiness clock.Steadiness
	begun      int           // steadiness.Begun at the last check
	last       atomic.Int64  // the minute of the last check
	upTo       time.Time     // when the clock was last trusted; zero: never yet
	steady     bool          // it was trusted at the last check
	back       bool          // it went back, and has not been trusted since
	backTo     beacon.Minute // where it last went back to, or was at the start
	backs      int           // how often memory was cut for it
	warned     time.Time     // the last warning, by the machine's clock
}

// reading is the result of a check of the clock.
type reading struct {
	now    time.Time
	steady bool          // it is trusted
	upTo   time.Time     // the latest moment that is certain: now, if it is trusted and no witness is behind it
	latest beacon.Minute // the last that has come by any witness
	backTo beacon.Minute
	backs  int
}

// strange reports whether the clock shows another day than what is certain: days that
// have not come would begin for a million hotspots.
func (r reading) strange() bool {
	return !r.upTo.IsZero() && beacon.MinuteOf(r.now).Day() != beacon.MinuteOf(r.upTo).Day()
}

// read reads the clock and checks whether it can be trusted. It is called every second,
// and by every fold, which uses the time that was checked.
func (t *Telemetry) read() reading {
	c := &t.trust
	c.mu.Lock()
	defer c.mu.Unlock()
	now, real := t.Now(), t.machine()
	certain, latest, known := t.certain(now)
	steady := c.steadiness.At(now, real, t.Rate) >= steadyFor && known
	if c.steady = steady; steady {
		c.upTo = certain
	}
	if begun := c.steadiness.Begun(); begun != c.begun {
		if c.begun > 0 {
			t.suspicions.raise() // memory may have taken records of now for others
			t.warnOfClock(now, real)
		}
		c.begun = begun
	}
	minute := beacon.MinuteOf(now)
	last := beacon.Minute(c.last.Load())
	if minute < last {
		t.suspicions.raise()
		t.finals.forget()   // a day that was over may not be any more
		t.cursors.restart() // memory may have taken beats of it for late ones
		c.backTo = minute
	}
	if minute < last || c.back && steady {
		t.goBack(now, steady)
	}
	c.last.Store(int64(minute))
	return reading{now, steady, c.upTo, beacon.MinuteOf(latest), c.backTo, c.backs}
}

// noticeBack returns the time, and reads the clock if it was set back since it was last
// read. It is called before anything that depends on what memory has of the time before:
// heartbeats, and when the service was up. So it does not matter what comes first after the
// clock was set.
func (t *Telemetry) noticeBack() (now time.Time) {
	now = t.Now()
	if int64(beacon.MinuteOf(now)) < t.trust.last.Load() {
		t.read()
	}
	return now
}

// certain returns the latest moment up to now that has come by every witness, the latest
// that has come by any, and whether they are known. The first does not go back while the
// clock goes on.
func (t *Telemetry) certain(now time.Time) (certain, latest time.Time, known bool) {
	if t.Certain == nil {
		return now, now, true
	}
	certain, latest, known = t.Certain()
	return beacon.Earlier(beacon.Later(certain, t.trust.upTo), now), beacon.Later(latest, now), known
}

// goBack makes memory forget that any hotspot was seen after now. Days after today are
// dropped only once it is certain that they have not come: now may be what is wrong,
// and they hold acknowledged beats.
func (t *Telemetry) goBack(now time.Time, steady bool) {
	c := &t.trust
	keep := beacon.MinuteOf(c.upTo)
	if c.upTo.IsZero() {
		keep = beacon.LastMinute
	}
	if t.Fleet.ClockBack(now, keep) {
		t.suspicions.raise()
	}
	c.back = !steady
	c.backs++
}

// unlessBack calls fold unless the clock went back since a reading, and reports whether
// it did. Memory has then forgotten what is in records, and must not replace them.
func (t *Telemetry) unlessBack(since reading, fold func()) bool {
	t.trust.mu.Lock()
	defer t.trust.mu.Unlock()
	if t.trust.backs != since.backs {
		return false
	}
	fold()
	return true
}

func (t *Telemetry) warnOfClock(now, real time.Time) {
	c := &t.trust
	if real.Sub(c.warned) < warnEvery {
		return
	}
	c.warned = real
	t.Log.Warn("the clock was set or does not run evenly; no minute is decided until it has run evenly for a while",
		"now", now, "while", steadyFor, "decided", c.upTo)
}

// startClock ends the startup: no hotspot was seen in the future, whatever the clock
// was before.
func (t *Telemetry) startClock() {
	r := t.read()
	t.trust.mu.Lock()
	defer t.trust.mu.Unlock()
	t.trust.backTo = beacon.MinuteOf(r.now)
	t.goBack(r.now, r.steady)
}

// byClock is who corrects times of a clock that was ahead.
var byClock = beacon.Actor{Request: "clock", Note: "it was changed while a clock was ahead; its times are set right"}

// setRight corrects the times of hotspots that were changed while a clock was ahead:
// otherwise one that was linked then would be in service only from that time on (decision
// D114). It is called before minutes are decided by a clock that is right again.
func (t *Telemetry) setRight(ctx context.Context, clock reading) error {
	t.changed = beacon.Later(t.changed, t.Fleet.TakeChangedAt())
	latest := (clock.latest + heartbeat.FinalLag).Time()
	if t.Rate == 0 || !clock.steady || !t.changed.After(latest) {
		return nil
	}
	right := clock.backTo
	if t.decided <= beacon.MinuteOf(clock.upTo) { // otherwise by the clock that was ahead
		right = max(right, t.decided)
	}
	ids, err := t.Store.HotspotsChangedAfter(ctx, latest)
	if err != nil {
		return err
	}
	for _, id := range ids {
		h, err := t.Store.UpdateHotspot(ctx, id, byClock, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
			return h.SetRight(latest, right.Time()), nil
		})
		if beacon.KindOf(err) == beacon.NotFound {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return err
		}
		if err := t.Fleet.Apply(h); err != nil {
			return err
		}
	}
	if clock.latest <= beacon.MinuteOf(clock.upTo)+heartbeat.FinalLag { // otherwise a clock is ahead: what was changed by it is not right yet
		t.changed = time.Time{}
	}
	return nil
}
