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

// warnEvery is how often the same problem is logged.
const warnEvery = time.Hour

// clockSeen is what telemetry has seen of the clock, and how it reacted.
type clockSeen struct {
	mu          sync.Mutex    // also held while memory is cut or folded, so that only one of them happens
	sets, backs int           // of the last reading
	last        atomic.Int64  // its minute
	back        bool          // the clock went back, and has not been trusted since
	backTo      beacon.Minute // where it last went back to, or was at the start
	cuts        int           // how often memory was cut for it
}

// reading is a reading of the clock to which memory was adapted.
type reading struct {
	clock.Reading
	minute beacon.Minute // of Now
	latest beacon.Minute // the last that has begun by any witness
	backTo beacon.Minute
	cuts   int
}

// strange reports whether the clock shows another day than what is certain: days that
// have not come would begin for a million hotspots.
func (r reading) strange() bool {
	return !r.UpTo.IsZero() && r.minute.Day() != beacon.MinuteOf(r.UpTo).Day()
}

// read reads the clock, and reacts if it was set or went back. It is called every second,
// and by every fold, which uses the time that was checked.
func (t *Telemetry) read() reading {
	c := &t.clockSeen
	c.mu.Lock()
	defer c.mu.Unlock()
	r := t.Clock.Read()
	set, back := r.Sets != c.sets, r.Backs != c.backs
	c.sets, c.backs = r.Sets, r.Backs
	if set {
		t.suspicions.raise() // memory may have taken records of now for others
	}
	if back {
		t.suspicions.raise()
		t.finals.forget()   // a day that was over may not be any more
		t.cursors.restart() // memory may have taken beats of it for late ones
		c.backTo = beacon.MinuteOf(r.BackTo)
	}
	if back || c.back && r.Trusted {
		t.goBack(r)
	}
	minute := beacon.MinuteOf(r.Now)
	c.last.Store(int64(minute))
	return reading{r, minute, beacon.MinuteOf(r.Latest), c.backTo, c.cuts}
}

// noticeBack returns the time, and reads the clock if it was set back since it was last
// read. It is called before anything that depends on what memory has of the time before:
// heartbeats, and when the service was up. So it does not matter what comes first after the
// clock was set.
func (t *Telemetry) noticeBack() (now time.Time) {
	now = t.Clock.Now()
	if int64(beacon.MinuteOf(now)) < t.clockSeen.last.Load() {
		t.read()
	}
	return now
}

// goBack makes memory forget that any hotspot was seen after now. Days after today are
// dropped only once it is certain that they have not come: now may be what is wrong,
// and they hold acknowledged beats.
func (t *Telemetry) goBack(r clock.Reading) {
	keep := beacon.MinuteOf(r.UpTo)
	if r.UpTo.IsZero() {
		keep = beacon.LastMinute
	}
	if t.Fleet.ClockBack(r.Now, keep) {
		t.suspicions.raise()
	}
	t.clockSeen.back = !r.Trusted
	t.clockSeen.cuts++
}

// foldUnlessBack folds some hotspots in memory, unless the clock went back since a reading,
// and reports whether it did. Memory has then forgotten what is in records, and must not
// replace them.
func (t *Telemetry) foldUnlessBack(
	since reading, ids []beacon.HotspotID, at heartbeat.Moment,
) (rows []beacon.RecordRow, finish func(written bool), folded bool) {
	t.clockSeen.mu.Lock()
	defer t.clockSeen.mu.Unlock()
	if t.clockSeen.cuts != since.cuts {
		return nil, nil, false
	}
	at.Latest = t.latest(since)
	rows, finish = t.Fleet.Fold(ids, at)
	return rows, finish, true
}

// startClock ends the startup: no hotspot was seen in the future, whatever the clock
// was before.
func (t *Telemetry) startClock() {
	r := t.read()
	t.clockSeen.mu.Lock()
	defer t.clockSeen.mu.Unlock()
	t.clockSeen.backTo = r.minute
	t.goBack(r.Reading)
}

// byClock is who corrects times of a clock that was ahead.
var byClock = beacon.Actor{Request: "clock", Note: "it was changed while a clock was ahead; its times are set right"}

// setRight corrects the times of hotspots that were changed while a clock was ahead:
// otherwise one that was linked then would be in service only from that time on (decision
// D114). It is called before minutes are decided by a clock that is right again.
func (t *Telemetry) setRight(ctx context.Context, at reading) error {
	t.changed = beacon.Later(t.changed, t.Fleet.TakeChangedAt())
	latest := (at.latest + heartbeat.FinalLag).Time()
	if t.Clock.Rate() == 0 || !at.Trusted || !t.changed.After(latest) {
		return nil
	}
	right := at.backTo
	if t.decided <= beacon.MinuteOf(at.UpTo) { // otherwise by the clock that was ahead
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
	if at.latest <= beacon.MinuteOf(at.UpTo)+heartbeat.FinalLag { // otherwise a clock is ahead: what was changed by it is not right yet
		t.changed = time.Time{}
	}
	return nil
}
