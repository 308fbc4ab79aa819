package heartbeat

import (
	"math/bits"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// rules say when a hotspot is expected to serve: while it is in service, in its
// operating hours, and while the service itself is up.
type rules struct {
	active  beacon.Minute // in service since; 0: not in service
	past    []Span        // earlier spans in service
	deleted bool          // deleted: no new day begins
	hours   *timeline
	service *Outages
}

// inService returns the minutes of a day in which the hotspot is in service.
func (c *rules) inService(day beacon.Day) (mask dayBits) {
	first, end := day.Midnight(), (day + 1).Midnight()
	for _, s := range c.past {
		if from, to := max(s.From, first), min(s.To+1, end); from < to {
			mask.setRange(int(from-first), int(to-first))
		}
	}
	if c.active != 0 && c.active < end {
		mask.setRange(int(max(c.active, first)-first), beacon.MinutesADay)
	}
	return mask
}

// expects returns the minutes of a day in which the hotspot is expected to serve.
func (c *rules) expects(day beacon.Day) dayBits {
	mask := c.inService(day)
	if mask == (dayBits{}) {
		return mask
	}
	open, excused := c.hours.mask(day), c.service.mask(day)
	for i := range mask {
		mask[i] &= open[i] &^ excused[i]
	}
	return mask
}

// reasons returns why the hotspot is not expected to serve in the other minutes.
func (c *rules) reasons(day beacon.Day) (why reasons) {
	in, open, excused := c.inService(day), c.hours.mask(day), c.service.mask(day)
	for i := range in {
		why.outside[i] = ^in[i]
		why.closed[i] = in[i] &^ open[i]
		why.excused[i] = in[i] & open[i] & excused[i]
	}
	return why
}

// inHour is expects for an hour, if the hotspot is in service now; otherwise it returns 0.
func (c *rules) inHour(h hour) uint64 {
	var in uint64
	switch first := h.first(); {
	case c.active == 0:
	case len(c.past) > 0:
		day := c.inService(h.day())
		in = day.from(h.ofDay()*60) & hourBits
	case c.active < first+60:
		in = hourBits << (max(c.active, first) - first)
	}
	return in & c.hours.mask(h.day()).from(h.ofDay()*60) & hourBits &^ c.service.inHour(h)
}

// decide decides for good the minutes of the day that precede the given one, and with
// them the tiers of the hours they complete. prev is the record before it, if memory has
// one.
func (r *Record) decide(c *rules, prev *Record, before beacon.Minute) {
	first := r.day.Midnight()
	if before <= first {
		return
	}
	to := int(min(before-first, beacon.MinutesADay))
	if to <= r.decided {
		return
	}
	why := c.reasons(r.day)
	r.why.add(&why, r.decided, to)
	for h := r.decided / 60; h < to/60; h++ {
		r.tiers[h] = r.tierAfter(c, prev, h)
	}
	r.decided = to
	r.pruneTests()
}

// tierAfter returns the tier at the end of an hour. While the service is down it stays as
// it was: no speed test can arrive.
func (r *Record) tierAfter(c *rules, prev *Record, hour int) beacon.Tier {
	first := r.day.Midnight()
	at := first + beacon.Minute(hour)*60 + 59
	if from, down := c.service.since(at); down {
		if from <= first && prev != nil && prev.day+1 == r.day && prev.AllDecided() {
			return prev.tiers[hoursADay-1]
		}
		at = max(from, first) - 1
	}
	tier, _ := r.tier(at)
	return tier
}

// sum counts the first minutes of the day. Decided minutes count as they were decided, the
// others by the current rules.
func (r *Record) sum(c *rules, minutes int) (s sum) {
	var expects dayBits
	if minutes > r.decided {
		expects = c.expects(r.day)
		expects.keepRange(r.decided, minutes)
	}
	for i := range expects {
		expects[i] |= rangeWord(i, 0, min(r.decided, minutes)) &^ r.why.word(i)
	}
	s.expected = uint16(expects.count())
	for i := range expects {
		expects[i] &= r.served[i]
	}
	s.served = uint16(expects.count())
	return s
}

// empty counts a day without beats. served has the first minutes, which beats of the
// evening before served.
func (c *rules) empty(day beacon.Day, served uint64) sum {
	r := Record{day: day}
	r.served.add(0, served)
	return r.sum(c, beacon.MinutesADay)
}

// tenure returns since when a hotspot is in service, or 0 if it is not, and when it was
// before. A minute counts if any part of it was in service, including the first and the
// last.
func tenure(h *beacon.Hotspot) (active beacon.Minute, spans []Span) {
	past := h.PastService
	switch since := h.ActiveSince(); {
	case since.IsZero():
	case h.Deleted():
		past = append(past[:len(past):len(past)], beacon.Period{From: since, Until: h.DeletedAt})
	default:
		active = max(beacon.MinuteOf(since), 1)
	}
	for _, p := range past {
		if from, end := beacon.MinuteOf(p.From), firstFrom(p.Until); from < end {
			spans = append(spans, Span{From: from, To: end - 1})
		}
	}
	return active, spans
}

// serve records when a hotspot is in service, and when it was before.
func (t *Table) serve(l *Live, h *beacon.Hotspot) {
	active, past := tenure(h)
	l.active = active
	l.state &^= interrupted | deleted
	delete(t.past, l.slot)
	if h.Deleted() {
		l.state |= deleted
		l.marks[Announced].Store(false)
	}
	if len(past) > 0 {
		l.state |= interrupted
		t.past[l.slot] = past
	}
}

// dayBits has a bit for each minute of a day, and room for a few more: a beat at 23:59
// also serves the first minutes of the next day.
type dayBits [23]uint64

const (
	// spread is how many minutes after its own a beat serves (decision N16).
	spread = 3
	// beatBits are the minutes that a beat serves.
	beatBits = 1<<(spread+1) - 1

	carryBits = 1<<spread - 1
	hourBits  = 1<<60 - 1
)

// from returns 64 bits starting at a minute.
func (d *dayBits) from(minute int) uint64 {
	word, shift := minute/64, minute%64
	out := d[word] >> shift
	if shift > 0 && word+1 < len(d) {
		out |= d[word+1] << (64 - shift)
	}
	return out
}

// add sets those of 64 bits, starting at a minute, that are in the day or in the room
// after it.
func (d *dayBits) add(minute int, set uint64) {
	word, shift := minute/64, minute%64
	d[word] |= set << shift
	if shift > 0 && word+1 < len(d) {
		d[word+1] |= set >> (64 - shift)
	}
}

func (d *dayBits) join(other *dayBits) {
	for i := range d {
		d[i] |= other[i]
	}
}

// setRange sets the minutes from..to, to excluded.
func (d *dayBits) setRange(from, to int) {
	for i := from / 64; i < len(d) && i*64 < to; i++ {
		d[i] |= rangeWord(i, from, to)
	}
}

// keepRange clears all but the minutes from..to, to excluded.
func (d *dayBits) keepRange(from, to int) {
	for i := range d {
		d[i] &= rangeWord(i, from, to)
	}
}

// after returns the minutes after one.
func (d *dayBits) after(minute int) dayBits {
	rest := *d
	rest.keepRange(minute+1, len(d)*64)
	return rest
}

// rangeWord returns word i of a day in which only from..to is set, to excluded.
func rangeWord(i, from, to int) uint64 {
	from, to = max(from-i*64, 0), min(to-i*64, 64)
	if from >= to {
		return 0
	}
	return ^uint64(0) >> (64 - (to - from)) << from
}

func (d *dayBits) count() (n int) {
	for _, word := range d {
		n += bits.OnesCount64(word)
	}
	return n
}
