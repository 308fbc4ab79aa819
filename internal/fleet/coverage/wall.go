package coverage

import "math"

// walls are the sides of a rectangle before they are projected into a frame.
type walls struct {
	*rect
	south, north latitude
	// isNear reports that nothing is far away compared with the size of the largest
	// disc.
	isNear bool
	// bow is how far a side may be from the straight line, as far as discs reach, in
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
