package heartbeat

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// ClockBack is called when the clock was set back. Afterwards no hotspot was seen after
// now, and no day after keep has begun. keep is today, unless now itself may be wrong.
// It reports whether any such day had begun. If memory had only later days of a
// hotspot, the days before may be on disk: its newest record must be restored before the
// next Fold. Beats of those days are taken meanwhile.
func (t *Table) ClockBack(now time.Time, keep beacon.Day) (cut bool) {
	limit := now.UnixMicro()
	for from := 0; t.clockBack(limit, max(keep, beacon.MinuteOf(now).Day()), from, &cut); from += chunk {
	}
	return cut
}

// DaysAfter returns the days after the given one that are in memory.
func (t *Table) DaysAfter(l *Live, day beacon.Day) (days []beacon.Day) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 || len(t.book(l)) == 0 || l.hour.day() <= day {
		return nil
	}
	k := t.unpack(l)
	for at, _ := k.find(day + 1); at < len(k.days); at++ {
		days = append(days, k.days[at].day)
	}
	return days
}

// Join merges the record of such a day, except for when the hotspot was seen: that time
// has not come.
func (t *Table) Join(l *Live, r *Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 {
		return
	}
	k := t.unpack(l)
	at, found := k.find(r.day)
	if !found {
		return
	}
	own := &k.days[at]
	seen := own.last
	own.join(r)
	own.last = seen
	k.chain(1)
	l.done = 0
	t.pack(l, k, l.hour, l.boot)
	t.show(l)
}

func (t *Table) clockBack(limit int64, keep beacon.Day, from int, cut *bool) (more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	minute := beacon.Minute(limit / microMinute)
	t.now = min(t.now, minute)
	for slot := from; slot < min(from+chunk, t.used); slot++ {
		l := &t.lives[slot/slabSize][slot%slabSize]
		if l.state&placed == 0 || len(t.book(l)) == 0 || l.seen.Load() <= limit && l.hour <= hourOf(minute) {
			continue
		}
		k := t.unpack(l)
		*cut = k.cutAfter(limit, keep) || *cut
		l.hour, l.done = 0, 0
		l.dirty.Store(true)
		if len(k.days) == 0 {
			t.forget(l, limit)
			continue
		}
		if k.days[0].day > minute.Day() {
			k.days[0].fresh = true // today was final, and is not any more
		}
		t.pack(l, k, hourOf(minute), l.boot)
		t.show(l)
	}
	return from+chunk < t.used
}

// forget drops everything of a hotspot except that it was seen. What was before is on
// disk, and returns with Restore.
func (t *Table) forget(l *Live, seen int64) {
	t.packed[l.slot/slabSize][l.slot%slabSize] = nil
	l.state &^= atHand
	l.days = 0
	l.samples, l.heard = samples{}, samples{}
	l.before.served, l.before.expected = 0, 0
	l.seen.Store(seen)
	l.show(Shown{Clients: int(l.clients)})
}

// cutAfter drops the days after keep and reports whether there were any. The traffic
// that devices reported on them still counts, as of the limit.
func (k *openDays) cutAfter(limit int64, keep beacon.Day) (some bool) {
	cut, _ := k.find(keep + 1)
	var ahead []boot
	for i := cut; i < len(k.days); i++ {
		for _, b := range k.days[i].boots {
			if b.newest >= k.days[i].day.Midnight() {
				ahead = append(ahead, b)
			}
		}
	}
	some = cut < len(k.days)
	k.days = k.days[:cut]
	for i := range k.days {
		k.days[i].last.at = min(k.days[i].last.at, limit)
	}
	if cut > 0 {
		for i := range ahead {
			k.carriedBy(beacon.Minute(limit/microMinute), &ahead[i])
		}
		k.chain(1)
	}
	return some
}

// undecide makes the minutes of the day from one on undecided again, if minutes after now
// were decided: a clock was ahead, and took the time that it skipped for an outage.
func (r *Record) undecide(from, now beacon.Minute) {
	first := r.day.Midnight()
	if first+beacon.Minute(r.sealed) <= now+sealLag {
		return
	}
	r.sealed = int(max(min(from, now), first) - first)
	for _, why := range [...]*dayBits{&r.why.closed, &r.why.excused, &r.why.outside} {
		why.keepRange(0, r.sealed)
	}
	clear(r.tiers[r.sealed/60:])
}

// carriedBy records what a boot had carried by a minute.
func (k *openDays) carriedBy(m beacon.Minute, b *boot) {
	if r := k.day(m.Day()); r != nil {
		if known := r.boot(b.id, m, b.top); known != nil {
			known.seqs.join(b.seqs)
			known.raise(hourOf(m).ofDay(), b.upTo[hoursADay-1])
		}
	}
}
