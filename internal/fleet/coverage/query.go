package coverage

import (
	"math"
	"slices"
	"sync"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// squareKilometers converts an area from steradians.
const squareKilometers = geo.EarthRadius * geo.EarthRadius / 1e6

// meters is a pool of workspaces.
var meters = sync.Pool{New: func() any { return new(meter) }}

// Area returns how much of a valid box the online discs cover together, in square
// kilometres (decision N20). Its cost grows with the border of the box.
func (s *Snapshot[T]) Area(box geo.Box) float64 {
	return s.areaBeside(new(Snapshot[T]), box) * squareKilometers
}

// AreaWith returns Area as it is, and as it would be with additional discs. The
// snapshot does not change. Besides Area, it costs as much as the cells that those
// discs reach, if they reach the box.
func (s *Snapshot[T]) AreaWith(box geo.Box, add []Disc[T]) (before, after float64, err error) {
	var near []Disc[T]
	for i := range add {
		if err := add[i].validate(); err != nil {
			return 0, 0, err
		}
		d := newDisc(newLatitude(add[i].Place.Lat), add[i].Place.Lng, add[i].RadiusM)
		isNear := func(r rect) bool {
			const wide = 40 // degrees: more than any cell, for which reaches is made
			return r.east-r.west > wide || r.north-r.south > wide || d.reaches(&r)
		}
		if slices.ContainsFunc(parts(box), isNear) {
			near = append(near, add[i])
		}
	}
	var with Tree[T]
	with.latest.Store(s)
	if err := with.Apply(near, nil); err != nil {
		return 0, 0, err
	}
	gain := with.Snapshot().areaBeside(s, box) - s.areaBeside(with.Snapshot(), box)
	before = s.Area(box)
	return before, before + max(0, gain)*squareKilometers, nil // a loss is only rounding
}

// areaBeside returns how much of a box is covered, in steradians, without the cells
// whose nodes another snapshot shares.
func (s *Snapshot[T]) areaBeside(o *Snapshot[T], box geo.Box) float64 {
	m := meters.Get().(*meter)
	defer meters.Put(m)
	area := 0.0
	for _, part := range parts(box) {
		within := border[T]{world: &s.world, meter: m, rect: part}
		for z, root := range s.world {
			c := cell{zone: zone(z)}
			area += within.inside(root, o.world[z], c, c.rect())
		}
		area += within.total()
	}
	return area
}

// parts splits a box at ±180°.
func parts(box geo.Box) []rect {
	whole := rect{box.South, box.North, box.West, box.East}
	if !box.CrossesAntimeridian() {
		return []rect{whole}
	}
	west, east := whole, whole
	west.east, east.west = 180, -180
	return []rect{west, east}
}

// field is a box in which discs are found by their middles. Its borders are included,
// a pole lies on all meridians, and 180° E is 180° W, as in geo.Box.Contains.
type field struct {
	box   geo.Box
	parts []rect
}

func newField(box geo.Box) *field {
	f := &field{box, parts(box)}
	if box.East == 180 && box.West != -180 {
		f.parts = append(f.parts, rect{box.South, box.North, -180, -180})
	}
	return f
}

// holding is how much of a cell is in a field.
type holding int

const (
	none holding = iota
	some
	all
)

func (f *field) holds(r *rect) holding {
	found := none
	for _, part := range f.parts {
		if r.within(part) {
			return all
		}
		if r.south <= part.north && r.north >= part.south &&
			(r.west <= part.east && r.east >= part.west || math.Abs(r.north) == 90 || math.Abs(r.south) == 90) {
			found = some
		}
	}
	return found
}

// Count returns how many discs have their middle in a valid box, and how many of
// those are online (decision N20).
func (s *Snapshot[T]) Count(box geo.Box) (count, online int) {
	f := newField(box)
	for z, root := range s.world {
		c := cell{zone: zone(z)}
		total := summaryIn(f, root, c, c.rect())
		count, online = count+int(total.count), online+int(total.online)
	}
	return count, online
}

// summaryIn returns the summary of the discs of a node that are in the field.
func summaryIn[T Item](f *field, n *node[T], c cell, r rect) (total summary) {
	if n.count() == 0 {
		return total
	}
	switch f.holds(&r) {
	case none:
		return total
	case all:
		return n.summary()
	}
	if n.fork != nil {
		rects := c.kidRects(&r)
		for i, kid := range n.fork.kids {
			total.add(summaryIn(f, kid, c.kid(i), rects[i]))
		}
		return total
	}
	for i := range n.discs {
		if f.box.Contains(n.discs[i].place()) {
			total.add(summarize(&n.discs[i]))
		}
	}
	return total
}

// Each calls yield for every disc with its middle in a valid box, in an order
// that depends on the discs alone, until it returns false.
func (s *Snapshot[T]) Each(box geo.Box, yield func(Disc[T]) bool) {
	f := newField(box)
	for z, root := range s.world {
		c := cell{zone: zone(z)}
		if !eachIn(f, root, c, c.rect(), yield) {
			return
		}
	}
}

func eachIn[T Item](f *field, n *node[T], c cell, r rect, yield func(Disc[T]) bool) bool {
	if n.count() == 0 || f.holds(&r) == none {
		return true
	}
	if n.fork != nil {
		rects := c.kidRects(&r)
		for i, kid := range n.fork.kids {
			if !eachIn(f, kid, c.kid(i), rects[i], yield) {
				return false
			}
		}
		return true
	}
	for i := range n.discs {
		if f.box.Contains(n.discs[i].place()) && !yield(n.discs[i].disc()) {
			return false
		}
	}
	return true
}

// anyIn reports whether a disc of a node is in the field.
func anyIn[T Item](f *field, n *node[T], c cell, r rect) bool {
	if n.count() == 0 {
		return false
	}
	if held := f.holds(&r); held != some {
		return held == all
	}
	found := false
	eachIn(f, n, c, r, func(Disc[T]) bool {
		found = true
		return false
	})
	return found
}
