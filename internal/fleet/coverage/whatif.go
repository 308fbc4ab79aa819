package coverage

import "github.com/beacon-wifi/beacon/internal/geo"

// AreaWith returns Area as it is, and as it would be with additional discs, which are
// taken to be online. The tree does not change. Besides Area, it costs as much as the
// cells that those discs reach.
func (s *Snapshot[T]) AreaWith(box geo.Box, add []Disc[T]) (before, after float64, err error) {
	extra := make([]spot, 0, len(add))
	for i := range add {
		if err := add[i].validate(); err != nil {
			return 0, 0, err
		}
		extra = append(extra, newSpot(add[i].Place, add[i].RadiusM))
	}
	m := meters.Get().(*meter)
	defer meters.Put(m)
	gain := 0.0
	for _, part := range parts(box) {
		within := gainWithin[T]{world: &s.world, meter: m, rect: part}
		for z, root := range s.world {
			gain += within.of(root, cell{zone: zone(z)}, extra)
		}
	}
	before = s.Area(box)
	return before, before + gain*squareKilometers, nil
}

// gainWithin sums up what extra discs would add to the area in a rectangle.
type gainWithin[T Item] struct {
	world *[zones]*node[T]
	meter *meter
	rect  rect
}

func (g *gainWithin[T]) of(n *node[T], c cell, extra []spot) float64 {
	all := c.rect()
	part := all.clip(g.rect)
	if part.empty() || (n != nil && n.sole) {
		return 0
	}
	if c.level < firstLevel { // too wide to test what reaches it
		return g.ofKids(n, c, extra)
	}
	var near []spot
	for i := range extra {
		if extra[i].reaches(&part) {
			near = append(near, extra[i])
		}
	}
	switch {
	case len(near) == 0:
		return 0
	case n != nil && n.fork != nil:
		return g.ofKids(n, c, near)
	}
	before, _ := measure(g.meter, g.world, &part, nil)
	after, _ := measure(g.meter, g.world, &part, near)
	return max(0, after-before) // a loss is only rounding
}

func (g *gainWithin[T]) ofKids(n *node[T], c cell, extra []spot) float64 {
	gain := 0.0
	for i := range 4 {
		gain += g.of(n.kid(i), c.kid(i), extra)
	}
	return gain
}

// kid returns one of the four nodes below, or nil.
func (n *node[T]) kid(i int) *node[T] {
	if n == nil || n.fork == nil {
		return nil
	}
	return n.fork.kids[i]
}
