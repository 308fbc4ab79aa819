package heartbeat

import (
	"bytes"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// openDays returns the packed book of l, which is empty if it never beat.
func (t *Table) book(l *Live) []byte { return t.packed[l.slot/slabSize][l.slot%slabSize] }

// unpack decodes the book of l and adds the current hour to it. Changes to it count
// only once it is packed again.
func (t *Table) unpack(l *Live) *openDays {
	k := &t.open
	k.rules = t.rules(l)
	k.read(t.book(l))
	if l.state&atHand != 0 {
		r := k.newest() // the current hour is always of the newest day
		hour := l.hour.ofDay()
		r.served.add(hour*60, l.served)
		r.last.join(l.last())
		r.hours[hour] = max(r.hours[hour], l.peak)
		r.signals[hour/signalHours].plus(l.samples)
		if b := r.find(l.boot); b != nil {
			b.hear(l.seqs, 0)
			b.raise(hour, l.bytes)
			b.newest = max(b.newest, l.heardAt)
		}
	}
	k.chain(1)
	return k
}

// pack encodes the book and makes an hour of its newest day the current one, with the
// given boot if it is known there. It reports whether the book has changed. The book
// must be unpacked again before it is used.
func (t *Table) pack(l *Live, k *openDays, at hour, boot uint64) (changed bool) {
	r := k.newest()
	at = min(max(at, firstHour(r.day)), firstHour(r.day)+hoursADay-1)
	b := r.find(boot)
	if b == nil {
		b = r.newestBoot()
	}
	l.hour = at
	l.state &^= atHand
	l.samples, l.peak = samples{}, r.hours[at.ofDay()]
	l.served = r.served.from(at.ofDay() * 60)
	if b != nil {
		for later := r.find(b.id + generation); later != nil; later = r.find(b.id + generation) {
			b = later // see judge.go
		}
		l.state |= atHand
		l.boot, l.seqs, l.bytes, l.heardAt = b.id, b.seqs, b.upTo[at.ofDay()], b.newest
	}
	l.setLast(r.last)
	l.days = uint8(len(k.days))

	uptime := k.sum(r, at.ofDay()*60)
	l.before.served, l.before.expected = uint32(uptime.served), uint32(uptime.expected)
	l.heard = r.heard(at.ofDay())
	l.tier, l.until = r.tier(max(at.first(), beacon.Minute(r.last.at/microMinute), min(t.now, at.first()+59)))
	return t.store(l, k)
}

// store writes the book into the memory it had, if it fits.
func (t *Table) store(l *Live, k *openDays) (changed bool) {
	t.text = k.append(t.text[:0])
	old := &t.packed[l.slot/slabSize][l.slot%slabSize]
	if bytes.Equal(*old, t.text) {
		return false
	}
	const step = 32
	if room := cap(*old); room < len(t.text) || room > len(t.text)+3*step {
		*old = make([]byte, 0, (len(t.text)+step)/step*step)
	}
	*old = append((*old)[:0], t.text...)
	return true
}
