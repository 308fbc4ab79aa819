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
	return p, expected > 0
}

// dueInMinutes is due under a policy that counts minutes.
func (h *downtime) dueInMinutes(day int) (p pay, known bool) {
	p, _ = h.due(day)
	var excused int64
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
	p.available = (int64(p.served)*credit + excused) / 1440
	if p.performance = 0; p.tier == beacon.Premium {
		p.performance = p.available / 2
	}
	return p, known
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
