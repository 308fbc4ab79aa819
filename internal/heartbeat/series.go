package heartbeat

import (
	"math/bits"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Point is one step of a Series.
type Point struct {
	At       time.Time
	Served   int     // minutes, of those expected
	Expected int     // minutes; 0: Uptime is undefined
	Uptime   float64 // 0..1
	Clients  int     // peak of the hours that the step touches
	Bytes    uint64  // a part of an hour has its share
	Tier     beacon.Tier
}

// Series splits from..to into steps of at least a minute and returns a point for each.
// There is one record for each day, in any order. Minutes that no record has sealed are
// not expected.
func Series(records []*Record, from, to time.Time, step time.Duration) (points []Point) {
	byDay := make(map[beacon.Day]*Record, len(records))
	for _, r := range records {
		byDay[r.day] = r
	}
	step = max(step, time.Minute)
	for at := from; at.Before(to); at = at.Add(step) {
		p := Point{At: at}
		end := at.Add(step)
		if end.After(to) {
			end = to
		}
		first, last := beacon.MinuteOf(at), firstFrom(end)
		for hour := hourOf(first); hour.first() < last; hour++ {
			if r := byDay[hour.day()]; r != nil {
				p.add(r, hour.ofDay(), max(first, hour.first())-hour.first(), min(last, hour.first()+60)-hour.first())
			}
		}
		if p.Expected > 0 {
			p.Uptime = float64(p.Served) / float64(p.Expected)
		}
		points = append(points, p)
	}
	return points
}

// add adds the minutes from..to of an hour, to excluded.
func (p *Point) add(r *Record, hour int, from, to beacon.Minute) {
	decided := rangeWord(0, int(from), int(to)) & rangeWord(0, 0, r.sealed-hour*60)
	expected := decided &^ r.why.from(hour*60)
	p.Expected += bits.OnesCount64(expected)
	p.Served += bits.OnesCount64(expected & r.served.from(hour*60))
	p.Clients = max(p.Clients, int(r.hours[hour]))
	bytes := r.carried(hour)
	p.Bytes += share(bytes, uint64(to)) - share(bytes, uint64(from))
	if hour < r.sealed/60 {
		p.Tier = r.tiers[hour]
	} else if r.sealed > hour*60 {
		p.Tier, _ = r.tier(r.day.Midnight() + beacon.Minute(r.sealed) - 1)
	}
}

// share returns the traffic of the first minutes of an hour, at a constant rate. The
// shares of all parts of an hour add up to its traffic.
func share(bytes, minutes uint64) uint64 {
	high, low := bits.Mul64(bytes, minutes)
	part, _ := bits.Div64(high, low, 60)
	return part
}
