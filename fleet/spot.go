package fleet

import (
	"strings"
	"time"
	"unique"

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/geo"
	"github.com/beacon-wifi/beacon/spatial"
)

// Spot is a live hotspot in the fleet. It never changes: a change is another
// Spot. There may be millions, so it is kept to 56 bytes and its text: the id
// is a part of the text, and the tail of the text is shared.
type Spot struct {
	place   geo.Point
	version int64
	head    string
	tail    unique.Handle[string]
	idAt    uint8 // where the id begins in head
	idLen   uint8
	tags    spatial.Tags
	deleted bool // on its way out; head is the id alone
}

func (f *Fleet) newSpot(h beacon.Hotspot) *Spot {
	if h.Deleted() {
		return &Spot{version: h.Version, head: string(h.ID), idLen: uint8(len(h.ID)), deleted: true}
	}
	// Without heartbeats, a hotspot that is verified and linked is offline.
	status := h.StatusAt(time.Time{}, time.Time{})
	text := f.encode(h, status)
	return &Spot{
		place:   h.Location.Point,
		version: h.Version,
		head:    text.Head,
		tail:    unique.Make(text.Tail),
		idAt:    uint8(strings.Index(text.Head, string(h.ID))),
		idLen:   uint8(len(h.ID)),
		tags:    tagOf(status),
	}
}

// ID names the hotspot.
func (s *Spot) ID() string { return s.head[s.idAt : s.idAt+s.idLen] }

// Place is where it stands.
func (s *Spot) Place() geo.Point { return s.place }

// Version is the version of the hotspot that the spot shows.
func (s *Spot) Version() int64 { return s.version }

// Summary is its encoded form.
func (s *Spot) Summary() Summary { return Summary{Head: s.head, Tail: s.tail.Value()} }

// Tags let a search for one status pass over the others.
func (s *Spot) Tags() spatial.Tags { return s.tags }

func tagOf(status beacon.Status) spatial.Tags {
	switch status {
	case beacon.Pending:
		return 1
	case beacon.Online:
		return 2
	case beacon.Offline:
		return 4
	default:
		return 0 // any
	}
}
