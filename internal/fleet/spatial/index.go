// Package spatial is an in-memory index of items by their place on Earth: it finds
// the nearest of a million to a point in a few microseconds. It keeps nothing on disk
// and knows nothing of what the items are.
//
// Its invariant: a Snapshot never changes. Readers take the latest with one atomic
// load and query it as often as they like. A writer copies what it changes and
// publishes the copy, so they never wait for it, nor it for them.
//
// It is a kd-tree over unit vectors, so the poles and ±180° need no special case. A
// change copies one leaf and the path above it. A subtree that became unbalanced is
// rebuilt at once (a scapegoat tree), so nothing runs in the background.
//
//	index := spatial.New[*Cafe]()
//	err := index.Apply(cafes, nil)
//	hits := index.Snapshot().Nearest(spatial.Query{Center: p, Radius: 500, Limit: 20}, nil, nil)
package spatial

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Item is what an index holds: a pointer to something immutable. A change is a put of
// another item with the same ID.
type Item interface {
	comparable

	// ID distinguishes items, and orders those that are equally far.
	ID() string
	// Place is where the item is. It must be valid.
	Place() geo.Point
	// Tags mark the item for searches that want only some; see Query.
	Tags() Tags
}

// Tags are up to eight marks of an item. The tree knows which tags occur in each of
// its parts, so a search for a rare tag skips the rest.
type Tags uint8

// Index holds the latest snapshot and makes the next. It is safe for concurrent
// use. Use New.
type Index[T Item] struct {
	latest atomic.Pointer[Snapshot[T]]

	mu    sync.Mutex // serializes writers
	items table[T]
	batch uint64 // counts changes: what the tree made in the current one may be edited
}

// Snapshot is the index at one moment.
type Snapshot[T Item] struct {
	root branch[T]
}

// New returns an empty index.
func New[T Item]() *Index[T] {
	ix := &Index[T]{items: newTable[T]()}
	ix.latest.Store(&Snapshot[T]{root: grow[T](nil, 0)})
	return ix
}

// Snapshot returns the index as it is now.
func (ix *Index[T]) Snapshot() *Snapshot[T] { return ix.latest.Load() }

// Apply removes the items with the deleted ids, then puts the given items, replacing
// any with the same ID, and publishes all of it at once. Deleting what is not there
// changes nothing. An item without a valid place is an error, and then nothing
// changes.
func (ix *Index[T]) Apply(puts []T, deletes []string) error {
	for _, item := range puts {
		if !item.Place().Valid() { // the place is not named: where someone lives belongs in no log
			return fmt.Errorf("spatial: %q has a location that is not on Earth", item.ID())
		}
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.batch++
	root := ix.latest.Load().root
	if changes := len(puts) + len(deletes); changes > leafSize && changes > int(root.count)/4 {
		root = ix.rebuild(puts, deletes)
	} else {
		root = ix.change(root, puts, deletes)
	}
	ix.latest.Store(&Snapshot[T]{root: root})
	return nil
}

// Get returns the item with an ID, as of the latest snapshot. It waits for a writer;
// searches do not.
func (ix *Index[T]) Get(id string) (item T, ok bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	p, slot := ix.items.find(id)
	item = p.slots[slot]
	var free T
	return item, item != free
}

// rebuild makes a new tree, which is cheaper than changing much of one.
func (ix *Index[T]) rebuild(puts []T, deletes []string) branch[T] {
	for _, id := range deletes {
		ix.items.remove(id)
	}
	ix.items.reserve(len(puts))
	entries := make([]entry[T], 0, ix.items.len()+len(puts))
	onlyThese := ix.items.len() == 0
	for _, item := range puts {
		_, replaced := ix.items.put(item)
		onlyThese = onlyThese && !replaced
		entries = append(entries, entry[T]{item.Place().Vec(), item})
	}
	if !onlyThese {
		entries = entries[:0]
		for item := range ix.items.all() {
			entries = append(entries, entry[T]{item.Place().Vec(), item})
		}
	}
	return grow(entries, ix.batch)
}

// change edits the tree item by item.
func (ix *Index[T]) change(root branch[T], puts []T, deletes []string) branch[T] {
	edit := editor[T]{batch: ix.batch}
	for _, id := range deletes {
		if old, found := ix.items.remove(id); found {
			root = edit.remove(root, old.Place().Vec(), old)
		}
	}
	for _, item := range puts {
		at := item.Place().Vec()
		if old, found := ix.items.put(item); found {
			was := old.Place().Vec()
			if was == at {
				root = edit.replace(root, at, old, item)
				continue
			}
			root = edit.remove(root, was, old)
		}
		root = edit.insert(root, entry[T]{at, item})
	}
	return root
}

// Len returns the number of items.
func (s *Snapshot[T]) Len() int { return int(s.root.count) }

// All calls yield for each item, in no particular order, until it returns false.
func (s *Snapshot[T]) All(yield func(T) bool) { s.root.all(yield) }
