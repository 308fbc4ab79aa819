package heartbeat

import "github.com/beacon-wifi/beacon/internal/beacon"

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

// seal decides the minutes of the day that precede the given minute for good, and with
// them the tiers of the hours they complete.
func (r *Record) seal(c *rules, before beacon.Minute) {
	first := r.day.Midnight()
	if before <= first {
		return
	}
	to := int(min(before-first, beacon.MinutesADay))
	if to <= r.sealed {
		return
	}
	why := c.reasons(r.day)
	r.why.add(&why, r.sealed, to)
	for h := r.sealed / 60; h < to/60; h++ {
		r.tiers[h], _ = r.tier(first + beacon.Minute(h)*60 + 59)
	}
	r.sealed = to
	r.pruneTests()
}

// sum counts the first minutes of the day. Sealed minutes count as they were decided, the
// others by the current rules.
func (r *Record) sum(c *rules, minutes int) (s sum) {
	var expects dayBits
	if minutes > r.sealed {
		expects = c.expects(r.day)
		expects.keepRange(r.sealed, minutes)
	}
	for i := range expects {
		expects[i] |= rangeWord(i, 0, min(r.sealed, minutes)) &^ r.why.word(i)
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
func (c *rules) empty(day beacon.Day, served uint64) (s sum) {
	expects := c.expects(day)
	s.expected = uint16(expects.count())
	var early dayBits
	early.add(0, served)
	for i := range expects {
		expects[i] &= early[i]
	}
	s.served = uint16(expects.count())
	return s
}
