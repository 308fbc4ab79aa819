package heartbeat

import "math/bits"

// Apply adds a beat and reports whether it is new. A known beat changes nothing: all
// that a beat says of itself is merged by union or maximum, and signal samples are
// counted for new beats only. So two replicas that took the same beat twice, a moment
// apart, still agree. A beat is dropped if l is not, or no longer, the Live of its
// hotspot.
func (t *Table) Apply(l *Live, b *Beat) (fresh bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 || t.names[l.slot/slabSize][l.slot%slabSize] != b.Hotspot || !b.valid() {
		return false
	}
	if l.takes(b) {
		fresh = l.take(b)
	} else {
		fresh = t.unpackFor(l, b)
	}
	if b.minute() == l.seenAt() {
		l.back = max(l.back, b.Back)
	}
	t.show(l)
	return fresh
}

// unpackFor adds a beat that does not belong to the current hour.
func (t *Table) unpackFor(l *Live, b *Beat) (fresh bool) {
	k := t.unpack(l)
	at, boot := hourOf(b.minute()), b.Boot
	if l.state&atHand != 0 {
		at = max(at, l.hour)
	}
	fresh = k.add(b)
	if g, same := generationOf(b.Boot, l.boot); k.newest().last.at > b.At || same && g > 0 { // it is late
		boot = l.boot
	}
	if b.minute().Day() < k.newest().day {
		l.done = 0 // the written record of that day is incomplete now
	}
	if changed := t.pack(l, k, at, boot); changed || fresh {
		l.dirty.Store(true)
	}
	return fresh
}

// show updates the summary without unpacking the book.
func (t *Table) show(l *Live) {
	first := l.hour.first()
	now := min(max(t.now, l.seenAt(), first), first+59)
	c := t.rules(l)
	expected := c.inHour(l.hour) & (1<<(now-first+1) - 1)
	l.show(Shown{
		Clients: int(l.clients),
		Signal:  median(l.heard, l.samples),
		Tier:    l.tier,
		Uptime: tenThousandths(
			int(l.before.served)+bits.OnesCount64(l.served&expected),
			int(l.before.expected)+bits.OnesCount64(expected)),
	})
}
