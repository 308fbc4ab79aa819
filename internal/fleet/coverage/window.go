package coverage

import (
	"math"
	"math/bits"

	"github.com/beacon-wifi/beacon/internal/geo"
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

// isNear reports whether a disc with a middle in the cell at that place of the
// grid, and up to that radius, may reach the window.
func (w *window) isNear(west, north, size, meters float64) bool {
	if max(north-w.south, w.north-north-size) > meters*w.perMeterY {
		return false
	}
	return w.gap(west, west+size) <= meters*w.perMeterX
}

// around is the smallest cell in which all discs are that may reach the window.
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
