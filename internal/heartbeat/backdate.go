package heartbeat

import "github.com/beacon-wifi/beacon/internal/beacon"

// backdate sets Back of a beat that arrives in an hour in which its hotspot is closed, or
// not in service, if the hotspot was open at some time since a minute: that of the beat
// before. When exactly the traffic since then was carried is unknown, so all of it counts
// (decision D96). It is decided when the beat arrives, because it depends on which beat
// came before.
func (t *Table) backdate(l *Live, b *Beat, since beacon.Minute) {
	b.Back = 0
	m := b.minute()
	at := hourOf(m)
	if l.active != 0 && l.active <= m && t.timelines[l.timeline].mask(at.day()).from(at.ofDay()*60)&hourBits != 0 {
		return // it is open, as most are at all times
	}
	if since == m && l.seenAt() == m { // like the one before, so that their order does not matter
		b.Back = l.back
		return
	}
	if since > m || t.service.down(since) { // a clock was ahead
		since = t.unpack(l).heardBy(m)
	}
	c := t.rules(l)
	b.Back = c.back(m, since)
}

// longestSilence is how many days before a beat its traffic can have been carried.
const longestSilence = 32

// back returns Back for a beat that arrives in a minute and reports traffic since another.
func (c *rules) back(m, since beacon.Minute) uint8 {
	at := hourOf(m)
	if c.openIn(at, at.first()) != 0 {
		return 0
	}
	for h := at; h > hourOf(since) && at-h < longestSilence*hoursADay; {
		h--
		if c.openIn(h, since) != 0 {
			return uint8(min(at-h, hour(at.ofDay())+1))
		}
	}
	return 0
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
