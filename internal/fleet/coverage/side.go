package coverage

import (
	"cmp"
	"math"
	"slices"
)

// side is one of the sides of a rectangle in the projection of a frame, traversed so
// that the rectangle is on the left. Its inner side is where
//
//	a·|u|² - 2·b·u + c <= 0
type side struct {
	a, c     float64
	b        point
	parallel bool
	sin, cos float64 // of a parallel's latitude; of a meridian's longitude, relative to the origin's
	forward  float64 // 1 if traversed east or north, else -1
	line     line
	whole    span
	bare     spans // what no disc covers
}

// parallel returns the side where the sine of the latitude, cosLat·north + sinLat·up,
// is the given one.
func (f *frame) parallel(lat latitude, forward float64) side {
	// The difference of the sines, as precise as that of the latitudes.
	higher := (lat.degrees - f.lat) * radian
	half := sine(higher / 2)
	difference := f.cosLat*sine(higher) - 2*f.sinLat*half*half
	return side{
		parallel: true, sin: lat.sin, cos: lat.cos, forward: forward,
		a: forward * (lat.sin + f.sinLat), b: point{0, forward * f.cosLat}, c: forward * difference,
	}
}

// meridian returns half of the circle where cosLat·sin(lng-away) is zero.
func (f *frame) meridian(away, forward float64) side {
	half := sine(away / 2)
	sin, cos := sine(away), 1-2*half*half
	return side{
		sin: sin, cos: cos, forward: forward,
		a: forward * sin * f.cosLat, b: point{-forward * cos, -forward * sin * f.sinLat}, c: -forward * sin * f.cosLat,
	}
}

// seen returns a point of the side as a direction that turns left along it: seen from
// the axis for a parallel, from the centre of the Earth for a meridian.
func (s *side) seen(f *frame, p point) point {
	east, north, up := 2*p.x, 2*p.y, 1-p.dot(p)
	outward := up*f.cosLat - north*f.sinLat // away from the axis, in the plane of the origin's meridian
	if s.parallel {
		return point{outward, s.forward * east}
	}
	axial := north*f.cosLat + up*f.sinLat
	return point{outward*s.cos + east*s.sin, s.forward * axial}
}

// span returns the part of the side between two of its points.
func (s *side) span(f *frame, from, to point) span {
	if s.line.isFlat {
		return span{s.line.along(from), s.line.along(to), from, to}
	}
	part := span{turn(s.seen(f, from)), turn(s.seen(f, to)), from, to}
	if part.end < part.start {
		part.end += fullTurn
	}
	return part
}

// meeting is how the rim of a disc meets the side.
type meeting int

const (
	inside  meeting = iota // the rim is on the inner side
	outside                // the rim is on the outer side
	crossed
)

// isBeyond reports whether a point is on the outer side.
func (s *side) isBeyond(p point) bool { return s.a*p.dot(p)-2*s.b.dot(p)+s.c > 0 }

// cross returns how a rim meets the side. Where they cross, it sets b to the blade
// that removes from the rim what is on the outer side: from where it leaves until it
// enters again.
func (s *side) cross(c *circle, b *blade) meeting {
	if how, ok := s.line.isClear(c); ok {
		return how
	}
	inward := point{s.b.x - s.a*c.center.x, s.b.y - s.a*c.center.y}
	depth := s.a*(c.center.dot(c.center)+c.radius*c.radius) - 2*s.b.dot(c.center) + s.c
	length := inward.dot(inward)                         // squared, like everything compared here
	isAround := length < 1e-24*s.a*s.a*c.radius*c.radius // both are around a pole, and do not cross
	how := inside
	if depth > 0 {
		how = outside
	}
	if !(depth*depth < 4*c.radius*c.radius*length) || isAround {
		return how
	}
	along := depth / (2 * length)
	across := math.Sqrt(max(0, c.radius*c.radius/length-along*along))
	if across*across*length < 1e-14*c.radius*c.radius { // they touch: where the rim leaves and enters is noise
		return how
	}
	foot := point{c.center.x + along*inward.x, c.center.y + along*inward.y}
	*b = blade{
		toward: point{-inward.x, -inward.y}, side: s, isFound: true,
		right: point{foot.x - across*inward.y, foot.y + across*inward.x},
		left:  point{foot.x + across*inward.y, foot.y - across*inward.x},
	}
	return crossed
}

// cover records what the disc covers of the side: between the points where its rim
// leaves and enters, the side is within the disc.
func (s *side) cover(f *frame, c *circle, b *blade, how meeting) {
	switch {
	case len(s.bare.parts) == 0:
	case how == crossed:
		part := s.span(f, b.right, b.left)
		if s.line.isFlat {
			s.bare.removeAt(&part, 0)
		} else {
			s.bare.remove(&part)
		}
	case s.parallel && c.disc.holdsPole() && (how == outside) == ((s.forward > 0) == (c.disc.lat > 0)): // all of a small parallel
		s.bare.parts = s.bare.parts[:0]
	}
}

