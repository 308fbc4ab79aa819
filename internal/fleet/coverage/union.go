package coverage

import (
	"cmp"
	"math"
	"slices"
)

// meter measures the ground that discs cover. It is a workspace for one goroutine at
// a time.
type meter struct {
	discs   []disc
	order   []*disc
	circles []circle
	sides   []side
	rim     rim
	patches patches
}

// crowd is how many discs are measured at once. The work grows with their square,
// while half of the ground has fewer, and often a single one covers it all.
const crowd = 20

// halved measures discs that reach the rectangle, none of which covers it.
func (m *meter) halved(r *rect, discs []disc) float64 {
	if len(discs) == 0 {
		return 0
	}
	largest := 0.0
	for i := range discs {
		largest = max(largest, discs[i].radius)
	}
	if m.patches.isFull(r, discs, largest) {
		return r.area()
	}
	if len(discs) <= crowd || r.length() < largest/2 { // so small that its halves would have as many
		return m.union(r, discs)
	}
	one, other := r.halves()
	return m.half(&one, discs) + m.half(&other, discs)
}

func (m *meter) half(r *rect, discs []disc) float64 {
	mark := len(m.discs)
	for i := range discs {
		if !discs[i].reaches(r) {
			continue
		}
		if discs[i].covers(r) {
			m.discs = m.discs[:mark]
			return r.area()
		}
		m.discs = append(m.discs, discs[i])
	}
	area := m.halved(r, m.discs[mark:])
	m.discs = m.discs[:mark]
	return area
}

// union measures discs that all reach the rectangle.
func (m *meter) union(r *rect, discs []disc) float64 {
	m.order = m.order[:0]
	for i := range discs {
		m.order = append(m.order, &discs[i])
	}
	sortDiscs(m.order)
	f := newFrame(m.order[0])
	m.circles = m.circles[:0]
	for _, s := range m.order {
		if c := f.circle(s); !m.isHidden(&c) {
			m.circles = append(m.circles, c)
		}
	}
	w := newWalls(r, m.order[0].radius)
	if w.isNear {
		return m.group(&f, &w, m.circles)
	}
	area := 0.0
	for rest := m.circles; len(rest) > 0; {
		n := connected(rest)
		group := rest[:n]
		rest = rest[n:]
		if &group[0] != &m.circles[0] {
			f = newFrame(group[0].disc)
			for i := range group {
				group[i] = f.circle(group[i].disc)
			}
		}
		area += m.group(&f, &w, group)
	}
	return area
}

// sortDiscs puts the largest first: a disc within another is found because the other
// was kept before. The order is total, because the result must depend only on the
// discs, not on where the tree had them.
func sortDiscs(discs []*disc) {
	if len(discs) > crowd {
		slices.SortFunc(discs, func(a, b *disc) int {
			return cmp.Or(cmp.Compare(b.radius, a.radius), cmp.Compare(a.lat, b.lat), cmp.Compare(a.lng, b.lng))
		})
		return
	}
	for i, s := range discs { // for a few, insertion sort is faster
		for ; i > 0 && s.isBefore(discs[i-1]); i-- {
			discs[i] = discs[i-1]
		}
		discs[i] = s
	}
}

func (s *disc) isBefore(o *disc) bool {
	switch {
	case s.radius != o.radius:
		return s.radius > o.radius
	case s.lat != o.lat:
		return s.lat < o.lat
	default:
		return s.lng < o.lng
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

// connected moves the circles connected with the first to the front, and returns
// their number. In a wide rectangle each such group is measured from within: from
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

// group measures circles: by Green's theorem, the area within a closed line is the
// sum of what lies between its parts and the origin. The line consists of what is
// left of the rims and of the covered parts of the sides.
func (m *meter) group(f *frame, w *walls, circles []circle) float64 {
	m.sides = m.sides[:0]
	if !isInside(circles, w.rect) {
		m.sides = f.sides(w, m.sides)
	}
	area := 0.0
	for i := range circles {
		circles[i].rank = i
	}
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

func isInside(circles []circle, r *rect) bool {
	for i := range circles {
		if !circles[i].disc.isInside(r) {
			return false
		}
	}
	return true
}

// clip keeps the part of the rim within the rectangle.
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

// hide removes from the rim of one circle what the others cover.
func (m *meter) hide(circles []circle, n int) {
	c := &circles[n]
	for i := range circles {
		if m.rim.isGone() {
			return
		}
		o := &circles[i]
		if d := c.to(o); i != n && c.crosses(o, d) {
			m.rim.take(&blade{toward: d, circle: o})
		}
	}
}

// span is a part of a line that runs from one point to another: of the rim of a disc,
// counterclockwise, or of a side of a rectangle. Its start and end on the line are
// measured in turns.
type span struct {
	start, end float64 // start < end
	from, to   point
}

// spans are parts of a line that closes upon itself after a full turn, all of them
// within one turn from base on.
type spans struct {
	base  float64
	parts []span
}

// remove removes a part.
func (s *spans) remove(part *span) {
	shift := 0.0
	for part.start+shift < s.base {
		shift += fullTurn
	}
	for part.start+shift >= s.base+fullTurn {
		shift -= fullTurn
	}
	s.removeAt(part, shift)
	if part.end+shift > s.base+fullTurn { // it wraps around to the beginning
		s.removeAt(part, shift-fullTurn)
	}
}

func (s *spans) removeAt(part *span, shift float64) {
	start, end := part.start+shift, part.end+shift
	for i := 0; i < len(s.parts); i++ {
		p := &s.parts[i]
		if start >= p.end || end <= p.start {
			continue
		}
		switch isAfter, isBefore := start > p.start, end < p.end; {
		case isAfter && isBefore:
			rest := span{end, p.end, part.to, p.to}
			p.end, p.to = start, part.from
			s.parts = append(s.parts, rest)
		case isAfter:
			p.end, p.to = start, part.from
		case isBefore:
			p.start, p.from = end, part.to
		default:
			last := len(s.parts) - 1
			*p = s.parts[last]
			s.parts = s.parts[:last]
			i--
		}
	}
}

// fullTurn is the period of turn.
const fullTurn = 4

// turn grows with the direction of a vector as its angle does, but from 0 to 4, and
// costs a tenth of an arc tangent. The ends of spans only need to be in order.
func turn(v point) float64 {
	sum := math.Abs(v.x) + math.Abs(v.y)
	switch {
	case v.y >= 0 && v.x >= 0:
		return v.y / sum
	case v.y >= 0:
		return 1 - v.x/sum
	case v.x < 0:
		return 2 - v.y/sum
	default:
		return 3 + v.x/sum
	}
}
