package coverage

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// radian is one degree in radians.
const radian = math.Pi / 180

// rect is the ground between two parallels and two meridians, in degrees. It is at
// most half the Earth wide and does not cross ±180°, so it is the intersection of its
// four sides, each of them a hemisphere or a cap.
type rect struct {
	south, north, west, east float64
}

// area returns the ground within, in steradians.
func (r rect) area() float64 {
	box := geo.Box{North: r.north, South: r.south, East: r.east, West: r.west}
	return box.Area() / (geo.EarthRadius * geo.EarthRadius)
}

// clip returns the intersection of two rectangles, which may be empty.
func (r rect) clip(o rect) rect {
	return rect{max(r.south, o.south), min(r.north, o.north), max(r.west, o.west), min(r.east, o.east)}
}

func (r rect) empty() bool { return !(r.south < r.north && r.west < r.east) }

// within reports whether o contains all of r.
func (r rect) within(o rect) bool {
	return r.south >= o.south && r.north <= o.north && r.west >= o.west && r.east <= o.east
}

// length returns the length of the longer sides, in radians.
func (r *rect) length() float64 {
	return max(r.north-r.south, r.width()) * radian
}

// width returns the width at the middle, from west to east, in degrees of a meridian.
func (r *rect) width() float64 {
	return (r.east - r.west) * math.Cos((r.south+r.north)/2*radian)
}

func (r *rect) middle() latitude { return newLatitude((r.south + r.north) / 2) }

// halves cuts the longer sides in two.
func (r *rect) halves() (one, other rect) {
	one, other = *r, *r
	if r.north-r.south > r.width() {
		one.south = (r.south + r.north) / 2
		other.north = one.south
	} else {
		one.east = (r.west + r.east) / 2
		other.west = one.east
	}
	return one, other
}

// turned brings a difference of longitudes into -180 to 180 degrees. A small one
// stays exact.
func turned(degrees float64) float64 {
	switch {
	case degrees > 180:
		return degrees - 360
	case degrees < -180:
		return degrees + 360
	default:
		return degrees
	}
}
