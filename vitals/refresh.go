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
		if l.state&placed == 0 || l.state&departed != 0 || len(t.book(l)) == 0 {
			continue
		}
		if hour := now.hour(); l.hour < hour || l.hour == hour && l.until < now {
			k := t.unpack(l)
			k.roll(now)
			t.pack(l, k, hour, l.boot)
		}
		if l.days > 1 && now.ofDay() >= FinalLag {
			l.dirty.Store(true)
		}
		t.show(l)
	}
	return from+chunk < t.used
}

// ClockBack is for when the clock was set back: nobody was seen after now, and
// no day after today has begun. Of whom memory has later days alone, the newest
// record must be restored before the next Fold.
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
		l.hour, l.done = 0, 0
		l.dirty.Store(true)
		if len(k.days) == 0 {
			t.forget(l, limit)
			continue
		}
		t.pack(l, k, Minute(limit/microMinute).hour(), l.boot)
		t.show(l)
	}
	return from+chunk < t.used
}

// forget leaves nothing of a hotspot but that it was heard: what there was
// before is on disk, and comes back with Restore.
func (t *Table) forget(l *Live, seen int64) {
	t.packed[l.slot/slabSize][l.slot%slabSize] = nil
	l.state &^= atHand
	l.days = 0
	l.samples, l.heard = samples{}, samples{}
	l.before.served, l.before.expected = 0, 0
	l.seen.Store(seen)
	l.show(Shown{Clients: int(l.clients)})
}

// cutAfter forgets the days after the one that has the limit.
func (k *book) cutAfter(limit int64) {
	today := Minute(limit / microMinute).Day()
	for len(k.days) > 0 && k.newest().day > today {
		k.days = k.days[:len(k.days)-1]
	}
	for i := range k.days {
		k.days[i].last.at = min(k.days[i].last.at, limit)
	}
}
