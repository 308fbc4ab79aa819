package heartbeat

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Facts returns what the hotspot did in the decided minutes. Traffic counts in hours of
// which a minute was expected or excused, and where it was carried before the hotspot
// closed: other traffic of a hotspot that is closed or not in service earns no reward.
func (r *Record) Facts() beacon.Facts {
	served := r.servedMinutes()
	f := beacon.Facts{Served: served.count(), Expected: r.decided, Tier: r.Tier()}
	var open dayBits // in service, and not closed
	for i := range open {
		outside, closed := r.why.outside[i], r.why.closed[i]
		f.Outside += bits.OnesCount64(outside)
		f.Closed += bits.OnesCount64(closed &^ outside)
		f.Excused += bits.OnesCount64(r.why.excusedWord(i))
		open[i] = rangeWord(i, 0, r.decided) &^ closed &^ outside
	}
	f.Expected -= f.Outside + f.Closed + f.Excused
	for hour := range hoursADay {
		if open.from(hour*60)&hourBits != 0 {
			f.Bytes += r.carried(hour)
		} else {
			f.Bytes += r.owed(hour)
		}
	}
	return f
}

// RecordFacts returns the facts of a record as stored on disk.
func RecordFacts(data []byte) (beacon.Facts, error) {
	r, err := DecodeRecord(data)
	if err != nil {
		return beacon.Facts{}, err
	}
	return r.Facts(), nil
}

// RecordDid returns what the hotspot did by a record as stored on disk.
func RecordDid(data []byte) (beacon.Did, error) {
	r, err := DecodeRecord(data)
	if err != nil {
		return beacon.Did{}, err
	}
	return r.Did(), nil
}

// Facts returns what a hotspot did on a day, as its record would say if it were written
// now and decided up to and including this minute. r is the record of that day on disk,
// or nil if memory has all of it. known is false if neither has the day.
func (t *Table) Facts(l *Live, day beacon.Day, r *Record, now time.Time) (f beacon.Facts, known bool) {
	d, known := t.readDay(l, day, r, beacon.MinuteOf(now), 0)
	return d.Facts, known
}

// Decided is Facts as of the minutes that are decided, with those that it served. Later
// beats do not change them.
func (t *Table) Decided(l *Live, day beacon.Day, r *Record, now time.Time) (d beacon.Did, known bool) {
	return t.readDay(l, day, r, beacon.MinuteOf(now), decisionLag)
}

// readDay returns what the record of a day says, decided up to and including the minute that
// is lag minutes before now. It returns false if there is no record.
func (t *Table) readDay(l *Live, day beacon.Day, r *Record, now, lag beacon.Minute) (d beacon.Did, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed != 0 {
		k := t.unpack(l)
		k.addMissing(now)
		if at, found := k.find(day); found {
			own := &k.days[at]
			if r != nil {
				own.join(r)
			}
			k.decideUpTo(at, max(now+1, lag)-lag)
			d = own.Did()
			if own.decided > 0 && !own.AllDecided() { // the current hour has a tier too
				d.Tier, _ = own.tier(day.Midnight() + beacon.Minute(own.decided) - 1)
			}
			return d, true
		}
	}
	if r == nil {
		return beacon.Did{}, false
	}
	return r.Did(), true
}

// Did returns what the hotspot did in the decided minutes, and in which.
func (r *Record) Did() beacon.Did {
	d := beacon.Did{Facts: r.Facts(), Minutes: r.servedMinutes()}
	for i := range d.ExcusedMinutes {
		d.ExcusedMinutes[i] = r.why.excusedWord(i)
	}
	return d
}

// Unrecorded returns why nothing was expected of a hotspot on a day that is over and has
// no record, such as one on which the service was down. It goes by the hotspot's hours of
// today. known is false if by these something was expected.
func (t *Table) Unrecorded(l *Live, day beacon.Day) (f beacon.Facts, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 {
		return beacon.Facts{}, false
	}
	c := t.rules(l)
	why, r := c.reasons(day), Record{day: day, decided: beacon.MinutesADay}
	r.why.add(&why, 0, beacon.MinutesADay)
	f = r.Facts()
	return f, f.Expected == 0
}

// Latest returns the records of a hotspot, by day, as they would be if they were
// written now and decided up to and including this minute: the given ones, merged with
// those in memory.
func (t *Table) Latest(l *Live, records []*Record, now time.Time) []*Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	minute := beacon.MinuteOf(now)
	k := t.unpack(l)
	k.day(minute.Day())
	byDay := map[beacon.Day]*Record{}
	for _, r := range records {
		byDay[r.day] = r
	}
	var prev *Record
	for i := range k.days {
		own := k.days[i].copy()
		if r := byDay[own.day]; r != nil {
			own.join(r)
		}
		own.decide(&k.rules, prev, minute+1)
		byDay[own.day], prev = own, own
	}
	return slices.SortedFunc(maps.Values(byDay), func(a, b *Record) int { return cmp.Compare(a.day, b.day) })
}

// Metrics returns metrics that are exact at now, which is not before the newest beat.
//
// Connections24h is the sum of the peak clients of each hour, for this hour and the 23
// before: a client that stays for three hours counts three times. Bytes24h is of the
// same 24 hours (decision D101).
func (t *Table) Metrics(l *Live, now time.Time) (m beacon.Metrics) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.packedDays(l)) == 0 {
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
