package coverage

import (
	"sync"
	"sync/atomic"
)

// Tree holds the latest snapshot and makes the next. It is safe for concurrent use:
// readers take a snapshot with one atomic load; they never wait for a writer, nor it
// for them. Use New.
type Tree[T Item] struct {
	latest atomic.Pointer[Snapshot[T]]

	mu sync.Mutex // serializes writers
}

// Snapshot is the tree at one moment. It never changes.
type Snapshot[T Item] struct {
	world [zones]*node[T]
}

// New returns a tree without discs.
func New[T Item]() *Tree[T] {
	t := &Tree[T]{}
	t.latest.Store(&Snapshot[T]{})
	return t
}

// Snapshot returns the tree as it is now.
func (t *Tree[T]) Snapshot() *Snapshot[T] { return t.latest.Load() }

// Apply removes discs, then puts others, and publishes all of it at once. A disc is
// identified by its place and the ID of its item: a put replaces the disc with the
// same ID at the same place, and a disc that moves must also be removed from its old
// place. Removing what is not there changes nothing. If a disc to put is invalid,
// nothing changes.
func (t *Tree[T]) Apply(put, remove []Disc[T]) error {
	for i := range put {
		if err := put[i].validate(); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	changes := changesOf(put, remove)
	next := *t.latest.Load()
	var edit editor[T]
	for z := range next.world {
		next.world[z] = edit.edit(next.world[z], cell{zone: zone(z)}, changes[z])
	}
	survey := surveyor[T]{marks: edit.allMarks(), world: &next.world}
	world := survey.survey()
	t.latest.Store(&Snapshot[T]{world})
	return nil
}
