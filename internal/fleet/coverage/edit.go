package coverage

import (
	"cmp"
	"slices"
	"sync"
)

// edit returns the node after the changes in its cell. It copies what it changes, notes
// in each change what was there before, and reorders the changes; a measurer then
// decides what to measure again.
func edit[T Item](n *node[T], c cell, changes []change[T]) *node[T] {
	switch {
	case len(changes) == 0:
		return n
	case n != nil && n.fork != nil:
		return editKids(n.fork.kids, c, changes)
	}
	var discs []entry[T]
	if n != nil {
		discs = n.discs
	}
	isFew := len(discs)+len(changes) <= leafSize && c.level >= firstLevel
	if isFew || c.level == lastLevel[c.zone] {
		return editLeaf(n, changes)
	}
	var kids [4]*node[T]
	if n != nil {
		kids = partedLeaf(c, n)
	}
	return editKids(kids, c, changes)
}

func editKids[T Item](kids [4]*node[T], c cell, changes []change[T]) *node[T] {
	const many = 4096
	if len(changes) >= many {
		return editKidsAtOnce(kids, c, changes)
	}
	for i, part := range parted(c, changes) {
		kids[i] = edit(kids[i], c.kid(i), part)
	}
	return join(c, kids)
}

func editKidsAtOnce[T Item](kids [4]*node[T], c cell, changes []change[T]) *node[T] {
	var editors sync.WaitGroup
	for i, part := range parted(c, changes) {
		editors.Go(func() { kids[i] = edit(kids[i], c.kid(i), part) })
	}
	editors.Wait()
	return join(c, kids)
}

// partedLeaf splits a leaf into four. None is left out: whether ground is covered in
// it is not known yet.
func partedLeaf[T Item](c cell, n *node[T]) (kids [4]*node[T]) {
	var parts [4][]entry[T]
	for i := range n.discs {
		kid := c.kidToward(address(n.discs[i].lat, n.discs[i].lng))
		parts[kid] = append(parts[kid], n.discs[i])
	}
	for i, part := range parts {
		kids[i] = newLeaf(part)
	}
	return kids
}

// editLeaf changes the discs of a leaf. Its area stays as it was: if that is no
// longer right, what was there before shows it.
func editLeaf[T Item](old *node[T], changes []change[T]) *node[T] {
	if old == nil {
		old = &node[T]{area: unknown}
	}
	slices.SortFunc(changes, func(a, b change[T]) int { return cmp.Compare(a.order, b.order) })
	var few [leafSize]entry[T]
	entries := append(few[:0], old.discs...)
	for i := range changes {
		at, found := slices.BinarySearchFunc(entries, changes[i].entry, func(a, b entry[T]) int { return a.compare(&b) })
		if found {
			changes[i].was = entries[at].radius
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
	}
	if len(entries) == 0 && old.area == 0 {
		return nil
	}
	n := newLeaf(entries)
	n.area, n.sole = old.area, old.sole
	return n
}

func sortEntries[T Item](entries []entry[T]) {
	slices.SortFunc(entries, func(a, b entry[T]) int { return a.compare(&b) })
}

// change is the put or the removal of a disc.
type change[T Item] struct {
	entry[T]
	remove bool
	order  int32 // of two changes of one disc, the later counts
	at     cell
	was    float64 // radius of the entry that it replaced or removed; 0 if there was none
}

// changesOf returns the changes in each zone, removals first in their order.
func changesOf[T Item](put, remove []Disc[T]) (changes [zones][]change[T]) {
	all := make([]change[T], len(remove)+len(put))
	inParallel(len(all), 1024, func(low, high int) {
		for i := low; i < high; i++ {
			if i < len(remove) {
				all[i] = newChange(&remove[i], true, i)
			} else {
				all[i] = newChange(&put[i-len(remove)], false, i)
			}
		}
	})
	for z := range changes {
		changes[z], all = split(all, func(c *change[T]) bool { return c.at.zone != zone(z) })
	}
	return changes
}

func newChange[T Item](d *Disc[T], remove bool, order int) change[T] {
	c := change[T]{entry: newEntry(d), remove: remove, order: int32(order), at: cell{zone: zones}}
	if d.Place.Valid() { // else it is nowhere, and cannot be there to remove
		c.at = address(d.Place.Lat, d.Place.Lng)
	}
	return c
}

// parted groups changes by the kid of the cell that they are in.
func parted[T Item](c cell, changes []change[T]) (parts [4][]change[T]) {
	isSouth := func(a *change[T]) bool { return c.kidToward(a.at)&2 != 0 }
	isEast := func(a *change[T]) bool { return c.kidToward(a.at)&1 != 0 }
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
