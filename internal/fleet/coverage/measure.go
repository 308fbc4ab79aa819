package coverage

import (
	"math"
	"math/bits"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// measure returns the part of a rectangle that online discs cover, in steradians. Sole
// reports whether a single disc covers all of it.
func measure[T Item](m *meter, world *[zones]*node[T], r *rect) (area float64, sole bool) {
	m.discs = m.discs[:0]
	s := search[T]{meter: m, rect: r, middle: r.middle()}
	if s.gather(world); s.sole {
		return r.area(), true
	}
	return m.halved(r, m.discs), false
}

// search collects the discs that reach a rectangle, in tree order. It ends early when
// one of them covers all of it.
type search[T Item] struct {
	meter  *meter
	rect   *rect
	middle latitude
	window
	sole bool
}

// isNearTo is isNear for one disc.
func (s *search[T]) isNearTo(lat, lng, meters float64) bool {
	const degrees = 1e-5 // of latitude in a metre, rounded up
	if max(s.rect.south-lat, lat-s.rect.north) > meters*degrees {
		return false
	}
	x := (lng + 180) * (1. / 360)
	return s.gap(x, x) <= meters*s.perMeterX
}

func (s *search[T]) gather(world *[zones]*node[T]) {
	for z, root := range world {
		if root == nil || s.sole {
			continue
		}
		c := cell{zone: zone(z)}
		meters := float64(root.reach)
		degrees, of := meters/geo.EarthRadius/radian, zoneRects[z]
		if s.rect.south-degrees <= of.north && s.rect.north+degrees >= of.south {
			s.window = newWindow(c.zone, s.rect, meters)
			s.visitWithin(root, s.around(c.zone, meters))
		}
	}
}

// visitWithin visits the part of the tree in a cell, by the shortest path.
func (s *search[T]) visitWithin(n *node[T], around cell) {
	c := cell{zone: around.zone}
	for c.level < around.level && n.fork != nil {
		kid := c.kidToward(around)
		if n = n.fork.kids[kid]; n == nil {
			return
		}
		c = c.kid(kid)
	}
	size := sizes[c.level]
	s.visit(n, float64(c.x)*size, float64(c.y)*size, size)
}

// visit visits a node. West and north are the parts of the zone to its west and
// north.
func (s *search[T]) visit(n *node[T], west, north, size float64) {
	if n.fork == nil {
		s.scan(n.discs)
		return
	}
	size /= 2
	for i, kid := range n.fork.kids {
		if kid == nil || kid.reach == 0 || s.sole {
			continue
		}
		kidWest, kidNorth := west, north
		if i&1 != 0 {
			kidWest += size
		}
		if i&2 != 0 {
			kidNorth += size
		}
		if s.isNear(kidWest, kidNorth, size, float64(kid.reach)) {
			s.visit(kid, kidWest, kidNorth, size)
		}
	}
}

func (s *search[T]) scan(discs []entry[T]) {
	for i := range discs {
		d := &discs[i]
		if !d.online() || !s.isNearTo(d.lat, d.lng, d.radius) {
			continue
		}
		disc := newDisc(s.middle.near(d.lat), d.lng, d.radius)
		if !disc.reaches(s.rect) {
			continue
		}
		if s.sole = disc.covers(s.rect); s.sole {
			return
		}
		s.meter.discs = append(s.meter.discs, disc)
	}
}

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
	west, east := deepestAt(w.west-x), deepestAt(w.east+x)
	north, south := deepestAt(w.north-y), deepestAt(w.south+y)
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
