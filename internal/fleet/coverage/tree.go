// Package coverage is the geometry of discs: how much ground the online ones cover
// together, exactly, in a box of any size; how many there are; and what a map shows
// of them from afar. It keeps everything in memory and knows nothing of hotspots
// except what it is given.
//
// Its invariant: what a snapshot returns depends only on the discs in it, never on
// the order in which they came and went. The discs determine the shape of the tree,
// and sums are formed in tree order. So after any history the tree is, to the bit,
// the one that would be built from scratch.
//
// The Earth is divided into the tiles of web maps, and two separate zones around the
// poles. Each cell has the discs whose middle is in it, and the area that discs from
// anywhere cover in it. An area is measured on the sphere itself by Green's theorem,
// along the rims and sides that bound the covered ground: no raster, no sampling. A
// box consists of the whole cells in it and of those on its border, which are
// measured on demand.
package coverage

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/beacon-wifi/beacon/internal/geo"
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
	areas := measurer[T]{world: &next.world}
	for z := range next.world {
		next.world[z] = edit(next.world[z], cell{zone: zone(z)}, changes[z])
		areas.note(changes[z])
	}
	areas.measureAll()
	t.latest.Store(&next)
	return nil
}

// Item is what a disc stands for.
type Item interface {
	// ID distinguishes discs at one place.
	ID() string
	// Pending reports whether it waits to go into service.
	Pending() bool
}

// Disc is the ground within a radius around a place.
type Disc[T Item] struct {
	Item    T
	Place   geo.Point
	RadiusM float64
	Online  bool // only online discs cover anything
}

// MaxRadiusM is the largest radius of a disc.
const MaxRadiusM = 10_000

func (d *Disc[T]) validate() error {
	switch {
	case !d.Place.Valid(): // the place is not named: where someone lives belongs in no log
		return fmt.Errorf("coverage: %q has a location that is not on Earth", d.Item.ID())
	case !(d.RadiusM > 0 && d.RadiusM <= MaxRadiusM):
		return fmt.Errorf("coverage: the radius of %q is %v m; it must be above 0 and at most %d m", d.Item.ID(), d.RadiusM, MaxRadiusM)
	default:
		return nil
	}
}

// entry is a disc as stored in a leaf.
type entry[T Item] struct {
	lat, lng float64
	radius   float64 // metres, negative if the disc is not online
	item     T
}

func newEntry[T Item](d *Disc[T]) entry[T] {
	e := entry[T]{d.Place.Lat, d.Place.Lng, d.RadiusM, d.Item}
	if !d.Online {
		e.radius = -e.radius
	}
	return e
}

func (e *entry[T]) online() bool     { return e.radius > 0 }
func (e *entry[T]) place() geo.Point { return geo.Point{Lat: e.lat, Lng: e.lng} }

func (e *entry[T]) disc() Disc[T] {
	return Disc[T]{Item: e.item, Place: e.place(), RadiusM: math.Abs(e.radius), Online: e.online()}
}

// compare orders the entries of a leaf by place, then ID.
func (e *entry[T]) compare(o *entry[T]) int {
	if e.lat != o.lat || e.lng != o.lng {
		return cmp.Or(cmp.Compare(e.lat, o.lat), cmp.Compare(e.lng, o.lng))
	}
	return cmp.Compare(e.item.ID(), o.item.ID())
}

// inParallel calls f for consecutive ranges of the numbers below n, each of the given
// size but the last, on all processors if there are more than a few ranges.
func inParallel(n, size int, f func(low, high int)) {
	const few = 4
	if n <= few*size {
		f(0, n)
		return
	}
	var taken atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				low := int(taken.Add(int64(size))) - size
				if low >= n {
					return
				}
				f(low, min(low+size, n))
			}
		})
	}
	workers.Wait()
}
