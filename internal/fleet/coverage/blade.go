package coverage

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
