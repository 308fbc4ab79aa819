package coverage

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// summary is what a map shows of many discs. It is formed in tree order.
type summary struct {
	totals
	reach float64 // upper bound of the radii
}

// totals are what a fork keeps of a summary, besides its own reach.
type totals struct {
	sum           geo.Vec // of their places
	count, online int32
	bounds        bounds // of their places
}

// bounds is a compact rectangle, rounded outwards.
type bounds struct{ south, north, west, east float32 }

func summarize[T Item](e *entry[T]) summary {
	lng := e.lng
	if lng == 180 { // it is in the first column, like -180°
		lng = -180
	}
	s := summary{totals{
		sum: e.place().Vec(), count: 1,
		bounds: bounds{roundedDown(e.lat), roundedUp(e.lat), roundedDown(lng), roundedUp(lng)},
	}, math.Abs(e.radius)}
	if e.online() {
		s.online = 1
	}
	return s
}

func (s *summary) add(o summary) {
	switch {
	case o.count == 0:
		return
	case s.count == 0:
		*s = o
		return
	}
	for axis := range s.sum {
		s.sum[axis] += o.sum[axis]
	}
	s.count += o.count
	s.online += o.online
	s.reach = max(s.reach, o.reach)
	s.bounds = bounds{
		min(s.bounds.south, o.bounds.south), max(s.bounds.north, o.bounds.north),
		min(s.bounds.west, o.bounds.west), max(s.bounds.east, o.bounds.east),
	}
}

func (n *node[T]) summary() summary {
	if n.fork != nil {
		return summary{n.fork.totals, float64(n.widest)}
	}
	var s summary
	for i := range n.discs {
		s.add(summarize(&n.discs[i]))
	}
	return s
}

// center returns the mean of the places: the place in the direction of the sum,
// clamped to the bounds, since shortest paths bend toward the poles.
func (s *summary) center() geo.Point {
	x, y, z := s.sum[0], s.sum[1], s.sum[2]
	b := &s.bounds
	return geo.Point{
		Lat: min(max(math.Atan2(z, math.Hypot(x, y))/radian, float64(b.south)), float64(b.north)),
		Lng: min(max(math.Atan2(y, x)/radian, float64(b.west)), float64(b.east)),
	}
}

// radiusAround returns a radius that reaches from the center to the end of each disc,
// and may reach farther: the length of a path to the farthest corner of the bounds
// that goes east where a degree is longest, plus the largest radius.
func (s *summary) radiusAround(center geo.Point) float64 {
	south, north := float64(s.bounds.south), float64(s.bounds.north)
	up := max(north-center.Lat, center.Lat-south)
	along := max(float64(s.bounds.east)-center.Lng, center.Lng-float64(s.bounds.west))
	nearest := max(0, south, -north) // to the equator, of the bounds
	const halfway = math.Pi * geo.EarthRadius
	return min(math.Hypot(up, along*math.Cos(nearest*radian))*radian*geo.EarthRadius+s.reach, halfway)
}
