package coverage

import (
	"fmt"
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Covered gives the square metres of a box, at most half the Earth wide and not
// across ±180°, that the discs cover: the geometry without a tree.
func Covered(box geo.Box, places []geo.Point, radii []float64) float64 {
	r := rect{box.South, box.North, box.West, box.East}
	var m meter
	var discs []disc
	for i := range places {
		if s := newDisc(newLatitude(places[i].Lat), places[i].Lng, radii[i]); s.reaches(&r) {
			discs = append(discs, s)
		}
	}
	area := m.half(&r, discs)
	return area * geo.EarthRadius * geo.EarthRadius
}

// Difference tells where two snapshots are not the same to the bit, if they are
// not.
func Difference[T Item](a, b *Snapshot[T]) string {
	for z := range a.world {
		if text := difference(cell{zone: zone(z)}, a.world[z], b.world[z]); text != "" {
			return text
		}
	}
	return ""
}

func difference[T Item](c cell, a, b *node[T]) string {
	if a == nil || b == nil {
		if a != b {
			return fmt.Sprintf("%+v: one has no node", c)
		}
		return ""
	}
	for i := range 4 { // from below, where a difference begins
		if text := difference(c.kid(i), a.kid(i), b.kid(i)); text != "" {
			return text
		}
	}
	if math.Float64bits(a.area) != math.Float64bits(b.area) || a.reach != b.reach || a.sole != b.sole || len(a.discs) != len(b.discs) {
		return fmt.Sprintf("%+v: %+v and %+v", c, *a, *b)
	}
	for i := range a.discs {
		if a.discs[i].compare(&b.discs[i]) != 0 || a.discs[i].radius != b.discs[i].radius {
			return fmt.Sprintf("%+v: disc %d differs", c, i)
		}
	}
	if (a.fork == nil) != (b.fork == nil) {
		return fmt.Sprintf("%+v: one is a leaf", c)
	}
	if a.fork == nil {
		return ""
	}
	if a.fork.totals != b.fork.totals || a.widest != b.widest {
		return fmt.Sprintf("%+v: %+v and %+v", c, a.summary(), b.summary())
	}
	return ""
}

// Nodes is how many nodes a snapshot has.
func (s *Snapshot[T]) Nodes() (nodes int) {
	var visit func(n *node[T])
	visit = func(n *node[T]) {
		if n == nil {
			return
		}
		nodes++
		for i := range 4 {
			visit(n.kid(i))
		}
	}
	for _, root := range s.world {
		visit(root)
	}
	return nodes
}

// Deepest gives the borders of the finest cell that a place is in.
func Deepest(p geo.Point) geo.Box {
	r := address(p.Lat, p.Lng).rect()
	return geo.Box{North: r.north, South: r.south, East: r.east, West: r.west}
}
