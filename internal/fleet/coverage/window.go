package coverage

import (
	"math"
	"math/bits"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// window is a rectangle on the grid of a zone, given by the parts of the zone to its
// west and north. It finds what may be near it by comparisons alone.
type window struct {
	west, east, north, south float64
	// Upper bounds of the width and height of a metre on the grid.
	perMeterX, perMeterY float64
}

// newWindow returns a window for discs with radii up to that many metres.
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

// isNear reports whether a disc with its middle in the cell at that place of the
// grid, and up to that radius, may reach the window.
func (w *window) isNear(west, north, size, meters float64) bool {
	if max(north-w.south, w.north-north-size) > meters*w.perMeterY {
		return false
	}
	return w.gap(west, west+size) <= meters*w.perMeterX
}

// around returns the smallest cell that contains all discs that may reach the window.
func (w *window) around(z zone, meters float64) cell {
	x, y := meters*w.perMeterX, meters*w.perMeterY
	if w.west-x < 0 || w.east+x >= 1 {
		return cell{zone: z}
	}
	const count = 1 << deepest
	west, east := clampedTo(count-1, (w.west-x)*count), clampedTo(count-1, (w.east+x)*count)
	north, south := clampedTo(count-1, (w.north-y)*count), clampedTo(count-1, (w.south+y)*count)
	differ := bits.Len32((west ^ east) | (north ^ south))
	return cell{z, deepest, west, north}.up(deepest - uint8(differ))
}

// gap returns how far something is to the east or west, the shorter way around.
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

// sizes are the cell sizes of each level.
var sizes = func() (all [deepest + 1]float64) {
	for level := range all {
		all[level] = math.Ldexp(1, -level)
	}
	return all
}()
