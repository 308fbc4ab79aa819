package coverage

import (
	"cmp"
	"slices"
)

// change is a disc that is put or removed.
type change[T Item] struct {
	entry[T]
	remove bool
	order  int32 // of two changes of one disc, the later counts
	x, y   uint32
}

// editor makes the next tree out of the last. It copies what it changes, and
// notes which discs came and went; what is measured anew then is up to a
// surveyor.
type editor[T Item] struct {
	marks
}

// edit gives the node after the changes in its cell. It reorders them.
func (e *editor[T]) edit(n *node[T], c cell, changes []change[T]) *node[T] {
	switch {
	case len(changes) == 0:
		return n
	case n != nil && n.fork != nil:
		kids := n.fork.kids
		for i, part := range parted(c, changes) {
			kids[i] = e.edit(kids[i], c.kid(i), part)
		}
		return join(c, kids)
	}
	var discs []entry[T]
	if n != nil {
		discs = n.discs
	}
	isFew := len(discs)+len(changes) <= leafSize && c.level >= firstLevel
	if isFew || c.level == lastLevel[c.zone] {
		return e.editLeaf(n, changes)
	}
	var kids [4]*node[T]
	if n != nil {
		kids = partedLeaf(c, n)
	}
	for i, part := range parted(c, changes) {
		kids[i] = e.edit(kids[i], c.kid(i), part)
	}
	return join(c, kids)
}

// parted orders changes by the kid of the cell that they are in.
func parted[T Item](c cell, changes []change[T]) (parts [4][]change[T]) {
	isSouth := func(a *change[T]) bool { return c.kidOf(a.x, a.y)&2 != 0 }
	isEast := func(a *change[T]) bool { return c.kidOf(a.x, a.y)&1 != 0 }
	upper, lower := split(changes, isSouth)
	parts[0], parts[1] = split(upper, isEast)
	parts[2], parts[3] = split(lower, isEast)
	return parts
}

func split[T Item](changes []change[T], isSecond func(*change[T]) bool) (first, second []change[T]) {
	i, j := 0, len(changes)
	for i < j {
		if !isSecond(&changes[i]) {
			i++
			continue
		}
		j--
		changes[i], changes[j] = changes[j], changes[i]
	}
	return changes[:i], changes[i:]
}

// partedLeaf makes four leaves of one. None is left out: whether ground is
// covered in it is not known.
func partedLeaf[T Item](c cell, n *node[T]) (kids [4]*node[T]) {
	var parts [4][]entry[T]
	for i := range n.discs {
		at := address(n.discs[i].lat, n.discs[i].lng)
		kid := c.kidOf(at.x, at.y)
		parts[kid] = append(parts[kid], n.discs[i])
	}
	for i, part := range parts {
		kids[i] = newLeaf(part)
	}
	return kids
}

// editLeaf changes the discs of a leaf. Its area stays what it was: if it is not
// right any more, the marks tell.
func (e *editor[T]) editLeaf(old *node[T], changes []change[T]) *node[T] {
	if old == nil {
		old = newLeaf[T](nil)
	}
	slices.SortFunc(changes, func(a, b change[T]) int { return cmp.Compare(a.order, b.order) })
	entries := append(make([]entry[T], 0, len(old.discs)+len(changes)), old.discs...)
	for i := range changes {
		at, found := slices.BinarySearchFunc(entries, changes[i].entry, func(a, b entry[T]) int { return a.compare(&b) })
		var was entry[T]
		if found {
			was = entries[at]
		}
		switch {
		case changes[i].remove && found:
			entries = slices.Delete(entries, at, at+1)
		case changes[i].remove:
		case found:
			entries[at] = changes[i].entry
		default:
			entries = slices.Insert(entries, at, changes[i].entry)
		}
		e.note(&was, &changes[i])
	}
	if len(entries) == 0 && old.area == 0 {
		return nil
	}
	n := newLeaf(entries)
	n.area, n.sole = old.area, old.sole
	return n
}

// note marks where ground may have become covered or bare.
func (e *editor[T]) note(was *entry[T], c *change[T]) {
	before, after := max(0, was.radius), max(0, c.radius)
	if c.remove {
		after = 0
	}
	if before == after {
		return
	}
	if before > 0 {
		e.mark(was.place(), before, true)
	}
	if after > 0 {
		e.mark(c.place(), after, false)
	}
}

func sortEntries[T Item](entries []entry[T]) {
	slices.SortFunc(entries, func(a, b entry[T]) int { return a.compare(&b) })
}
