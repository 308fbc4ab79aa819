package coverage

import "github.com/beacon-wifi/beacon/internal/geo"

// measure returns the part of a rectangle that online discs cover, in steradians,
// with extra discs besides those of the tree. Sole reports whether a single disc
// covers all of it.
func measure[T Item](m *meter, world *[zones]*node[T], r *rect, extra []spot) (area float64, sole bool) {
	m.spots = m.spots[:0]
	s := search[T]{meter: m, rect: r, middle: r.middle()}
	for i := range extra {
		s.meet(&extra[i])
	}
	if s.gather(world); s.sole {
		return r.area(), true
	}
	return m.halved(r, m.spots), false
}

// search collects the spots that reach a rectangle, in tree order. It ends early when
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
	for c.level < around.level {
		if n.fork == nil {
			break
		}
		down := around.level - c.level - 1
		kid := int(around.x>>down&1 | around.y>>down&1<<1)
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
		spot := newSpotAt(s.middle.near(d.lat), d.lng, d.radius)
		if s.meet(&spot); s.sole {
			return
		}
	}
}

// meet adds a spot if it reaches the rectangle.
func (s *search[T]) meet(found *spot) {
	if !found.reaches(s.rect) {
		return
	}
	s.sole = s.sole || found.covers(s.rect)
	s.meter.spots = append(s.meter.spots, *found)
}
