package vitals

import "time"

// chunk is how many lives Refresh does at a time, so that beats wait for less
// than a millisecond.
const chunk = 128

// Refresh brings what is shown up to date, and finds those of whom a day is
// over: they are dirty. It is called once a minute.
func (t *Table) Refresh(now time.Time) {
	minute := MinuteOf(now)
	for from := 0; t.refresh(minute, from); from += chunk {
	}
}

func (t *Table) refresh(now Minute, from int) (more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = now
	for slot := from; slot < min(from+chunk, t.used); slot++ {
		l := &t.lives[slot/slabSize][slot%slabSize]
		if l.state&placed == 0 || len(t.book(l)) == 0 {
			continue
		}
		if hour := now.hour(); l.hour < hour || l.hour == hour && l.until < now {
			k := t.unpack(l)
			k.day(hour.day())
			t.pack(l, k, hour, l.boot)
		}
		if l.days > 1 && now.ofDay() >= finalLag {
			l.dirty.Store(true)
		}
		t.show(l)
	}
	return from+chunk < t.used
}

// ClockBack is for when the clock was set back: nobody was seen after now, and
// no day after today has begun.
func (t *Table) ClockBack(now time.Time) {
	limit := now.UnixMicro()
	for from := 0; t.clockBack(limit, from); from += chunk {
	}
}

func (t *Table) clockBack(limit int64, from int) (more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = min(t.now, Minute(limit/microMinute))
	for slot := from; slot < min(from+chunk, t.used); slot++ {
		l := &t.lives[slot/slabSize][slot%slabSize]
		if l.state&placed == 0 || len(t.book(l)) == 0 || l.seen.Load() <= limit {
			continue
		}
		k := t.unpack(l)
		k.cutAfter(limit)
		l.hour = 0
		t.pack(l, k, Minute(limit/microMinute).hour(), l.boot)
		l.dirty.Store(true)
		t.show(l)
	}
	return from+chunk < t.used
}

// cutAfter forgets the days after the one that has the limit. If that leaves
// none, the first goes on as if it were that one.
func (k *book) cutAfter(limit int64) {
	today := Minute(limit / microMinute).Day()
	for len(k.days) > 1 && k.newest().day > today {
		k.days = k.days[:len(k.days)-1]
	}
	for i := range k.days {
		k.days[i].last.at = min(k.days[i].last.at, limit)
	}
	r := k.newest()
	if r.day <= today {
		return
	}
	boots, newest := r.boots, r.last
	r.reset(today)
	r.begin(&k.rules)
	r.last = newest
	for _, b := range boots {
		b.newest = min(b.newest, Minute(limit/microMinute))
		b.raiseBase(b.upTo[hoursADay-1])
		r.boots = append(r.boots, b)
	}
}
