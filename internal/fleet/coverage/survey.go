package coverage

// surveyor measures the cells of a new tree that are unknown, and those that the
// marks reach. First it lists them; then it measures them while the tree does not
// change, so that many goroutines can take part; then it stores the results.
type surveyor[T Item] struct {
	*marks
	world *[zones]*node[T]
	below []stroke // those of the cells on the current path, level by level
	plots []plot   // in tree order
	next  int      // plot to store
}

// plot is a leaf to measure.
type plot struct {
	cell cell
	sole bool
	area float64
}

// survey returns the roots with all areas known.
func (s *surveyor[T]) survey() (world [zones]*node[T]) {
	for z, root := range s.world {
		s.list(root, cell{zone: zone(z)}, s.strokes[z])
	}
	s.measure()
	for z, root := range s.world {
		world[z] = s.settle(root, cell{zone: zone(z)})
	}
	return world
}

// list lists what is to be measured of a cell.
func (s *surveyor[T]) list(n *node[T], c cell, strokes []stroke) {
	if len(strokes) == 0 && n.isKnown() {
		return
	}
	if c.level >= firstLevel && (n == nil || n.fork == nil) {
		if r := c.rect(); !n.isKnown() || s.matter(strokes, &r, n != nil && n.sole) {
			s.plots = append(s.plots, plot{cell: c})
		}
		return
	}
	for i := range 4 {
		mark, kid := len(s.below), c.kid(i)
		s.below = kid.appendOwn(s.below, strokes)
		s.list(n.kid(i), kid, s.below[mark:])
		s.below = s.below[:mark]
	}
}

func (s *surveyor[T]) measure() {
	inParallel(len(s.plots), 16, func(low, high int) {
		m := meters.Get().(*meter)
		defer meters.Put(m)
		for i := range s.plots[low:high] {
			p := &s.plots[low+i]
			r := p.cell.rect()
			p.area, p.sole = measure(m, s.world, &r, nil)
		}
	})
}

// isNext reports whether the next plot to store is within the cell.
func (s *surveyor[T]) isNext(c cell) bool {
	return s.next < len(s.plots) && s.plots[s.next].cell.isWithin(c)
}

// settle returns the node with its area known. Unknown nodes are not published yet,
// so they are changed in place.
func (s *surveyor[T]) settle(n *node[T], c cell) *node[T] {
	if n.isKnown() && !s.isNext(c) {
		return n
	}
	if c.level < firstLevel || (n != nil && n.fork != nil) {
		return s.settleFork(n, c)
	}
	found := &s.plots[s.next]
	s.next++
	if found.area == 0 && n.count() == 0 {
		return nil
	}
	n = owned(n)
	n.area, n.sole = found.area, found.sole
	return n
}

func (s *surveyor[T]) settleFork(n *node[T], c cell) *node[T] {
	var kids [4]*node[T]
	area, isEmpty := 0.0, true
	for i := range kids {
		if kids[i] = s.settle(n.kid(i), c.kid(i)); kids[i] != nil {
			area += kids[i].area
			isEmpty = false
		}
	}
	if isEmpty {
		return nil
	}
	if n == nil {
		n = newFork(kids)
	}
	n = owned(n)
	n.fork.kids, n.area = kids, area
	return n
}

// owned returns a node that may be changed.
func owned[T Item](n *node[T]) *node[T] {
	switch {
	case n == nil:
		return &node[T]{area: unknown}
	case !n.isKnown():
		return n
	case n.fork == nil:
		mine := *n
		return &mine
	default:
		mine := *n.fork
		mine.node.fork = &mine
		return &mine.node
	}
}
