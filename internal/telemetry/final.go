package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// followLag is within how many minutes of its arrival a beat is in a journal, if it
// ever is: it waits for a few times appendTimeout, and clocks differ a little.
const followLag = 3

// finals is which days are final: their records do not change any more.
type finals struct {
	mu     sync.Mutex
	token  int64 // of the lease under which they became final
	before beacon.Day
}

// set records that the days before one are final.
func (f *finals) set(token int64, before beacon.Day) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token != token {
		f.token, f.before = token, 0
	}
	f.before = max(f.before, before)
}

// forget leaves it to the next fold to find out which days are final.
func (f *finals) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.token, f.before = 0, 0
}

// under returns the day before which all are final, and whether they became so under a
// lease.
func (f *finals) under(token int64) (before beacon.Day, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.before, f.token == token
}

// finalAt returns the day before which a fold makes every day final, if it began at now
// and all journals had been followed up to a minute: no beat of those days can arrive
// any more. If that minute is after now, the clock was ahead, and when the journals
// were followed is unknown: no day is final.
func finalAt(now, followed beacon.Minute) beacon.Day {
	if followed > now {
		return 0
	}
	return min(heartbeat.FinalAt(now), (max(followed, followLag) - followLag).Day())
}

// FinalBefore returns the day before which every day has all its records on disk, and
// is final. It returns false if this process cannot know: it does not hold the lease,
// or has not folded since it does.
func (t *Telemetry) FinalBefore() (beacon.Day, bool) {
	held, holder := t.Lease()
	before, known := t.finals.under(held.Token)
	if !holder || !known || before == 0 || before > beacon.MinuteOf(t.Clock.Now()).Day() { // the clock was set back
		return 0, false
	}
	return before, true
}

// DeletedSince returns since when deleted hotspots may have a day that is not final:
// beacon.KeepPast before any server was last up.
func (t *Telemetry) DeletedSince(ctx context.Context) (time.Time, error) {
	spans, err := t.Store.Spans(ctx, 0)
	if err != nil {
		return time.Time{}, err
	}
	since := t.Clock.Now()
	now, up := beacon.MinuteOf(since), beacon.Minute(0)
	for _, s := range spans {
		if from := beacon.Minute(s.From); from <= now { // otherwise a clock was ahead for a while
			up = max(up, beacon.Minute(s.To))
		}
	}
	if up > 0 {
		since = beacon.Earlier(since, up.Time())
	}
	return since.Add(-beacon.KeepPast), nil
}

// restorable is how long memory keeps a deleted hotspot at least: it may come back, by the
// clock of another server.
const restorable = beacon.RestoreTime + time.Hour

// purge drops deleted hotspots whose last day is final. The lease holder knows when that
// is; other nodes keep them until any lease holder must have got to it.
func (t *Telemetry) purge(held lease.Lease, holder bool, now time.Time) {
	longAgo := now.Add(-beacon.KeepPast)
	before := longAgo
	if holder {
		final, _ := t.finals.under(held.Token)
		before = beacon.Earlier(final.Time(), now.Add(-restorable))
	}
	t.Fleet.Purge(before, longAgo)
}
