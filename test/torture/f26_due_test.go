//go:build linux

package torture_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// What is due to a hotspot, computed from what its device and its people really did.
// This is written from the documents (N10, N14 to N18, D16, D28, D30, D58, D59, D96 and
// docs/rewards.md) and shares no code with the product. It is slow and simple: it asks
// of each minute whether it counts.

const (
	minutesADay = 24 * 60
	credit      = 1_000_000 // in micro-credits
)

// dueDay is what a day was worth, and why. Amounts are in micro-credits.
type dueDay struct {
	Served, Expected, Closed, Excused, Outside int
	Bytes                                      uint64
	Tier                                       string
	Availability, Performance, Utilization     int64
}

func (d dueDay) total() int64 { return d.Availability + d.Performance + d.Utilization }

// deeds is what a hotspot did, as its device and its people know it.
type deeds struct {
	service []minuteSpan        // in service: verified and linked
	hours   []hoursSince        // in order
	days    map[int64]*dayDeeds // by day since 1970
	tests   []speedTest         // in order
	boots   map[string]bootDeeds
	heard   harness.Minute     // the last heartbeat
	before  harness.Minute     // the last one of an earlier minute
	waiting []*heartbeatReport // acknowledged while the servers' clock was wrong
}

// bootDeeds is what was heard of a boot.
type bootDeeds struct {
	bytes  uint64 // the most that it has reported
	heard  harness.Minute
	before harness.Minute // the last of an earlier minute, of any boot if there was none of this
}

// dayDeeds are of one UTC day.
type dayDeeds struct {
	heard [minutesADay]bool // a heartbeat arrived
	bytes [24]uint64        // that became known in each hour, or are taken for carried in it
	owed  uint64            // bytes that were carried on a day before, while it was open
}

type hoursSince struct {
	from  harness.Minute
	hours *openHours // nil: always open
}

type speedTest struct {
	at                harness.Minute
	down, up, latency int
}

func dayOf(m harness.Minute) int64 { return int64(m) / minutesADay }

func (d *deeds) day(day int64) *dayDeeds {
	if d.days[day] == nil {
		d.days[day] = &dayDeeds{}
	}
	return d.days[day]
}

// heardBy reports whether any heartbeat was acknowledged by the end of a day.
func (d *deeds) heardBy(day int64) bool {
	for heard := range d.days {
		if heard <= day {
			return true
		}
	}
	return false
}

// hear notes that a heartbeat was acknowledged that was not known before.
func (d *deeds) hear(m harness.Minute, r *heartbeatReport) {
	d.day(dayOf(m)).heard[m%minutesADay] = true
	if m > d.heard {
		d.heard, d.before = m, d.heard
	}
	boot, known := d.boots[r.counter()]
	switch {
	case !known:
		boot.before = d.before
	case m > boot.heard:
		boot.before = boot.heard
	}
	d.boots[r.counter()] = boot
	d.carry(m, d.lastOpen(m, boot.before), r)
	if r.test != nil {
		d.tests = append(d.tests, speedTest{m, r.test.down, r.test.up, r.test.latency})
	}
}

// carry notes the traffic that a heartbeat tells of, which arrived in one minute and is
// taken for carried in another: the counter is cumulative.
func (d *deeds) carry(m, carried harness.Minute, r *heartbeatReport) {
	boot := d.boots[r.counter()]
	if more := r.bytes - min(r.bytes, boot.bytes); dayOf(carried) < dayOf(m) {
		d.day(dayOf(m)).owed += more
	} else {
		d.day(dayOf(m)).bytes[carried%minutesADay/60] += more
	}
	d.boots[r.counter()] = bootDeeds{max(boot.bytes, r.bytes), m, boot.before}
}

// clockRight notes the traffic of all reports that were acknowledged while the servers'
// clock was wrong. They count as if they had come when it was set right.
func (d *deeds) clockRight(m harness.Minute) {
	if len(d.waiting) == 0 {
		return
	}
	carried := d.lastOpen(m, d.heard)
	for _, r := range d.waiting {
		boot := d.boots[r.counter()]
		boot.before = d.heard
		d.boots[r.counter()] = boot
		d.carry(m, carried, r)
	}
	d.waiting, d.heard, d.before = nil, m, d.heard
}

// lastOpen returns a minute, or, if nobody expects the hotspot to serve in its hour, the
// last one since the heartbeat before in which it was open (D96).
func (d *deeds) lastOpen(m, since harness.Minute) harness.Minute {
	const longest = 32 * minutesADay
	hour := m - m%60
	for at := hour + 59; at >= max(since, m-longest) || at >= hour; at-- {
		if d.inService(at) && d.isOpen(at) {
			return min(at, m)
		}
	}
	return m
}

