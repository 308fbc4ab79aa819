package coverage

import (
	"sync"
	"sync/atomic"
)

// Tree holds the latest snapshot and makes the next. It is safe for concurrent
// use: readers take a snapshot with one atomic load, and a writer never waits for
// them nor they for it. Use New.
type Tree[T Item] struct {
	latest atomic.Pointer[Snapshot[T]]

	mu sync.Mutex // of writers
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

// Snapshot gives the tree as it is now.
func (t *Tree[T]) Snapshot() *Snapshot[T] { return t.latest.Load() }

// Apply removes discs, then puts others, and publishes all of it at once. A disc
// is known by its place and the ID of its item: one that is put where one with
// its ID is takes that one's place, and one that moves must also be removed from
// where it was. To remove what is not there changes nothing. If a disc to put is
// invalid, nothing is changed.
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
