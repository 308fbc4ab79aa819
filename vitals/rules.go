package vitals

// rules say when a hotspot is expected to serve: from its activation on, in its
// operating hours, and while the service itself is up.
type rules struct {
	active  Minute // 0: it is pending
	hours   *timeline
	service *Service
}

// expects has the minutes of a day in which the hotspot is expected to serve.
func (c *rules) expects(day Day) dayBits {
	first := day.First()
	if c.active == 0 || c.active >= first+minutesADay {
		return dayBits{}
	}
	mask := *c.hours.mask(day)
	excused := c.service.mask(day)
	for i := range mask {
		mask[i] &^= excused[i]
	}
	if c.active > first {
		mask.keepRange(int(c.active-first), minutesADay)
	}
	return mask
}

// inHour has the minutes of an hour in which the hotspot is expected to serve.
func (c *rules) inHour(h hour) uint64 {
	if c.active == 0 || c.active >= h.first()+60 {
		return 0
	}
	mask := c.hours.mask(h.day()).from(h.ofDay()*60) & hourBits &^ c.service.inHour(h)
	if c.active > h.first() {
		mask &= ^uint64(0) << (c.active - h.first())
	}
	return mask
}

// seal decides the minutes of the day before the given one for good, and with
// them the tiers of the hours that they end.
func (r *Record) seal(c *rules, before Minute) {
	first := r.day.First()
	if before <= first {
		return
	}
	to := int(min(before-first, minutesADay))
	if to <= r.sealed {
		return
	}
	expects := c.expects(r.day)
	for i := range r.closed {
		r.closed[i] |= ^expects[i] & rangeWord(i, r.sealed, to)
	}
	for h := r.sealed / 60; h < to/60; h++ {
		r.tiers[h], _ = r.tier(first + Minute(h)*60 + 59)
	}
	r.sealed = to
	r.pruneTests()
}

// sum counts the first minutes of the day, from the activation on: as they were
// decided, or else as it looks now.
func (r *Record) sum(c *rules, minutes int) (s sum) {
	first := r.day.First()
	if c.active == 0 || c.active >= first+Minute(minutes) {
		return sum{}
	}
	var expects dayBits
	if minutes > r.sealed {
		expects = c.expects(r.day)
		expects.keepRange(r.sealed, minutes)
	}
	for i := range expects {
		expects[i] |= rangeWord(i, 0, min(r.sealed, minutes)) &^ r.closed[i]
	}
	if c.active > first {
		expects.keepRange(int(c.active-first), minutesADay)
	}
	s.expected = uint16(expects.count())
	for i := range expects {
		expects[i] &= r.served[i]
	}
	s.served = uint16(expects.count())
	return s
}

// empty counts a day on which no beat came.
func (c *rules) empty(day Day, served uint64) (s sum) {
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
