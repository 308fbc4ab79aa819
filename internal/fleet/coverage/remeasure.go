package coverage

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// marks are the discs that came online and went; the cells that they reach are
// measured again.
type marks struct {
	discs   []mark
	strokes [zones][]stroke
}

// mark is a disc that came or went.
type mark struct {
	place  geo.Point
	radius float64 // metres
	gone   bool
}

// stroke is a mark on the grid of a zone: the deepest columns and rows between which
// its disc certainly lies.
type stroke struct {
	west, east, north, south uint32
	disc                     int32
}

func (m *marks) mark(place geo.Point, radius float64, gone bool) {
	m.discs = append(m.discs, mark{place, radius, gone})
	degrees := radius / geo.EarthRadius / radian
	for z := range zones {
		if zoneOf(min(place.Lat+degrees, 90)) == z || zoneOf(max(place.Lat-degrees, -90)) == z || zoneOf(place.Lat) == z {
			m.strike(z, place, radius)
		}
	}
}

// strike adds the strokes of the last disc in a zone: two, if it crosses ±180°.
func (m *marks) strike(z zone, place geo.Point, radius float64) {
	const margin = 2
	at := rect{place.Lat, place.Lat, place.Lng, place.Lng}
	w := newWindow(z, &at, radius)
	s := stroke{disc: int32(len(m.discs) - 1)}
	s.north = deepestAt(w.north - radius*w.perMeterY - margin*sizes[deepest])
	s.south = deepestAt(w.south + radius*w.perMeterY + margin*sizes[deepest])
	west, east := w.west-radius*w.perMeterX-margin*sizes[deepest], w.east+radius*w.perMeterX+margin*sizes[deepest]
	add := func(west, east float64) {
		s.west, s.east = deepestAt(west), deepestAt(east)
		m.strokes[z] = append(m.strokes[z], s)
	}
	switch {
	case east-west >= 1 || math.IsInf(east, 0):
		add(0, 1)
	case west < 0:
		add(0, east)
		add(west+1, 1)
	case east > 1:
		add(west, 1)
		add(0, east-1)
	default:
		add(west, east)
	}
}

// own moves the strokes that may reach the cell to the front, and returns them.
func (c cell) own(strokes []stroke) []stroke {
	down := deepest - c.level
	west, north := c.x<<down, c.y<<down
	size := uint32(1)<<down - 1
	n := 0
	for i, s := range strokes {
		if s.west <= west+size && s.east >= west && s.north <= north+size && s.south >= north {
			strokes[i], strokes[n] = strokes[n], s
			n++
		}
	}
	return strokes[:n]
}

// matter reports whether a cell with a known area must be measured again. A cell that
// a single disc covers stays so, unless such a disc is gone.
func (m *marks) matter(strokes []stroke, r *rect, sole bool) bool {
	middle := r.middle()
	for _, s := range strokes {
		d := &m.discs[s.disc]
		if sole && !d.gone {
			continue
		}
		disc := newDisc(middle.near(d.place.Lat), d.place.Lng, d.radius) // to the bit as measure has it
		if disc.reaches(r) && (!sole || disc.covers(r)) {
			return true
		}
	}
	return false
}

// measurer measures the cells of a new tree that are unknown, and those that the
// marks reach. First it lists them; then it measures them while nothing of the tree
// changes but areas, so that many goroutines can take part; then it sums up.
type measurer[T Item] struct {
	marks
	world *[zones]*node[T]
	plots []plot[T]
}

// plot is a leaf to measure.
type plot[T Item] struct {
	leaf *node[T]
	cell cell
}

// note marks where changes may have covered or uncovered ground.
func (s *measurer[T]) note(changes []change[T]) {
	for i := range changes {
		c := &changes[i]
		before, after := max(0, c.was), max(0, c.radius)
		if c.remove {
			after = 0
		}
		if before == after {
			continue
		}
		if before > 0 {
			s.mark(c.place(), before, true)
		}
		if after > 0 {
			s.mark(c.place(), after, false)
		}
	}
}

// measureAll makes all areas known. Unknown nodes are not published yet, so they are
// changed in place.
func (s *measurer[T]) measureAll() {
	for z, root := range s.world {
		s.world[z] = s.list(root, cell{zone: zone(z)}, s.strokes[z])
	}
	inParallel(len(s.plots), 16, s.measure)
	for z, root := range s.world {
		s.world[z] = sumUp(root)
	}
}

// list lists what is to be measured of a cell, and returns the node with that unknown.
// It reorders the strokes.
func (s *measurer[T]) list(n *node[T], c cell, strokes []stroke) *node[T] {
	if len(strokes) == 0 && n.isKnown() {
		return n
	}
	if c.level >= firstLevel && (n == nil || n.fork == nil) {
		if r := c.rect(); !n.isKnown() || s.matter(strokes, &r, n != nil && n.sole) {
			n = unmeasured(n)
			s.plots = append(s.plots, plot[T]{n, c})
		}
		return n
	}
	var kids [4]*node[T]
	isSame := n.isKnown()
	for i := range kids {
		kid := c.kid(i)
		kids[i] = s.list(n.kid(i), kid, kid.own(strokes))
		isSame = isSame && kids[i] == n.kid(i)
	}
	switch {
	case isSame:
		return n
	case n == nil:
		return newFork(kids)
	default:
		n = unmeasured(n)
		n.fork.kids = kids
		return n
	}
}

// unmeasured returns a node that may be changed, with its area unknown.
func unmeasured[T Item](n *node[T]) *node[T] {
	switch {
	case n == nil:
		return newLeaf[T](nil)
	case !n.isKnown():
		return n
	case n.fork == nil:
		mine := *n
		mine.area = unknown
		return &mine
	default:
		mine := *n.fork
		mine.node.fork, mine.node.area = &mine, unknown
		return &mine.node
	}
}

func (s *measurer[T]) measure(low, high int) {
	m := meters.Get().(*meter)
	defer meters.Put(m)
	for _, p := range s.plots[low:high] {
		r := p.cell.rect()
		p.leaf.area, p.leaf.sole = measure(m, s.world, &r)
	}
}

// sumUp sums up the areas of a node whose leaves are measured. Leaves with neither
// discs nor covered ground are left out.
func sumUp[T Item](n *node[T]) *node[T] {
	switch {
	case n == nil || n.area == 0 && n.count() == 0:
		return nil
	case n.isKnown() || n.fork == nil: // a leaf that cannot be measured stays unknown
		return n
	}
	area, isEmpty := 0.0, true
	for i, kid := range n.fork.kids {
		kid = sumUp(kid)
		if n.fork.kids[i] = kid; kid != nil {
			area += kid.area
			isEmpty = false
		}
	}
	if isEmpty {
		return nil
	}
	n.area = area
	return n
}
