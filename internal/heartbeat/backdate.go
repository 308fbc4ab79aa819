package heartbeat

import "github.com/beacon-wifi/beacon/internal/beacon"

// backdate sets Back if a beat arrives in an hour in which its hotspot is closed, or not
// in service, and reports traffic since a minute after which it was open. When exactly
// that was carried is unknown, so all of it counts (decision D96). It is decided when
// the beat arrives, because it depends on the beat before.
func (t *Table) backdate(l *Live, b *Beat, since beacon.Minute) {
	b.Back = 0
	m := b.minute()
	at := hourOf(m)
	if l.active != 0 && l.active <= m && t.timelines[l.timeline].mask(at.day()).from(at.ofDay()*60)&hourBits != 0 {
		return // it is open, as most are at all times
	}
	c := t.rules(l)
	if c.openIn(at, at.first()) != 0 {
		return
	}
	for h := at; h > hourOf(since) && at-h < maxDays*hoursADay; {
		h--
		if c.openIn(h, since) != 0 {
			b.Back = uint8(min(at-h, hour(at.ofDay())+1))
			return
		}
	}
}

// openIn returns the minutes of an hour, from a minute on, in which the hotspot is in
// service and open.
func (c *rules) openIn(h hour, since beacon.Minute) uint64 {
	in := c.inService(h.day())
	open := in.from(h.ofDay()*60) & c.hours.mask(h.day()).from(h.ofDay()*60) & hourBits
	if since > h.first() {
		open &= ^uint64(0) << min(since-h.first(), 63)
	}
	return open
}
