package geo

import (
	"iter"
	"math"
)

// Box is the part of the Earth between two parallels and two meridians, borders
// included. It extends from West eastwards to East, so a box with West > East crosses
// the ±180° meridian (decision N20).
type Box struct {
	North, South, East, West float64
}

// Around returns a box around points, or false for none. If it can be narrower that way, it
// crosses the ±180° meridian; it may be wider than it must be by a degree on each side of
// that.
func Around(points iter.Seq[Point]) (Box, bool) {
	b := Box{North: -90, South: 90, East: -180, West: 180}
	var degrees [360]bool // from -180° on: those with points
	for p := range points {
		b.North, b.South = max(b.North, p.Lat), min(b.South, p.Lat)
		b.East, b.West = max(b.East, p.Lng), min(b.West, p.Lng)
		degrees[min(int(p.Lng+180), 359)] = true
	}
	if b.North < b.South {
		return Box{}, false
	}
	// The widest stretch without points inside of the box is left out, if it is wider than
	// what is outside.
	outside := 360 - int(math.Ceil(b.Width()))
	last := int(b.West + 180)
	for i := last + 1; i < len(degrees); i++ {
		if !degrees[i] {
			continue
		}
		if empty := i - last - 1; empty > outside {
			outside, b.East, b.West = empty, float64(last+1-180), float64(i-180)
		}
		last = i
	}
	return b, true
}

// Valid reports whether the box is on Earth and has an area. It is written so that
// NaN fails.
func (b Box) Valid() bool {
	return Point{b.North, b.East}.Valid() && Point{b.South, b.West}.Valid() &&
		b.South < b.North && b.Width() > 0
}

// CrossesAntimeridian reports whether the box continues on the far side of ±180°.
func (b Box) CrossesAntimeridian() bool { return b.West > b.East }

// Width returns the extent from west to east in degrees, 0 to 360.
func (b Box) Width() float64 {
	if b.CrossesAntimeridian() {
		return b.East - b.West + 360
	}
	return b.East - b.West
}

// Contains reports whether the point lies in the box or on its border. A pole lies on
// every meridian, and a point on ±180° counts under both longitudes.
func (b Box) Contains(p Point) bool {
	if !(p.Lat >= b.South && p.Lat <= b.North) {
		return false
	}
	if math.Abs(p.Lat) == 90 {
		return true
	}
	if math.Abs(p.Lng) == 180 {
		return b.containsLng(180) || b.containsLng(-180)
	}
	return b.containsLng(p.Lng)
}

func (b Box) containsLng(lng float64) bool {
	if b.CrossesAntimeridian() {
		return lng >= b.West || lng <= b.East
	}
	return lng >= b.West && lng <= b.East
}

// Area returns the area of the box in square metres. The difference of the two sines
// is computed as a product, which keeps its precision in a box of one metre.
func (b Box) Area() float64 {
	const radians = math.Pi / 180
	_, cosMiddle := sincos((b.North + b.South) / 2)
	height := 2 * cosMiddle * math.Sin((b.North-b.South)/2*radians)
	return EarthRadius * EarthRadius * b.Width() * radians * height
}
