package coverage

import (
	"math"

	"github.com/beacon-wifi/beacon/geo"
)

// window is a rectangle on the grid of a zone, by the part of the zone to its
// west and north, to look for what may be near it at the cost of comparisons.
type window struct {
	west, east, north, south float64
	// How wide and high a metre is on the grid, at most.
	perMeterX, perMeterY float64
}

// newWindow is for discs whose radius is up to so many metres.
func newWindow(z zone, r *rect, meters float64) window {
	const slack = 1.05 // an arc is little longer than its sine where that is below a half
	farthest := min(90, max(math.Abs(r.south), math.Abs(r.north))+meters/geo.EarthRadius/radian)
	metersAround := geo.EarthRadius * math.Cos(farthest*radian)
	w := window{
		west: (r.west + 180) / 360, east: (r.east + 180) / 360, north: z.part(r.north), south: z.part(r.south),
		perMeterX: slack / (2 * math.Pi * metersAround),
	}
	w.perMeterY = w.perMeterX
	if z != mercator {
		w.perMeterY = slack / (geo.EarthRadius * (90 - edge) * radian)
	}
	if meters > metersAround/2 { // around a pole, everything may be near
		w.perMeterX = math.Inf(1)
		if z == mercator {
			w.perMeterY = math.Inf(1)
		}
	}
	return w
}

// isNear reports whether a disc with a middle in the cell and up to that radius
// may reach the window.
func (w *window) isNear(c cell, meters float64) bool {
	size := sizes[c.level]
	north := float64(c.y) * size
	if max(north-w.south, w.north-north-size) > meters*w.perMeterY {
		return false
	}
	west := float64(c.x) * size
	return w.gap(west, west+size) <= meters*w.perMeterX
}

// gap is how far something is to the east or west, the nearer way around.
func (w *window) gap(west, east float64) float64 {
	after, before := west-w.east, w.west-east
	switch {
	case after > 0:
		return min(after, before+1)
	case before > 0:
		return min(before, after+1)
	default:
		return 0
	}
}

// sizes are those of a cell at each level.
var sizes = func() (all [deepest + 1]float64) {
	for level := range all {
		all[level] = math.Ldexp(1, -level)
	}
	return all
}()
