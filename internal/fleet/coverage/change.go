package coverage

// change is the put or the removal of a disc.
type change[T Item] struct {
	entry[T]
	remove bool
	order  int32 // of two changes of one disc, the later counts
	at     cell
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
	isSouth := func(a *change[T]) bool { return c.kidOf(a.at.x, a.at.y)&2 != 0 }
	isEast := func(a *change[T]) bool { return c.kidOf(a.at.x, a.at.y)&1 != 0 }
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
