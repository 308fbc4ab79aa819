package coverage

import (
	"cmp"
	"fmt"
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Item is what a disc stands for.
type Item interface {
	// ID distinguishes discs at one place.
	ID() string
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
