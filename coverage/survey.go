package coverage

// surveyor measures the cells of a new tree that are not known, and those that
// the marks reach.
type surveyor[T Item] struct {
	*marks
	world *[zones]*node[T]
	meter *meter
	below []stroke // those of the cells under way, level by level
}

// survey gives the node with its area known. Nodes that are not known are not
// published yet, so they are changed in place.
func (s *surveyor[T]) survey(n *node[T], c cell, strokes []stroke) *node[T] {
	if len(strokes) == 0 && n.isKnown() {
		return n
	}
	if c.level < firstLevel || (n != nil && n.fork != nil) {
		return s.fork(n, c, strokes)
	}
	r := c.rect()
	if n.isKnown() && !s.matter(strokes, &r, n != nil && n.sole) {
		return n
	}
	area, sole := measure(s.meter, s.world, &r, nil)
	if area == 0 && n.count() == 0 {
		return nil
	}
	n = s.own(n)
	n.area, n.sole = area, sole
	return n
}

func (s *surveyor[T]) fork(n *node[T], c cell, strokes []stroke) *node[T] {
	var kids [4]*node[T]
	if n != nil {
		kids = n.fork.kids
	}
	area, isEmpty := 0.0, true
	for i := range kids {
		mark, kid := len(s.below), c.kid(i)
		s.below = kid.appendOwn(s.below, strokes)
		kids[i] = s.survey(kids[i], kid, s.below[mark:])
		s.below = s.below[:mark]
		if kids[i] != nil {
			area += kids[i].area
			isEmpty = false
		}
	}
	if isEmpty {
		return nil
	}
	n = s.own(n)
	if n.fork == nil {
		n.fork = &fork[T]{}
	}
	n.fork.kids, n.area = kids, area
	return n
}

// own gives a node that may be changed.
func (s *surveyor[T]) own(n *node[T]) *node[T] {
	if n == nil {
		return &node[T]{area: unknown}
	}
	if !n.isKnown() {
		return n
	}
	mine := *n
	if n.fork != nil {
		below := *n.fork
		mine.fork = &below
	}
	return &mine
}
