package heartbeat

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Metrics returns metrics that are exact at now, which is not before the newest beat.
//
// Connections24h is the sum of the peak clients of each hour, for this hour and the 23
// before: a client that stays for three hours counts three times. Bytes24h is of the
// same 24 hours (decision D101).
func (t *Table) Metrics(l *Live, now time.Time) (m beacon.Metrics) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.book(l)) == 0 {
		return beacon.Metrics{}
	}
	if l.uncounted != 0 {
		m.UncountedAt, m.Uncounted = beacon.Minute(l.uncounted>>uncountedBits).Time(), beacon.Uncounted(l.uncounted&(1<<uncountedBits-1))
	}
	if l.fell != 0 {
		m.FellAt = l.fell.Time()
	}
	k := t.unpack(l)
	minute := beacon.MinuteOf(now)
	r := k.day(minute.Day())
	if r == nil { // the clock was set back by days
		r = &k.days[0]
		minute = r.day.Midnight()
	}
	hour := hourOf(minute).ofDay()
	uptime := k.sum(r, minute.OfDay()+1)
	m.Uptime30d = tenThousandths(uptime.served, uptime.expected)
	m.Bytes24h, m.Connections24h = r.traffic(hour)
	m.Tier, _ = r.tier(minute)
	m.Signal = median(r.heard(hour), samples{})
	m.Clients = int(l.clients)
	if seen := l.seen.Load(); seen > 0 {
		m.Seen = time.UnixMicro(seen).UTC()
	}
	return m
}

// minutes counts what uptime is computed from.
type minutes struct{ served, expected int }

// sum counts the first minutes of a day and the 29 days before, for a hotspot that is in
// service now. What it did before it was out of service counts (decision D121).
func (c *rules) sum(r *Record, first int) (total minutes) {
	if c.active == 0 {
		return minutes{}
	}
	today := r.sum(c, first)
	total = minutes{int(today.served), int(today.expected)}
	for _, s := range r.past {
		total.served += int(s.served)
		total.expected += int(s.expected)
	}
	return total
}

// traffic returns the sums of an hour of the day and the 23 before it.
func (r *Record) traffic(hour int) (bytes uint64, connections int) {
	for h := range hoursADay {
		if h <= hour {
			bytes += r.carried(h)
			connections += int(r.hours[h])
		}
		if h > hour {
			bytes += r.before.bytes[h]
			connections += int(r.before.hours[h])
		}
	}
	return bytes, connections
}

// heard counts the samples of the step that contains an hour, and of the eight before.
func (r *Record) heard(hour int) (total samples) {
	now := hour / signalHours
	for step := range signalSteps {
		if step <= now {
			total.plus(r.signals[step])
		}
		if step >= now {
			total.plus(r.before.signals[step])
		}
	}
	return total
}

// tenThousandths rounds half up, but returns 10,000 only for all and 0 only for none.
func tenThousandths(part, whole int) int {
	const one = 10_000
	switch {
	case part == 0 || whole == 0:
		return 0
	case part == whole:
		return one
	}
	return min(max((2*part*one+whole)/(2*whole), 1), one-1)
}