func (d *deeds) inService(m harness.Minute) bool {
	return slices.ContainsFunc(d.service, func(in minuteSpan) bool { return in.from <= m && m <= in.to })
}

// due returns what a day was worth.
func (d *deeds) due(s *yearService, day int64) (due dueDay) {
	first := harness.Minute(day * minutesADay)
	did := d.days[day]
	if did == nil {
		did = &dayDeeds{}
	}
	for hour := range 24 {
		paid := false // some minute of the hour was expected, or would have been but for us
		for m := first + harness.Minute(hour)*60; m < first+harness.Minute(hour+1)*60; m++ {
			switch {
			case !d.inService(m):
				due.Outside++
			case !d.isOpen(m):
				due.Closed++
			case s.excused(m):
				due.Excused++
				paid = true
			default:
				due.Expected++
				paid = true
				if d.serves(m) {
					due.Served++
				}
			}
		}
		if paid {
			due.Bytes += did.bytes[hour]
		}
	}
	due.Bytes += did.owed
	last := first + minutesADay - 1
	if s.excused(last) && s.excused(last+3) { // down at its end: no test could arrive, so the tier stayed
		for s.excused(last) {
			last--
		}
	}
	due.Tier = d.tier(last)
	if due.Expected > 0 {
		due.Availability = int64(credit * due.Served / due.Expected)
	}
	due.Performance = due.Availability * map[string]int64{"standard": 0, "enhanced": 25, "premium": 50}[due.Tier] / 100
	due.Utilization = int64(min(due.Bytes*20_000/1e9, credit))
	return due
}

// serves reports whether a heartbeat arrived in a minute or in one of the three before.
func (d *deeds) serves(m harness.Minute) bool {
	for at := m - 3; at <= m; at++ {
		if did := d.days[dayOf(at)]; did != nil && did.heard[at%minutesADay] {
			return true
		}
	}
	return false
}

// tier is that of the last six speed tests of 48 hours.
func (d *deeds) tier(at harness.Minute) string {
	var n, down, up, latency int
	for _, t := range slices.Backward(d.tests) {
		if t.at <= at && t.at >= at-48*60 && n < 6 {
			n, down, up, latency = n+1, down+t.down, up+t.up, latency+t.latency
		}
	}
	switch {
	case n >= 2 && down >= 100*n && up >= 10*n && latency < 50*n:
		return "premium"
	case n >= 2 && down >= 50*n && up >= 5*n && latency < 75*n:
		return "enhanced"
	}
	return "standard"
}

// isOpen reports whether the hotspot meant to be open in a minute, by the hours that
// were in force at its end (D28).
func (d *deeds) isOpen(m harness.Minute) bool {
	for _, h := range slices.Backward(d.hours) {
		if h.from <= m {
			return h.hours == nil || h.hours.isOpen(m)
		}
	}
	return true
}

// openHours are operating hours (N10): openings by the local day on which they begin,
// in minutes after its midnight. One that ends after 24:00 runs into the next day.
type openHours struct {
	zone       *time.Location
	weekly     [7][]opening         // Sunday first
	exceptions map[string][]opening // by local date
}

type opening struct{ from, to int }

// isOpen goes by the clock on the wall.
func (h *openHours) isOpen(m harness.Minute) bool {
	wall := time.Unix(int64(m)*60, 0).In(h.zone)
	minute := wall.Hour()*60 + wall.Minute()
	date := time.Date(wall.Year(), wall.Month(), wall.Day(), 12, 0, 0, 0, time.UTC)
	opens := func(date time.Time, minute int) bool {
		openings, special := h.exceptions[date.Format(time.DateOnly)]
		if !special {
			openings = h.weekly[date.Weekday()]
		}
		return slices.ContainsFunc(openings, func(o opening) bool { return o.from <= minute && minute < o.to })
	}
	return opens(date, minute) || opens(date.AddDate(0, 0, -1), minute+minutesADay)
}

// fields are the hours as a request has them.
func (h *openHours) fields() any {
	if h == nil {
		return nil
	}
	clock := func(minute int) string {
		if minute > minutesADay {
			minute -= minutesADay
		}
		return fmt.Sprintf("%02d:%02d", minute/60, minute%60)
	}
	weekly, exceptions := []any{}, []any{}
	for i, day := range []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} {
		for _, o := range h.weekly[i] {
			weekly = append(weekly, harness.Fields{"days": []string{day}, "open": clock(o.from), "close": clock(o.to)})
		}
	}
	for date, openings := range h.exceptions {
		e := harness.Fields{"date": date}
		if len(openings) == 0 {
			e["closed"] = true
		} else {
			e["open"], e["close"] = clock(openings[0].from), clock(openings[0].to)
		}
		exceptions = append(exceptions, e)
	}
	return harness.Fields{"timezone": h.zone.String(), "weekly": weekly, "exceptions": exceptions}
}
