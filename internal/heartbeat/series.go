package heartbeat

import (
	"math/bits"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Point is one step of a Series.
type Point struct {
	At       time.Time
	Served   int    // minutes, of those expected
	Expected int    // minutes
	Clients  int    // peak of the hours that the step touches
	Bytes    uint64 // a part of an hour has its share
	Tier     beacon.Tier
}

// Series splits from..to into steps of at least a minute and returns a point for each.
// There is one record for each day, in any order. Minutes that no record has decided are
// not expected.
func Series(records []*Record, from, to time.Time, step time.Duration) (points []Point) {
	byDay := make(map[beacon.Day]*Record, len(records))
	for _, r := range records {
		byDay[r.day] = r
	}
	step = max(step, time.Minute)
	for at := from; at.Before(to); at = at.Add(step) {
		p := Point{At: at}
		end := beacon.Earlier(at.Add(step), to)
		first, last := beacon.MinuteOf(at), firstFrom(end)
		for hour := hourOf(first); hour.first() < last; hour++ {
			if r := byDay[hour.day()]; r != nil {
				p.add(r, hour.ofDay(), max(first, hour.first())-hour.first(), min(last, hour.first()+60)-hour.first())
			}
		}
		points = append(points, p)
	}
	return points
}

// add adds the minutes from..to of an hour, to excluded.
func (p *Point) add(r *Record, hour int, from, to beacon.Minute) {
	decided := rangeWord(0, int(from), int(to)) & rangeWord(0, 0, r.decided-hour*60)
	expected := decided &^ r.why.from(hour*60)
	p.Expected += bits.OnesCount64(expected)
	p.Served += bits.OnesCount64(expected & r.served.from(hour*60))
	p.Clients = max(p.Clients, int(r.hours[hour]))
	bytes := r.carried(hour)
	p.Bytes += share(bytes, uint64(to)) - share(bytes, uint64(from))
	if hour < r.decided/60 {
		p.Tier = r.tiers[hour]
	} else if r.decided > hour*60 {
		p.Tier, _ = r.tier(r.day.Midnight() + beacon.Minute(r.decided) - 1)
	}
}

// share returns the traffic of the first minutes of an hour, at a constant rate. The
// shares of all parts of an hour add up to its traffic.
func share(bytes, minutes uint64) uint64 {
	high, low := bits.Mul64(bytes, minutes)
	part, _ := bits.Div64(high, low, 60)
	return part
}

// Backfill builds the records of a hotspot whose beats of many days are known in
// advance, such as those of a demonstration. They equal the records that a Table would
// have written, folded at the same moments, but take a hundredth of the time: nothing
// is packed between two beats, and the beats of an hour are added at once. It is not
// safe for concurrent use.
type Backfill struct {
	service *Outages
	days    openDays
}

// NewBackfill returns a Backfill of a hotspot that never beat. It excuses the outages
// of s.
func NewBackfill(s *Outages, h beacon.Hotspot) *Backfill {
	b := &Backfill{service: s}
	b.Place(h)
	return b
}

// Place applies what the hotspot's owner changed.
func (c *Backfill) Place(h beacon.Hotspot) {
	active, past := tenure(&h)
	c.days.rules = rules{active: active, past: past, deleted: h.Deleted(), hours: newTimeline("", &h), service: c.service}
}

// Beats adds count beats, one a minute, of which b is the last. The earlier ones differ
// in time and sequence number, and have no speed test. All must be new, and of one
// hour; otherwise they are dropped.
func (c *Backfill) Beats(b *Beat, count int) {
	last := b.minute()
	first := last + 1 - beacon.Minute(max(count, 1))
	if !b.valid() || count < 1 || hourOf(first) != hourOf(last) || b.Seq < uint64(count) {
		return
	}
	r := c.day(last.Day())
	if r == nil {
		return
	}
	if quality := b.Signal; quality != beacon.NoSignal && quality <= beacon.ExcellentSignal {
		var others samples
		others[quality-1] = uint16(count - 1)
		r.signals[hourOf(last).ofDay()/signalHours].plus(others)
	}
	r.served.setRange(first.OfDay(), last.OfDay())
	r.add(b, true)
	if known := r.find(b.Boot); known != nil {
		known.seqs.join(seqs{top: b.Seq, window: 1<<(count-1) - 1})
	}
	c.days.chain(1)
}

// day is openDays.day with a shortcut for the newest day.
func (c *Backfill) day(day beacon.Day) *Record {
	if n := len(c.days.days); n > 0 && c.days.days[n-1].day == day {
		return &c.days.days[n-1]
	}
	return c.days.day(day)
}

// Fold calls each with the records that a fold at now writes, provided that no earlier
// beat is missing. Days after last are left out: they are not complete. A record is valid
// only during the call.
func (c *Backfill) Fold(now time.Time, last beacon.Day, each func(*Record)) {
	minute := beacon.MinuteOf(now)
	if c.days.addMissing(minute); len(c.days.days) == 0 {
		return
	}
	done := c.days.fold(minute, FinalAt(minute), func(r *Record) {
		if r.day <= last {
			each(r)
		}
	})
	c.days.drop(done)
}
