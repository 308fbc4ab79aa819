package coverage

import "math"

func (c *circle) holds(p point) bool {
	d := point{p.x - c.center.x, p.y - c.center.y}
	return d.dot(d) <= c.radius*c.radius
}

// almost is the part of its radius by which a disc may stick out of another and still
// count as within it. It is too small to see, and excludes circles that coincide
// except for rounding, whose crossings could be anywhere.
const almost = 1e-8

// isWithin reports whether o, which is no smaller, contains c.
func (c *circle) isWithin(o *circle) bool {
	d := c.to(o)
	room := o.radius - c.radius + almost*c.radius
	return d.dot(d) <= room*room
}

// touches reports whether two circles have points in common, or nearly.
func (c *circle) touches(o *circle) bool {
	d := c.to(o)
	reach := (c.radius + o.radius) * (1 + almost)
	return d.dot(d) <= reach*reach
}

// to returns the vector from one center to another.
func (c *circle) to(o *circle) point {
	return point{o.center.x - c.center.x, o.center.y - c.center.y}
}

// crosses reports whether two rims cross, given that vector.
func (c *circle) crosses(o *circle, way point) bool {
	square, sum, difference := way.dot(way), c.radius+o.radius, c.radius-o.radius
	return square < sum*sum && square > difference*difference
}

// crossing returns the points where two rims cross: on the right and on the left as
// seen from the first.
func (c *circle) crossing(o *circle) (right, left point) {
	d := c.to(o)
	square, sum, difference := d.dot(d), c.radius+o.radius, c.radius-o.radius
	height := (sum*sum - square) * (square - difference*difference)
	half := 1 / (2 * square) // what follows is in units of d and of its normal
	along, across := (square+difference*sum)*half, math.Sqrt(max(0, height))*half
	foot := point{c.center.x + along*d.x, c.center.y + along*d.y}
	right = point{foot.x + across*d.y, foot.y - across*d.x}
	left = point{foot.x - across*d.y, foot.y + across*d.x}
	return right, left
}

// rim is what is left of a circle after parts of it were removed.
type rim struct {
	*circle
	whole bool
	arcs  []arc
}

// arc is a part of a rim, counterclockwise.
type arc struct{ from, to point }

func (r *rim) reset(c *circle) { r.circle, r.whole, r.arcs = c, true, r.arcs[:0] }
func (r *rim) clear()          { r.whole, r.arcs = false, r.arcs[:0] }
func (r *rim) isGone() bool    { return !r.whole && len(r.arcs) == 0 }

// passes reports whether an arc passes through a direction from the center.
func (r *rim) passes(a *arc, d point) bool {
	from, to := point{a.from.x - r.center.x, a.from.y - r.center.y}, point{a.to.x - r.center.x, a.to.y - r.center.y}
	if from.cross(to) >= 0 { // at most half of the rim
		return from.cross(d) > 0 && d.cross(to) > 0
	}
	return !(to.cross(d) >= 0 && d.cross(from) >= 0)
}

func (r *rim) passesPoint(a *arc, p point) bool {
	return r.passes(a, point{p.x - r.center.x, p.y - r.center.y})
}

// area returns what the rim adds to the area around the origin.
func (r *rim) area() float64 {
	if r.whole {
		return r.disc.area()
	}
	area := 0.0
	for i := range r.arcs {
		area += r.sector(r.arcs[i].from, r.arcs[i].to)
	}
	return area
}

// blade removes from a rim what is within another circle or beyond a side. That is
// one part of it, around a direction from its center, from right to left.
type blade struct {
	toward      point
	circle      *circle
	side        *side
	right, left point // once found, which most circles do not need
	isFound     bool
}

// hides reports whether a point of the rim is in the part to remove.
func (b *blade) hides(p point) bool {
	if b.side != nil {
		return b.side.isBeyond(p)
	}
	return b.circle.holds(p)
}

// cut removes the part from an arc, which may leave two. Whether the ends of the arc
// are in the part decides nearly everything. Contradictions are due to rounding,
// where a part begins or ends with the arc.
func (r *rim) cut(i int, b *blade) {
	a := &r.arcs[i]
	switch hidFrom, hidTo := b.hides(a.from), b.hides(a.to); {
	case hidFrom && hidTo:
		r.cutAround(i, b)
	case hidFrom:
		r.find(b)
		if r.passesPoint(a, b.left) {
			a.from = b.left
		} else if nearer(b.left, a.to, a.from) {
			r.remove(i)
		}
	case hidTo:
		r.find(b)
		if r.passesPoint(a, b.right) {
			a.to = b.right
		} else if nearer(b.right, a.from, a.to) {
			r.remove(i)
		}
	case r.passes(a, b.toward):
		r.cutWithin(i, b)
	}
}

// cutAround cuts an arc that begins and ends in the part to remove: in between it may
// leave that part.
func (r *rim) cutAround(i int, b *blade) {
	a := r.arcs[i]
	if !r.passes(&a, point{-b.toward.x, -b.toward.y}) {
		r.remove(i)
		return
	}
	r.find(b)
	if r.passesPoint(&a, b.left) {
		r.arcs[i].from = b.left
	}
	if r.passesPoint(&a, b.right) {
		r.arcs[i].to = b.right
	}
}

// cutWithin cuts an arc that contains all of the part.
func (r *rim) cutWithin(i int, b *blade) {
	r.find(b)
	a := r.arcs[i]
	before, after := arc{a.from, b.right}, arc{b.left, a.to}
	keepBefore, keepAfter := r.passesPoint(&a, b.right), r.passesPoint(&a, b.left)
	switch {
	case keepBefore && keepAfter:
		r.arcs[i] = before
		r.arcs = append(r.arcs, after)
	case keepBefore:
		r.arcs[i] = before
	case keepAfter:
		r.arcs[i] = after
	default:
		r.remove(i)
	}
}

func (r *rim) remove(i int) {
	last := len(r.arcs) - 1
	r.arcs[i] = r.arcs[last]
	r.arcs = r.arcs[:last]
}

// nearer reports whether p is nearer to one than to another.
func nearer(p, one, another point) bool {
	a, b := point{p.x - one.x, p.y - one.y}, point{p.x - another.x, p.y - another.y}
	return a.dot(a) < b.dot(b)
}

// find computes where the part begins and ends. The crossing of two circles is always
// computed from the one with the lower rank, so that both rims end in exactly the
// same points: only then do the remaining rims close, and areas come out right.
func (r *rim) find(b *blade) {
	switch {
	case b.isFound:
	case r.rank < b.circle.rank:
		b.right, b.left = r.crossing(b.circle)
	default:
		b.left, b.right = b.circle.crossing(r.circle)
	}
	b.isFound = true
}

// take cuts everything that is left of the rim.
func (r *rim) take(b *blade) {
	if r.whole {
		r.find(b)
		r.whole = false
		r.arcs = append(r.arcs[:0], arc{b.left, b.right})
		return
	}
	for i := len(r.arcs) - 1; i >= 0; i-- {
		r.cut(i, b)
	}
}
