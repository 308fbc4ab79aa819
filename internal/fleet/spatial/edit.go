package spatial

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// lopsided is the share of a fork's entries above which one of its sides is out of
// balance.
const lopsided = 0.65

// collapseAt is the size at which a shrunken fork becomes one leaf again. It is well
// below leafSize, so that an item that comes and goes does not split and collapse the
// same leaf each time.
const collapseAt = leafSize / 2

// editor makes the next tree from the last. It copies what belongs to an older batch,
// and edits in place what it copied or made itself.
type editor[T Item] struct {
	batch uint64
	// deep is set when an insertion went deeper than a balanced tree is: the lowest
	// unbalanced fork above it is rebuilt.
	deep bool
}

func (e *editor[T]) own(f *fork[T]) *fork[T] {
	if f.batch == e.batch {
		return f
	}
	mine := *f
	mine.batch = e.batch
	return &mine
}

// insert adds an entry that is not in the tree.
func (e *editor[T]) insert(root branch[T], added entry[T]) branch[T] {
	e.deep = false
	return e.insertBelow(root, added, maxDepth(int(root.count)+1))
}

// maxDepth returns how many forks may be above a leaf. On a path of balanced forks
// each holds at most the share lopsided of the one above, and the last still more
// than collapseAt: if a path is longer, one of its forks is out of balance.
func maxDepth(count int) int {
	if count <= collapseAt {
		return 1
	}
	return 1 + int(math.Log(float64(count)/collapseAt)/-math.Log(lopsided))
}

func (e *editor[T]) insertBelow(b branch[T], added entry[T], depthLeft int) branch[T] {
	if b.fork == nil {
		e.deep = depthLeft < 0
		return e.insertIntoLeaf(b, added)
	}
	f := e.own(b.fork)
	if f.onePlace && b.anyPlace() != added.at {
		f.onePlace = false
	}
	kid := &f.kids[f.side(added.at, added.item.ID())]
	*kid = e.insertBelow(*kid, added, depthLeft-1)
	if e.deep && float64(kid.count) > lopsided*float64(b.count+1) {
		e.deep = false
		whole := f.branch()
		return grow(whole.appendEntries(make([]entry[T], 0, whole.count)), e.batch)
	}
	return f.branch()
}

func (e *editor[T]) insertIntoLeaf(b branch[T], added entry[T]) branch[T] {
	entries := append(exactCopy(b.leaf, 1), added)
	if len(entries) > leafSize {
		return grow(entries, e.batch)
	}
	b.leaf = entries
	b.count++
	b.tags |= added.item.Tags()
	return b
}

// exactCopy copies a leaf with room for exactly that many more: append would leave up
// to twice the memory.
func exactCopy[T Item](leaf []entry[T], more int) []entry[T] {
	return append(make([]entry[T], 0, len(leaf)+more), leaf...)
}

// replace replaces an item by another with the same ID and place: the most frequent
// change, and the cheapest.
func (e *editor[T]) replace(b branch[T], at geo.Vec, old, item T) branch[T] {
	if b.fork != nil {
		f := e.own(b.fork)
		kid := &f.kids[f.side(at, item.ID())]
		*kid = e.replace(*kid, at, old, item)
		b.fork = f
		b.tags = f.kids[0].tags | f.kids[1].tags
		return b
	}
	entries := exactCopy(b.leaf, 0)
	for i := range entries {
		if entries[i].item == old {
			entries[i].item = item
		}
	}
	if old.Tags() != item.Tags() {
		return newLeaf(entries)
	}
	b.leaf = entries
	return b
}

// remove removes an entry from the tree.
func (e *editor[T]) remove(b branch[T], at geo.Vec, old T) branch[T] {
	if b.fork == nil {
		entries := make([]entry[T], 0, len(b.leaf)-1)
		for i := range b.leaf {
			if b.leaf[i].item != old {
				entries = append(entries, b.leaf[i])
			}
		}
		return newLeaf(entries)
	}
	f := e.own(b.fork)
	side := f.side(at, old.ID())
	f.kids[side] = e.remove(f.kids[side], at, old)
	if f.kids[side].count == 0 {
		return f.kids[1-side]
	}
	whole := f.branch()
	if whole.count <= collapseAt {
		return newLeaf(whole.appendEntries(make([]entry[T], 0, whole.count)))
	}
	return whole
}
