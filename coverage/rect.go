package coverage

import (
	"math"

	"github.com/beacon-wifi/beacon/geo"
)

// radian is one degree.
const radian = math.Pi / 180

// rect is the ground between two parallels and two meridians, in degrees. It is
// at most half the Earth wide and does not cross ±180°, so that it is what its
// four sides have in common, each of them half of the sphere or a cap of it.
type rect struct {
	south, north, west, east float64
}

// area is the ground within, in steradians.
func (r rect) area() float64 {
	box := geo.Box{North: r.north, South: r.south, East: r.east, West: r.west}
	return box.Area() / (geo.EarthRadius * geo.EarthRadius)
}

// clip is what two rectangles have in common. It is empty if they have nothing.
func (r rect) clip(o rect) rect {
	return rect{max(r.south, o.south), min(r.north, o.north), max(r.west, o.west), min(r.east, o.east)}
}

func (r rect) empty() bool { return !(r.south < r.north && r.west < r.east) }

// within reports whether the other contains all of it.
func (r rect) within(o rect) bool {
	return r.south >= o.south && r.north <= o.north && r.west >= o.west && r.east <= o.east
}

// quarter is one of four parts of equal height and width.
func (r rect) quarter(n int) rect {
	lat, lng := (r.south+r.north)/2, (r.west+r.east)/2
	if n&1 == 0 {
		r.east = lng
	} else {
		r.west = lng
	}
	if n&2 == 0 {
		r.south = lat
	} else {
		r.north = lat
	}
	return r
}

// turned brings a difference of longitudes into -180 to 180 degrees. What is
// near stays exact.
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
