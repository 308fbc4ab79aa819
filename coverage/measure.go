package coverage

import "github.com/beacon-wifi/beacon/geo"

// measure gives the part of a rectangle that online discs cover, in steradians,
// with extra ones beside those of the tree. Sole reports that one of them covers
// it whole.
func measure[T Item](m *meter, world *[zones]*node[T], r *rect, extra []spot) (area float64, sole bool) {
	m.spots = m.spots[:0]
	s := search[T]{meter: m, rect: r}
	for i := range extra {
		s.meet(&extra[i])
	}
	if s.gather(world); s.sole {
		return r.area(), true
	}
	return m.quartered(r, m.spots), false
}

// search gathers the spots that reach a rectangle, in the order of the tree. It
// ends early when one of them covers all.
type search[T Item] struct {
	meter *meter
	rect  *rect
	window
	sole bool
}

// isNearTo is isNear for one disc.
func (s *search[T]) isNearTo(lat, lng, meters float64) bool {
	const below = 100_000 // metres in a degree of latitude
	if max(s.rect.south-lat, lat-s.rect.north) > meters/below {
		return false
	}
	x := (lng + 180) / 360
	return s.gap(x, x) <= meters*s.perMeterX
}

func (s *search[T]) gather(world *[zones]*node[T]) {
	for z, root := range world {
		if root == nil || s.sole {
			continue
		}
		c := cell{zone: zone(z)}
		meters := float64(root.reach)
		degrees, of := meters/geo.EarthRadius/radian, c.rect()
		if s.rect.south-degrees <= of.north && s.rect.north+degrees >= of.south {
			s.window = newWindow(c.zone, s.rect, meters)
			s.visit(root, c)
		}
	}
}

func (s *search[T]) visit(n *node[T], c cell) {
	if n.fork == nil {
		s.scan(n.discs)
		return
	}
	for i, kid := range n.fork.kids {
		if kid == nil || kid.reach == 0 || s.sole {
			continue
		}
		if at := c.kid(i); s.isNear(at, float64(kid.reach)) {
			s.visit(kid, at)
		}
	}
}

func (s *search[T]) scan(discs []entry[T]) {
	for i := range discs {
		d := &discs[i]
		if !d.online() || !s.isNearTo(d.lat, d.lng, d.radius) {
			continue
		}
		spot := d.spot()
		if s.meet(&spot); s.sole {
			return
		}
	}
}

// meet takes in a spot that reaches the rectangle.
func (s *search[T]) meet(found *spot) {
	if !found.reaches(s.rect) {
		return
	}
	s.sole = s.sole || found.covers(s.rect)
	s.meter.spots = append(s.meter.spots, *found)
}
