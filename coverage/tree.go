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

	mu    sync.Mutex // of writers
	meter meter
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
	var changes [zones][]change[T]
	for i := range remove {
		if remove[i].Place.Valid() {
			addChange(&changes, &remove[i], true)
		}
	}
	for i := range put {
		addChange(&changes, &put[i], false)
	}
	next := *t.latest.Load()
	var edit editor[T]
	for z := range next.world {
		next.world[z] = edit.edit(next.world[z], cell{zone: zone(z)}, changes[z])
	}
	survey := surveyor[T]{marks: &edit.marks, world: &next.world, meter: &t.meter}
	world := next.world
	for z := range world {
		world[z] = survey.survey(world[z], cell{zone: zone(z)}, edit.strokes[z])
	}
	t.latest.Store(&Snapshot[T]{world})
	return nil
}

func addChange[T Item](changes *[zones][]change[T], d *Disc[T], remove bool) {
	at := address(d.Place.Lat, d.Place.Lng)
	of := &changes[at.zone]
	*of = append(*of, change[T]{entry: newEntry(d), remove: remove, order: int32(len(*of)), x: at.x, y: at.y})
}