// covered returns the signed area between the origin and the parts of the side that
// discs cover.
func (s *side) covered(f *frame) float64 {
	bare := s.bare.parts
	slices.SortFunc(bare, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	area, at, from := 0.0, s.whole.start, s.whole.from
	for i := range bare {
		if bare[i].start > at {
			area += s.strip(f, from, bare[i].from)
		}
		at, from = bare[i].end, bare[i].to
	}
	if s.whole.end > at {
		area += s.strip(f, from, s.whole.to)
	}
	return area
}

// strip returns the signed area between the origin and a part of the side. For a
// parallel, it is the area below the shortest path plus the area between the two.
func (s *side) strip(f *frame, from, to point) float64 {
	if !s.parallel {
		return triangle(from, to)
	}
	a, b := s.seen(f, from), s.seen(f, to)
	return triangle(from, to) + s.forward*bulge(s.sin, s.cos, arctan(a.cross(b), a.dot(b))/2)
}

// bulge returns the area between a parallel and the shortest path between two places
// on it whose longitudes differ by 2·half: 2·(atan(sin·tan half) - sin·half), written
// so that it stays precise at the poles and for the shortest paths.
func bulge(sin, cos, half float64) float64 {
	square := half * half
	if half < 1e-3 {
		return 2 * sin * cos * cos * half * square * (1./3 + square*(2-3*sin*sin)/15)
	}
	less := cos * cos / (1 + math.Abs(sin)) // 1 - |sin|
	s, c := math.Sincos(half)
	return math.Copysign(2, sin) * (less*half - arctan(less*s*c, 1-less*s*s))
}

// walls are the sides of a rectangle before they are projected into a frame.
type walls struct {
	*rect
	south, north latitude
	// isNear reports that nothing is far away compared with the size of the largest
	// disc.
	isNear bool
	// bow is how far a side may be from the straight line within the reach of discs, in
	// the plane of a frame.
	bow float64
}

func newWalls(r *rect, largest float64) walls {
	const many = 300
	w := walls{rect: r, south: newLatitude(r.south), north: newLatitude(r.north)}
	length := r.length()
	w.isNear = length < many*largest
	length += 4 * largest
	w.bow = math.Inf(1)
	if cos := min(w.south.cos, w.north.cos); length < 0.1*cos {
		w.bow = length * length / cos
	}
	return w
}

// sides overwrites into with the sides of a rectangle. At a pole there is none.
func (f *frame) sides(w *walls, into []side) []side {
	west := turned(w.west-f.lng) * radian
	east := west + (w.east-w.west)*radian
	southwest, southeast := f.at(w.south, w.west), f.at(w.south, w.east)
	northeast, northwest := f.at(w.north, w.east), f.at(w.north, w.west)
	into = into[:0]
	add := func(s side, from, to point) {
		if len(into) < cap(into) { // reuse the memory of its spans
			s.bare.parts = into[:len(into)+1][len(into)].bare.parts[:0]
		}
		s.line = newLine(from, to, w.bow)
		s.whole = s.span(f, from, to)
		s.bare.base = s.whole.start
		s.bare.parts = append(s.bare.parts, s.whole)
		into = append(into, s)
	}
	if w.south.degrees > -90 {
		add(f.parallel(w.south, 1), southwest, southeast)
	}
	add(f.meridian(east, 1), southeast, northeast)
	if w.north.degrees < 90 {
		add(f.parallel(w.north, -1), northeast, northwest)
	}
	add(f.meridian(west, -1), northwest, southwest)
	return into
}

// line is the straight line along a side. If it is flat, a few multiplications decide
// what matters of the side.
type line struct {
	isFlat       bool
	from         point
	unit, inward point // along it and to the left
	bow          float64
}

func newLine(from, to point, bow float64) line {
	way := point{to.x - from.x, to.y - from.y}
	length := math.Sqrt(way.dot(way))
	unit := point{way.x / length, way.y / length}
	return line{isFlat: !math.IsInf(bow, 1), from: from, unit: unit, inward: point{-unit.y, unit.x}, bow: bow}
}

// along returns how far along the line a point is.
func (l *line) along(p point) float64 {
	return l.unit.dot(point{p.x - l.from.x, p.y - l.from.y})
}

// isClear reports whether a circle is certainly on one side of the line, and on
// which.
func (l *line) isClear(c *circle) (how meeting, ok bool) {
	if !l.isFlat {
		return inside, false
	}
	depth := l.inward.dot(point{c.center.x - l.from.x, c.center.y - l.from.y})
	if depth < 0 {
		return outside, -depth > c.radius+l.bow
	}
	return inside, depth > c.radius+l.bow
}
