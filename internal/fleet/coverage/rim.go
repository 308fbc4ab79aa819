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
		return r.spot.area()
	}
	area := 0.0
	for i := range r.arcs {
		area += r.sector(r.arcs[i].from, r.arcs[i].to)
	}
	return area
}
