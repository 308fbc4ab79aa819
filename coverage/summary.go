package coverage

import (
	"math"

	"github.com/beacon-wifi/beacon/geo"
)

// summary is what a map shows of many discs. It is formed in the order of the
// tree.
type summary struct {
	totals
	reach float64 // no radius is larger
}

// totals are what a fork keeps of it, beside its own reach.
type totals struct {
	sum           geo.Vec // of their places
	count, online int32
	bounds        bounds // of their places
}

// bounds is a rectangle in little memory, rounded outwards.
type bounds struct{ south, north, west, east float32 }

func summarize[T Item](e *entry[T]) summary {
	lng := e.lng
	if lng == 180 { // it is in the first column, like what is at -180°
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

// center is the mean of the places: the place in the direction of the sum, held
// within the bounds, since the straightest way leads past the poles.
func (s *summary) center() geo.Point {
	x, y, z := s.sum[0], s.sum[1], s.sum[2]
	b := &s.bounds
	return geo.Point{
		Lat: min(max(math.Atan2(z, math.Hypot(x, y))/radian, float64(b.south)), float64(b.north)),
		Lng: min(max(math.Atan2(y, x)/radian, float64(b.west)), float64(b.east)),
	}
}

// radiusAround reaches from the center to the end of each disc: as far as the
// farthest corner of the bounds, and the largest radius. In bounds of more than
// half the Earth, it might not be a corner that is farthest.
func (s *summary) radiusAround(center geo.Point) float64 {
	const halfway = math.Pi * geo.EarthRadius
	b := &s.bounds
	if b.east-b.west > 180 {
		return halfway
	}
	farthest := 0.0
	for _, lat := range []float32{b.south, b.north} {
		for _, lng := range []float32{b.west, b.east} {
			farthest = max(farthest, geo.Distance(center, geo.Point{Lat: float64(lat), Lng: float64(lng)}))
		}
	}
	return min(farthest+s.reach, halfway)
}
