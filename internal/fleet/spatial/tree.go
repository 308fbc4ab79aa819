package spatial

import (
	"cmp"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// leafSize is the most items of a leaf. Fewer make a deeper tree with more memory for
// its forks; more make each search examine more items.
const leafSize = 32

// entry is an item with its place as a vector.
type entry[T Item] struct {
	at   geo.Vec
	item T
}

// branch is a subtree as seen from above: a fork or a leaf, and what a search must
// know to skip it without loading it.
type branch[T Item] struct {
	fork  *fork[T]   // nil for a leaf
	leaf  []entry[T] // never changed, only replaced
	count int32
	tags  Tags // all that occur in it
}

// fork splits its entries by their coordinate on one axis and, where that is equal,
// by ID. So any number of entries at one place or in one row can be split in half,
// and each entry has exactly one path to it.
//
// It is small, because a search in a large index spends its time waiting for memory.
type fork[T Item] struct {
	pivot    float64 // kids[1] holds the entries not below (pivot, pivotID)
	axis     uint8
	onePlace bool // everything below is at one place, split by ID alone
	kids     [2]branch[T]
	pivotID  string
	batch    uint64 // that made it: until that is published, it may be edited
}

// side returns the side of the fork on which an entry lies.
func (f *fork[T]) side(at geo.Vec, id string) int {
	v := at[f.axis]
	if v < f.pivot || (v == f.pivot && id < f.pivotID) {
		return 0
	}
	return 1
}

// branch returns the fork as a branch, with its totals.
func (f *fork[T]) branch() branch[T] {
	a, b := &f.kids[0], &f.kids[1]
	return branch[T]{fork: f, count: a.count + b.count, tags: a.tags | b.tags}
}

// anyPlace returns the place of one of the entries.
func (b *branch[T]) anyPlace() geo.Vec {
	for b.fork != nil {
		b = &b.fork.kids[0]
	}
	return b.leaf[0].at
}

// newLeaf makes a leaf of the entries and takes ownership of them.
func newLeaf[T Item](entries []entry[T]) branch[T] {
	b := branch[T]{leaf: entries, count: int32(len(entries))}
	for i := range entries {
		b.tags |= entries[i].item.Tags()
	}
	return b
}

// grow builds a balanced tree. It reorders the entries.
func grow[T Item](entries []entry[T], batch uint64) branch[T] {
	if len(entries) <= leafSize {
		return newLeaf(exactCopy(entries, 0))
	}
	axis := longestAxis(entries)
	middle := len(entries) / 2
	selectNth(entries, middle, axis)
	f := &fork[T]{
		pivot:    entries[middle].at[axis],
		pivotID:  entries[middle].item.ID(),
		axis:     axis,
		onePlace: areAtOnePlace(entries),
		batch:    batch,
	}
	f.kids[0] = grow(entries[:middle], batch)
	f.kids[1] = grow(entries[middle:], batch)
	return f.branch()
}

// longestAxis returns the axis on which a sample of the entries is spread most. Any
// axis would do, but splitting the longest keeps parts compact.
func longestAxis[T Item](entries []entry[T]) uint8 {
	low, high := entries[0].at, entries[0].at
	for i := 0; i < len(entries); i += 1 + len(entries)/64 {
		for axis, v := range entries[i].at {
			low[axis], high[axis] = min(low[axis], v), max(high[axis], v)
		}
	}
	longest := 0
	for axis := range low {
		if high[axis]-low[axis] > high[longest]-low[longest] {
			longest = axis
		}
	}
	return uint8(longest)
}

func areAtOnePlace[T Item](entries []entry[T]) bool {
	for i := range entries {
		if entries[i].at != entries[0].at {
			return false
		}
	}
	return true
}

// selectNth moves the entry that is n-th on the axis to n, lower ones before it and
// higher ones after: quickselect with the median of three.
func selectNth[T Item](entries []entry[T], n int, axis uint8) {
	low, high := 0, len(entries)-1
	for low < high {
		pivot := medianOfThree(&entries[low], &entries[(low+high)/2], &entries[high], axis)
		i, j := low, high
		for i <= j {
			for entries[i].compare(&pivot, axis) < 0 {
				i++
			}
			for entries[j].compare(&pivot, axis) > 0 {
				j--
			}
			if i <= j {
				entries[i], entries[j] = entries[j], entries[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			high = j
		case n >= i:
			low = i
		default:
			return
		}
	}
}

func medianOfThree[T Item](a, b, c *entry[T], axis uint8) entry[T] {
	if a.compare(b, axis) > 0 {
		a, b = b, a
	}
	switch {
	case c.compare(a, axis) < 0:
		return *a
	case c.compare(b, axis) > 0:
		return *b
	default:
		return *c
	}
}

func (e *entry[T]) compare(other *entry[T], axis uint8) int {
	switch a, b := e.at[axis], other.at[axis]; {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return cmp.Compare(e.item.ID(), other.item.ID())
	}
}

// appendEntries appends the entries of the branch.
func (b *branch[T]) appendEntries(entries []entry[T]) []entry[T] {
	for b.fork != nil {
		entries = b.fork.kids[0].appendEntries(entries)
		b = &b.fork.kids[1]
	}
	return append(entries, b.leaf...)
}

func (b *branch[T]) all(yield func(T) bool) bool {
	if b.fork != nil {
		return b.fork.kids[0].all(yield) && b.fork.kids[1].all(yield)
	}
	for i := range b.leaf {
		if !yield(b.leaf[i].item) {
			return false
		}
	}
	return true
}
