package coverage

import (
	"cmp"
	"slices"
)

// meter measures the ground that discs cover. It is a workspace: one at a time
// may use it.
type meter struct {
	spots   []spot
	order   []*spot
	circles []circle
	sides   []side
	rim     rim
}

// crowd is how many discs are measured at once. The work grows with their
// square, while in a quarter of the ground there are fewer, and often a single
// one covers it all.
const crowd = 24

// quartered measures spots that reach the rectangle, of which none covers it.
func (m *meter) quartered(r *rect, spots []spot) float64 {
	if len(spots) == 0 {
		return 0
	}
	if len(spots) <= crowd || isSmall(r, spots) {
		return m.union(r, spots)
	}
	area := 0.0
	for n := range 4 {
		quarter := r.quarter(n)
		area += m.quarter(&quarter, spots)
	}
	return area
}

// isSmall reports whether a rectangle is so small beside the discs that its
// quarters would have as many.
func isSmall(r *rect, spots []spot) bool {
	largest := 0.0
	for i := range spots {
		largest = max(largest, spots[i].radius)
	}
	return (r.north-r.south)*radian < largest/2
}

func (m *meter) quarter(r *rect, spots []spot) float64 {
	mark := len(m.spots)
	defer func() { m.spots = m.spots[:mark] }()
	for i := range spots {
		if !spots[i].reaches(r) {
			continue
		}
		if spots[i].covers(r) {
			return r.area()
		}
		m.spots = append(m.spots, spots[i])
	}
	return m.quartered(r, m.spots[mark:])
}

// union measures spots that all reach the rectangle.
func (m *meter) union(r *rect, spots []spot) float64 {
	m.order = m.order[:0]
	for i := range spots {
		m.order = append(m.order, &spots[i])
	}
	slices.SortFunc(m.order, compareSpots)
	f := newFrame(m.order[0])
	m.circles = m.circles[:0]
	for _, s := range m.order {
		if c := f.circle(s); !m.isHidden(&c) {
			m.circles = append(m.circles, c)
		}
	}
	south, north := newLatitude(r.south), newLatitude(r.north)
	area := 0.0
	for rest := m.circles; len(rest) > 0; {
		n := connected(rest)
		group := rest[:n]
		rest = rest[n:]
		if n == 1 && group[0].spot.isInside(r) {
			area += group[0].spot.area()
			continue
		}
		if &group[0] != &m.circles[0] {
			f = newFrame(group[0].spot)
			for i := range group {
				group[i] = f.circle(group[i].spot)
			}
		}
		m.sides = m.sides[:0]
		if !isInside(group, r) {
			m.sides = f.sides(r, south, north, m.sides)
		}
		area += m.connected(&f, group)
	}
	return area
}

func isInside(circles []circle, r *rect) bool {
	for i := range circles {
		if !circles[i].spot.isInside(r) {
			return false
		}
	}
	return true
}

// compareSpots puts the largest first: what is within another is found when that
// has been kept. It leaves no order open, for the result is to depend on the
// spots alone, not on where the tree had them.
func compareSpots(a, b *spot) int {
	switch {
	case a.radius != b.radius:
		return cmp.Compare(b.radius, a.radius)
	case a.lat != b.lat:
		return cmp.Compare(a.lat, b.lat)
	default:
		return cmp.Compare(a.lng, b.lng)
	}
}

func (m *meter) isHidden(c *circle) bool {
	for i := range m.circles {
		if c.isWithin(&m.circles[i]) {
			return true
		}
	}
	return false
}

// connected moves those that hang together with the first to the front, and
// says how many they are. Each such group is measured from within: seen from
// afar, the noise of the last bits would be as large as a disc.
func connected(circles []circle) int {
	n := 1
	for i := 0; i < n; i++ {
		for j := n; j < len(circles); j++ {
			if circles[j].touches(&circles[i]) {
				circles[n], circles[j] = circles[j], circles[n]
				n++
			}
		}
	}
	return n
}

// connected measures a group of circles: by Green's theorem, the area within a
// closed line is the sum of what lies between its parts and the origin. The line
// is made of what is left of the rims and of the covered parts of the sides.
func (m *meter) connected(f *frame, circles []circle) float64 {
	for i := range circles {
		circles[i].rank = i
	}
	area := 0.0
	for i := range circles {
		m.clip(f, &circles[i])
		m.hide(circles, i)
		area += m.rim.area()
	}
	for i := range m.sides {
		area += m.sides[i].covered(f)
	}
	return area
}

// clip leaves of the rim what is within the rectangle.
func (m *meter) clip(f *frame, c *circle) {
	m.rim.reset(c)
	var b blade
	for i := range m.sides {
		how := m.sides[i].cross(c, &b)
		m.sides[i].cover(f, c, &b, how)
		switch how {
		case crossed:
			m.rim.take(&b)
		case outside:
			m.rim.clear()
		}
	}
}

// hide takes off the rim of one circle what the others cover.
func (m *meter) hide(circles []circle, n int) {
	c := &circles[n]
	for i := range circles {
		if m.rim.isGone() {
			return
		}
		o := &circles[i]
		if i == n || !c.crosses(o) {
			continue
		}
		toward := point{o.center.x - c.center.x, o.center.y - c.center.y}
		m.rim.take(&blade{toward: toward, circle: o})
	}
}
