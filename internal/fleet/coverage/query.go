package coverage

import (
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
	m := meters.Get().(*meter)
	defer meters.Put(m)
	area := 0.0
	for _, part := range parts(box) {
		within := areaWithin[T]{border: border[T]{world: &s.world, meter: m}, rect: part}
		for z, root := range s.world {
			c := cell{zone: zone(z)}
			area += within.of(root, c, c.rect())
		}
		area += within.total()
	}
	return area * squareKilometers
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

// areaWithin sums up the area in a rectangle.
type areaWithin[T Item] struct {
	border[T]
	rect rect
}

func (a *areaWithin[T]) of(n *node[T], c cell, all rect) float64 {
	if n == nil || n.area == 0 {
		return 0
	}
	part := all.clip(a.rect)
	switch {
	case part.empty():
		return 0
	case part == all:
		return n.area
	case n.sole || (n.fork == nil && n.area == all.area()):
		return part.area()
	case n.fork == nil:
		a.add(n, &part, &all)
		return 0
	}
	area := 0.0
	rects := c.kidRects(&all)
	for i, kid := range n.fork.kids {
		area += a.of(kid, c.kid(i), rects[i])
	}
	return area
}
