// Package registry is what people do with hotspots: register, verify, link,
// read, change, delete, list and find them. Each verb has the shape
// Verb(ctx, Principal, Input) (Output, error). Whether a key's scopes suffice
// was settled by the table of routes; whose hotspot it is, is decided here.
//
// Its one invariant: a write is durable before it is in the fleet, and in the
// fleet before its caller hears of it.
package registry

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Store is what this package needs of a database. Callers have validated the
// input; rights are checked before, or in the edit. Implementations are safe
// for concurrent use and share no memory with the caller.
type Store interface {
	// InsertHotspot answers Conflict when the MAC is taken, and the stored record
	// when the idempotency key was used before.
	InsertHotspot(ctx context.Context, h beacon.Hotspot, by beacon.Actor, once *beacon.Idempotency) (replay *beacon.Idempotency, err error)
	// UpdateHotspot applies edit to the current row, as often as it takes, and
	// writes the next version. NotFound when there is no live hotspot.
	UpdateHotspot(ctx context.Context, id beacon.HotspotID, by beacon.Actor, kind beacon.ChangeKind,
		edit func(*beacon.Hotspot) (changed bool, err error)) (beacon.Hotspot, error)
	// Hotspot answers NotFound when there is no live hotspot.
	Hotspot(ctx context.Context, id beacon.HotspotID) (beacon.Hotspot, error)
	// HotspotsOf gives a page of a user's live hotspots by id, and their number.
	HotspotsOf(ctx context.Context, user beacon.UserID, offset, limit int) ([]beacon.Hotspot, int, error)
	// NamesOf gives all live hotspots of a user by id, with their names.
	NamesOf(ctx context.Context, user beacon.UserID) ([]beacon.HotspotName, error)
	// HotspotsByID gives those that exist, deleted ones too, in any order.
	HotspotsByID(ctx context.Context, ids []beacon.HotspotID) ([]beacon.Hotspot, error)
	// PutLinkCode keeps a code in place of the hotspot's earlier one.
	PutLinkCode(ctx context.Context, code beacon.LinkCode, by beacon.Actor, now time.Time) error
	// LinkDevice uses a code up and applies edit to its hotspot, in one
	// transaction. NotFound when there is no such code, or it is used up;
	// Forbidden when it has expired or its hotspot is gone. An error of edit
	// costs the code one of its tries, and is given back.
	LinkDevice(ctx context.Context, hash [32]byte, by beacon.Actor, now time.Time,
		edit func(*beacon.Hotspot) error) (beacon.Hotspot, error)
	// NoteRefusal writes an audit row alone.
	NoteRefusal(ctx context.Context, refused beacon.Change) error
}

// Registry serves the verbs.
type Registry struct {
	store Store
	fleet *fleet.Fleet
	now   func() time.Time
}

// New makes a registry.
func New(store Store, fleet *fleet.Fleet, now func() time.Time) *Registry {
	return &Registry{store: store, fleet: fleet, now: now}
}

// moment is the time of a change, as precise as the interface shows it: what a
// client was told is what a later read gives.
func (r *Registry) moment() time.Time { return r.now().UTC().Truncate(time.Millisecond) }

// newID makes the id of a hotspot from the whole of the time, not from its moment:
// lists are in the order of ids, and are then in the order of registration.
func (r *Registry) newID() beacon.HotspotID {
	return beacon.HotspotID(id.New(beacon.HotspotPrefix, r.now()))
}

// validID reports whether a text can be the id of a hotspot at all: others need
// no look at the database.
func validID(text beacon.HotspotID) bool { return id.Valid(beacon.HotspotPrefix, string(text)) }

var errNoHotspot = &beacon.Error{Kind: beacon.NotFound, Message: "no such hotspot"} // as the store says it

// Get reads one hotspot.
func (r *Registry) Get(ctx context.Context, _ beacon.Principal, hotspot beacon.HotspotID) (View, error) {
	if !validID(hotspot) {
		return View{}, errNoHotspot
	}
	h, err := r.store.Hotspot(ctx, hotspot)
	if err != nil {
		return View{}, err
	}
	return r.view(h), nil
}
