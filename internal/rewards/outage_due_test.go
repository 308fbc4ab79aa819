package rewards_test

import "github.com/beacon-wifi/beacon/internal/beacon"

// due says what a day should pay, minute by minute from the documents, and whether there is
// anything to go by. It shares no code with what it judges.
func (h *downtime) due(day int) (p pay, known bool) {
	p = h.count(day)
	var served, expected int64
	for past := max(day-7, 0); past < day; past++ {
		was := h.count(past)
		served, expected = served+int64(was.served), expected+int64(was.expected)
	}
	rate := int64(0)
	if expected > 0 {
		rate = served * credit / expected
	}
	p.available = (int64(p.served)*credit + int64(p.excused)*rate) / 1440
	if day > 0 {
		p.tier = h.tierAfter(day - 1)
	}
	if p.tier == beacon.Premium {
		p.performance = p.available / 2
	}
	p.utilization = min(h.carried(day), (int64(p.served)*credit+int64(p.excused)*rate)/4/1440)
	return p, expected > 0
}

// carried is what a day's traffic is worth: all that the hotspot tells of on that day.
func (h *downtime) carried(day int) int64 {
	told := func(before int) int64 { // the last beat before a minute
		for m := before - 1; m >= 0; m-- {
			if h.beats[m] {
				return int64(h.rate) * int64(m+1)
			}
		}
		return 0
	}
	return (told((day+1)*1440) - told(day*1440)) / 50_000
}

// spare is what a day leaves of the most that traffic earns: the part of it in which we were
// down, and if the hotspot did not serve all that it had from the day before.
func (h *downtime) spare(day int) (left int64) {
	if known, ok := h.spares[day]; ok {
		return known
	}
	defer func() { h.spares[day] = left }()
	p, _ := h.dueInMinutes(day)
	if p.excused == 0 {
		return 0
	}
	before := int64(0)
	if day > 0 {
		before = h.spare(day - 1)
	}
	most := h.excusedIn(day) / 4 / 1440
	if p.served == 0 {
		most += before
	}
	return min(most, (int64(p.served)*credit+h.excusedIn(day))/4/1440+before-p.utilization)
}

// dueInMinutes is due under a policy that counts minutes.
func (h *downtime) dueInMinutes(day int) (p pay, known bool) {
	p, _ = h.due(day)
	excused, known := h.excusedMinutes(day)
	p.available = (int64(p.served)*credit + excused) / 1440
	if p.performance = 0; p.tier == beacon.Premium {
		p.performance = p.available / 2
	}
	spare := int64(0)
	if day > 0 {
		spare = h.spare(day - 1)
	}
	p.utilization = min(h.carried(day), (int64(p.served)*credit+excused)/4/1440+spare)
	return p, known
}

func (h *downtime) excusedIn(day int) int64 {
	excused, _ := h.excusedMinutes(day)
	return excused
}

// excusedMinutes is what the excused minutes of a day count for, in millionths, and whether
// there is something to go by.
func (h *downtime) excusedMinutes(day int) (excused int64, known bool) {
	known = true
	for m := day * 1440; m < (day+1)*1440; m++ {
		if m%1440 < h.hours[0] || m%1440 >= h.hours[1] || !h.excused(m) {
			continue
		}
		days, served := int64(0), int64(0)
		for past := m - 1440; past >= max(m-30*1440, 0) && days < 7; past -= 1440 {
			if h.excused(past) {
				continue
			}
			if days++; h.lately(h.beats, past, true) {
				served++
			}
		}
		if known = known && days > 0; days > 0 {
			excused += served * credit / days
		}
	}
	return excused, known
}

func (h *downtime) count(day int) (p pay) {
	if known, ok := h.counted[day]; ok {
		return known
	}
	defer func() { h.counted[day] = p }()
	for m := day * 1440; m < (day+1)*1440; m++ {
		switch {
		case m%1440 < h.hours[0] || m%1440 >= h.hours[1]:
			p.closed++
		case h.excused(m):
			p.excused++
		default:
			p.expected++
			if h.lately(h.beats, m, true) {
				p.served++
			}
		}
	}
	return p
}

func (h *downtime) openMinutes(int) int { return h.hours[1] - h.hours[0] }

// lately reports whether a list has a value in a minute or in one of the three before.
func (h *downtime) lately(list []bool, m int, value bool) bool {
	for at := max(m-3, 0); at <= m; at++ {
		if list[at] == value {
			return true
		}
	}
	return false
}

func (h *downtime) excused(m int) bool { return h.lately(h.up, min(m, len(h.up)-1), false) }

// tierAfter is the tier when a day ends, or before the outage in which it ends.
func (h *downtime) tierAfter(day int) beacon.Tier {
	at := day*1440 + 1439
	if h.excused(at) && h.excused(at+1) && h.excused(at+2) && h.excused(at+3) {
		for h.excused(at) {
			at--
		}
	}
	recent := 0
	for _, m := range h.tests {
		if m <= at && m >= at-48*60 {
			recent++
		}
	}
	if recent >= 2 {
		return beacon.Premium
	}
	return beacon.Standard
}
