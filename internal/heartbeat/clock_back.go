package heartbeat

import (
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// ClockBack is called when the clock was set back. Afterwards no hotspot was seen after
// now, and of the time after keep only the traffic counts. keep is now, unless now itself
// may be wrong. It reports whether any day after keep had begun. If memory had only later
// days of a hotspot, the days before may be on disk: its newest record must be restored
// before the next Fold. Beats of those days are taken meanwhile.
func (t *Table) ClockBack(now time.Time, keep beacon.Minute) (cut bool) {
	for from := 0; t.clockBack(now.UnixMicro(), max(keep, beacon.MinuteOf(now)), from, &cut); from += chunk {
	}
	return cut
}

// Days returns the days that are in memory.
func (t *Table) Days(l *Live) (days []beacon.Day) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 {
		return nil
	}
	k := t.unpack(l)
	for i := range k.days {
		days = append(days, k.days[i].day)
	}
	return days
}

// Join merges the record of a day in memory, except for when the hotspot was seen: that
// may be in the future.
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

func (t *Table) clockBack(limit int64, keep beacon.Minute, from int, cut *bool) (more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	minute := beacon.Minute(limit / microMinute)
	t.now = min(t.now, minute)
	for slot := from; slot < min(from+chunk, t.used); slot++ {
		l := &t.lives[slot/slabSize][slot%slabSize]
		if l.state&placed == 0 || len(t.packedDays(l)) == 0 || l.seen.Load() <= limit && l.hour <= hourOf(minute) {
			continue
		}
		k := t.unpack(l)
		some, back := k.cut(limit, keep)
		*cut = some || *cut
		if at, found := k.find(minute.Day()); found && k.days[at].heardAfter(minute) { // nothing was cut, as now may be wrong
			k.recall(&k.days[at], minute)
			back = k.back(minute, k.heardBy(minute))
		}
		k.seenBy(limit)
		l.hour, l.done = 0, 0
		l.dirty.Store(true)
		if len(k.days) == 0 {
			t.forget(l, limit)
			continue
		}
		if k.days[0].day > minute.Day() {
			k.days[0].alone = true // today was final, and is not any more
		}
		t.pack(l, k, hourOf(minute), l.boot)
		l.back = back // for beats of the same minute, so that it does not matter what came first
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

// cut drops what beats said of the time after keep, and reports whether any day after it
// had begun. Their traffic still counts, as of the limit and back from it. Clocks may
// differ a little.
func (k *openDays) cut(limit int64, keep beacon.Minute) (some bool, back uint8) {
	keep += FinalLag
	var ahead []*Record
	at, _ := k.find(keep.Day() + 1)
	for i := at; i < len(k.days); i++ {
		ahead = append(ahead, k.days[i].copy())
	}
	k.days = k.days[:at]
	some = len(ahead) > 0
	if at > 0 && k.newest().servedAfter(keep) {
		ahead = append(ahead, k.newest().copy())
		k.newest().cutAfter(keep, beacon.Minute(limit/microMinute))
	}
	if back = k.carriedBy(limit, ahead); len(ahead) > 0 {
		k.seenBy(limit)
	}
	return some, back
}

// seenBy says that the hotspot was not seen after a moment.
func (k *openDays) seenBy(limit int64) {
	for i := range k.days {
		k.days[i].last.at = min(k.days[i].last.at, limit)
	}
}

// servedAfter reports whether a beat of the day came after a minute.
func (r *Record) servedAfter(m beacon.Minute) bool {
	return m.Day() == r.day && r.served.after(m.OfDay()+spread) != dayBits{}
}

// cutAfter drops what beats said of the minutes of the day after keep. now is
// not after it.
func (r *Record) cutAfter(keep, now beacon.Minute) {
	hour, newest := hourOf(keep).ofDay(), r.newestBeat()
	r.served.keepRange(0, keep.OfDay()+spread+1)
	clear(r.hours[hour+1:])
	clear(r.signals[hour/signalHours+1:])
	r.tests = slices.DeleteFunc(r.tests, func(t test) bool { return t.at > keep })
	for i := range r.boots {
		b := &r.boots[i]
		if now := max(now, r.day.Midnight()); b.newest > now {
			b.newest = r.asLongBefore(now, newest, b.newest)
		}
		for h := hour + 1; h < hoursADay; h++ {
			b.upTo[h] = b.upTo[hour]
		}
	}
}

// newestBeat returns the minute of the newest beat.
func (r *Record) newestBeat() (newest beacon.Minute) {
	for i := range r.boots {
		newest = max(newest, r.boots[i].newest)
	}
	return newest
}

// asLongBefore moves a minute of a clock that was ahead to the right time: it is as far
// before now as it was before newest, so boots keep their order, and is on this day.
func (r *Record) asLongBefore(now, newest, minute beacon.Minute) beacon.Minute {
	first := r.day.Midnight()
	return max(now, first+newest-minute) - (newest - minute)
}

// undecide makes the minutes of the day from one on undecided again, if minutes after now
// were decided: a clock was ahead, and took the time that it skipped for an outage.
func (r *Record) undecide(from, now beacon.Minute) {
	first := r.day.Midnight()
	if first+beacon.Minute(r.decided) <= now+decisionLag {
		return
	}
	r.decided = int(max(min(from, now), first) - first)
	for _, why := range [...]*dayBits{&r.why.closed, &r.why.excused, &r.why.outside} {
		why.keepRange(0, r.decided)
	}
	clear(r.tiers[r.decided/60:])
}

// carriedBy records what boots have carried by a moment, according to days that have not
// come. It counts like a beat at that moment: if the hotspot was open at any time since
// it was last heard (decision D96). It returns the Back of that beat.
func (k *openDays) carriedBy(moment int64, ahead []*Record) (back uint8) {
	m := beacon.Minute(moment / microMinute)
	if len(k.days) == 0 || len(ahead) == 0 {
		return 0
	}
	r := k.day(m.Day())
	if r == nil {
		return 0
	}
	since := k.heardBy(m)
	if r.prior > 0 {
		since = min(since, r.prior)
	}
	beat := Beat{At: moment, Back: k.back(m, since)}
	var newest beacon.Minute
	for _, of := range ahead {
		newest = max(newest, of.newestBeat())
	}
	for _, of := range ahead {
		for i := range of.boots {
			b := &of.boots[i]
			if b.newest < of.day.Midnight() || k.service.down(b.newest) { // or left by a clock that was ahead before
				continue
			}
			before := r.find(b.id)
			if before != nil && before.knows(b.top) && before.upTo[hoursADay-1] >= b.upTo[hoursADay-1] {
				continue // the journal was read again: it counts from when it was first cut
			}
			if known := r.boot(b.id, r.asLongBefore(m, newest, b.newest), b.top); known != nil {
				if before == nil { // so much was counted before the days that have not come
					known.raiseBase(b.base)
				}
				known.hear(b.seqs, b.pastTop)
				beat.Bytes = b.upTo[hoursADay-1]
				known.carry(hourOf(m).ofDay(), &beat)
			}
			r.last.join(last{moment, of.last.tie, of.last.clients})
			if r.prior > 0 {
				r.prior = m
			}
		}
	}
	k.chain(1)
	return beat.Back
}

// recall notes when the hotspot was last heard by the right clock, if one that is ahead has
// beats of the day: once the day before is final and leaves memory, or beats by the right
// clock follow, nothing else says it.
func (k *openDays) recall(r *Record, now beacon.Minute) {
	if r.prior > 0 || !r.heardAfter(now) {
		return
	}
	if heard, known := k.lastHeard(now); known {
		r.prior = max(heard, 1)
	}
}

// forgetPrior drops that again where the newest beat says when the hotspot was heard.
func (k *openDays) forgetPrior(now beacon.Minute) {
	for i := range k.days {
		if r := &k.days[i]; !r.heardAfter(now) {
			r.prior = 0
		}
	}
}

// heardAfter reports whether the newest beat is of a time that has not come. Clocks may
// differ a little.
func (r *Record) heardAfter(now beacon.Minute) bool {
	return beacon.Minute(r.last.at/microMinute) > now+FinalLag
}

// heardBy returns the last minute up to one in which a beat arrived, or that one if nobody
// knows.
func (k *openDays) heardBy(m beacon.Minute) beacon.Minute {
	if at, known := k.lastHeard(m); known {
		return at
	}
	return m
}

// lastHeard returns the last minute up to one in which a beat arrived. If a clock that was
// ahead was the last to hear the hotspot, it goes by the minutes that beats served while
// the service was up, and then by what was known before.
func (k *openDays) lastHeard(m beacon.Minute) (at beacon.Minute, known bool) {
	for _, r := range slices.Backward(k.days) {
		if r.day > m.Day() {
			continue
		}
		first := r.day.Midnight()
		at := beacon.Minute(r.last.at / microMinute)
		moved := r.prior > 0 && at.Day() == r.day && r.served.from(at.OfDay())&1 == 0 // see seenBy
		if at <= m && !moved && !k.service.down(at) {
			return at, true
		}
		for last := int(min(m-first, beacon.MinutesADay-1)); last >= 0; last-- {
			if r.served.from(last)&1 != 0 && !k.service.down(first+beacon.Minute(last)) {
				return first + beacon.Minute(max(last, spread)-spread), true
			}
		}
		if r.prior > 0 {
			return r.prior, true
		}
	}
	return 0, false
}
