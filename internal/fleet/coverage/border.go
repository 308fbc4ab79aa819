package coverage

// border sums up the covered area in a rectangle: of the whole cells inside, and of
// what the rectangle cuts off the leaves on its sides. Neighbours of those are
// measured together, as one strip along the side: a disc that reaches both is then
// visited once, and the line between them not at all.
type border[T Item] struct {
	world  *[zones]*node[T]
	meter  *meter
	rect   rect
	strips [4]strip // one on each side, still growing
	area   float64  // of the leaves on the sides, without those strips
}

// strip is a row of leaves that one side of a rectangle cuts in two.
type strip struct {
	part, rest rect    // inside the rectangle and outside
	area       float64 // covered in both
	discs      int
}

// inside returns the covered area of the whole cells of a node that are inside, and
// adds the leaves on the border. A node that another snapshot shares has none.
func (b *border[T]) inside(n, other *node[T], c cell, all rect) float64 {
	if n == nil || n == other || n.area == 0 {
		return 0
	}
	part := all.clip(b.rect)
	switch {
	case part.empty():
		return 0
	case part == all:
		return n.area
	case n.sole || (n.fork == nil && n.area == all.area()):
		return part.area()
	case n.fork == nil:
		b.add(n, &part, &all)
		return 0
	}
	area := 0.0
	rects := c.kidRects(&all)
	for i, kid := range n.fork.kids {
		area += b.inside(kid, other.kid(i), c.kid(i), rects[i])
	}
	return area
}

// add adds the covered area of the part of a leaf that is in the rectangle.
func (b *border[T]) add(n *node[T], part, all *rect) {
	side, rest, ok := cutBy(part, all)
	if !ok {
		b.area += b.measure(part)
		return
	}
	more := strip{*part, rest, n.area, len(n.discs)}
	if s := &b.strips[side]; !s.extend(&more) {
		b.close(s)
		*s = more
	}
}

// cutBy returns which side of a rectangle cuts a cell into the part inside and the
// rest, if only one does.
func cutBy(part, all *rect) (side int, rest rect, ok bool) {
	rest = *all
	cuts := 0
	if part.south > all.south {
		rest.north, side = part.south, 0
		cuts++
	}
	if part.north < all.north {
		rest.south, side = part.north, 1
		cuts++
	}
	if part.west > all.west {
		rest.east, side = part.west, 2
		cuts++
	}
	if part.east < all.east {
		rest.west, side = part.east, 3
		cuts++
	}
	return side, rest, cuts == 1
}

// longest is the most discs in the leaves of a strip. Longer strips save no more.
const longest = 48

// extend lengthens a strip by another that follows it, unless it gets too long. Cells
// are visited from west to east and from north to south.
func (s *strip) extend(more *strip) bool {
	const widest = 45 // degrees
	if s.discs+more.discs > longest || more.part.east-s.part.west > widest {
		return false
	}
	part, isPart := s.part.joined(&more.part)
	rest, isRest := s.rest.joined(&more.rest)
	if isPart && isRest {
		*s = strip{part, rest, s.area + more.area, s.discs + more.discs}
	}
	return isPart && isRest
}

// joined adds a rectangle that adjoins in the east or south, if the two form one.
func (r rect) joined(more *rect) (both rect, ok bool) {
	switch {
	case r.east == more.west && r.south == more.south && r.north == more.north:
		r.east = more.east
		return r, true
	case r.south == more.north && r.west == more.west && r.east == more.east:
		r.south = more.south
		return r, true
	default:
		return r, false
	}
}

// close adds the covered area of a strip. The smaller part is quicker to measure. But
// where little is covered, a difference would be noise.
func (b *border[T]) close(s *strip) {
	const little = 1e-3
	if s.area == 0 {
		return
	}
	if s.rest.area() < s.part.area() {
		if area := s.area - b.measure(&s.rest); area > little*s.area {
			b.area += area
			return
		}
	}
	b.area += b.measure(&s.part)
}

func (b *border[T]) measure(r *rect) float64 {
	area, _ := measure(b.meter, b.world, r)
	return area
}

// total closes all strips and returns the sum.
func (b *border[T]) total() float64 {
	for i := range b.strips {
		b.close(&b.strips[i])
	}
	return b.area
}
