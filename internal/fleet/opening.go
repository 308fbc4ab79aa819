package fleet

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// opening says when hotspots with certain operating hours are open. It remembers the
// last state it computed, so that nearly every request needs one atomic read.
type opening struct {
	hours beacon.Schedule
	// state has the minute it was computed for in its upper half; below that the minute
	// until which it lasts, and whether it is open as the last bit. 0 is never valid.
	state atomic.Uint64
}

// at reports whether a minute is open, and until when that stays so; see
// beacon.Schedule.StateAt.
func (o *opening) at(m beacon.Minute) (open bool, until beacon.Minute) {
	state := o.state.Load()
	from, until, open := beacon.Minute(state>>32), beacon.Minute(state>>1&uint64(beacon.LastMinute)), state&1 != 0
	if m >= from && m < until && (until < beacon.LastMinute || m < from+beacon.MinutesADay) {
		return open, until
	}
	open, until = o.hours.StateAt(m) // without a change it is computed daily: one may have come into sight
	state = uint64(m)<<32 | uint64(until)<<1
	if open {
		state |= 1
	}
	o.state.Store(state)
	return open, until
}

// openings has one opening for all hotspots with the same hours. One that no hotspot
// has any more is freed.
type openings struct {
	mu    sync.Mutex
	byKey map[string]weak.Pointer[opening]
}

// of returns the opening for hours, or nil if they are always open.
func (t *openings) of(hours *beacon.OperatingHours) *opening {
	if hours == nil {
		return nil
	}
	key := string(hours.AppendKey(nil))
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.byKey[key].Value(); o != nil {
		return o
	}
	schedule, _ := hours.Schedule() // a zone that is gone leaves it open: we cannot say when it is closed
	o := &opening{hours: schedule}
	t.byKey[key] = weak.Make(o)
	runtime.AddCleanup(o, t.forget, key)
	return o
}

func (t *openings) forget(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey[key].Value() == nil { // else it was created again
		delete(t.byKey, key)
	}
}

// OpenAt reports whether the hotspot is open at now by its operating hours, and until
// when that stays so. The time is zero if nothing changes within a year.
func (s *Hotspot) OpenAt(now time.Time) (open bool, until time.Time) { return s.opening.openAt(now) }

// Hours returns the operating hours of the hotspot, or nil if it is always open.
func (s *Hotspot) Hours() *beacon.Schedule {
	if s.opening == nil {
		return nil
	}
	return &s.opening.hours
}

// OpenAt is like that of a hotspot with these hours.
func (f *Fleet) OpenAt(hours *beacon.OperatingHours, now time.Time) (open bool, until time.Time) {
	return f.openings.of(hours).openAt(now)
}

func (o *opening) openAt(now time.Time) (open bool, until time.Time) {
	if o == nil {
		return true, time.Time{}
	}
	open, minute := o.at(beacon.MinuteOf(now))
	if minute == beacon.LastMinute {
		return open, time.Time{}
	}
	return open, minute.Time()
}
