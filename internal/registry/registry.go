// Package registry is what people do with hotspots: register, verify, link, read,
// change, hand over, delete and list them. Each verb has the shape Verb(ctx, Principal,
// Input) (Output, error). The table of routes has checked that a key's scopes
// suffice; this package checks who owns a hotspot. What devices report is the business
// of package telemetry.
//
// Its one invariant: a write is durable before it is in the fleet, and in the fleet
// before it returns.
package registry

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Store is what this package needs of a database. Callers have validated the input;
// permissions are checked before the call, or in edit. Implementations are safe for
// concurrent use and share no memory with the caller.
type Store interface {
	// InsertHotspots, UpdateHotspot, PutLinkCode, LinkDevice and Enrol do nothing and return
	// ErrRepeated if the actor has a Once that was used before.

	// InsertHotspots calls done in its transaction with the verdict on each, which is
	// Conflict if the MAC is taken. May, if not nil, is called before each with what the
	// operator has and may have.
	InsertHotspots(ctx context.Context, all []beacon.Hotspot, by beacon.Actor,
		may func(waiting, discarded, quota int) error, done func(verdicts []error) error) error
	// UpdateHotspot applies edit to the current row, retrying as needed, and writes
	// the next version. It returns NotFound if there is no live hotspot.
	UpdateHotspot(ctx context.Context, id beacon.HotspotID, by beacon.Actor, kind beacon.ChangeKind,
		edit func(*beacon.Hotspot) (changed bool, err error)) (beacon.Hotspot, error)
	// Hotspot returns NotFound if there is no live hotspot.
	Hotspot(ctx context.Context, id beacon.HotspotID) (beacon.Hotspot, error)
	// HotspotsOf returns a page of a user's live hotspots by id, of those with an id
	// above after, and the number of all.
	HotspotsOf(ctx context.Context, user beacon.UserID, after beacon.HotspotID, offset, limit int) ([]beacon.Hotspot, int, error)
	// EverOf returns a user's hotspots with an id above after, by id, deleted ones too.
	EverOf(ctx context.Context, user beacon.UserID, after beacon.HotspotID, limit int) ([]beacon.Hotspot, error)
	// NamesOf returns all live hotspots of a user by id, with their names.
	NamesOf(ctx context.Context, user beacon.UserID) ([]beacon.HotspotName, error)
	// HotspotsByID returns those that exist, including deleted ones, in any order.
	HotspotsByID(ctx context.Context, ids []beacon.HotspotID) ([]beacon.Hotspot, error)
	// PutLinkCode stores a code, replacing the hotspot's earlier one.
	PutLinkCode(ctx context.Context, code beacon.LinkCode, by beacon.Actor, now time.Time) error
	// LinkDevice lets use change the hotspot of a code, in the transaction that deletes
	// the code. Use gets no hotspot if that is deleted. An error of use is noted in the
	// audit log and returned; then the tries of the code are written instead, or it is
	// deleted if it is void. LinkDevice returns NotFound if there is no such code.
	LinkDevice(ctx context.Context, hash [32]byte, by beacon.Actor, now time.Time,
		use func(*beacon.LinkCode, *beacon.Hotspot) error) (beacon.Hotspot, error)
	// Enrol lets use link the hotspot with a MAC address, in the transaction that counts the
	// use of an enrolment key. If there is none, use gets one without a Version, and may make
	// a new one of it. Conflict: the address is reserved for others.
	Enrol(ctx context.Context, key beacon.KeyID, mac beacon.MAC, by beacon.Actor, now time.Time,
		use func(beacon.Enrolling, *beacon.Hotspot) error) (beacon.Hotspot, error)
	// Quality returns what the check-ins of some days say of a hotspot.
	Quality(ctx context.Context, hotspot beacon.HotspotID, first, last beacon.Day) (beacon.Quality, error)
	// NoteRefusal writes only an audit row.
	NoteRefusal(ctx context.Context, refused beacon.Change) error
}

// Finder is what this package needs of a database to find hotspots by their MAC address, and
// those that were deleted, which can be brought back.
type Finder interface {
	// HotspotWithMAC returns NotFound if no live hotspot has that MAC.
	HotspotWithMAC(ctx context.Context, mac beacon.MAC) (beacon.Hotspot, error)
	// RestoreHotspot is UpdateHotspot for a hotspot that may be deleted. It returns
	// Conflict if its MAC is no longer free.
	RestoreHotspot(ctx context.Context, id beacon.HotspotID, by beacon.Actor,
		edit func(*beacon.Hotspot, beacon.Deletion) (changed bool, err error)) (beacon.Hotspot, error)
	// DeletedOf returns the hotspots that a user deleted since a moment, the latest first.
	DeletedOf(ctx context.Context, user beacon.UserID, since time.Time, limit int) ([]beacon.HotspotName, error)
}

// People knows who may be behind a request.
type People interface {
	Behind(ctx context.Context, user beacon.UserID, person beacon.PersonID, key beacon.KeyID) (beacon.Behind, error)
}

// Registry implements the verbs.
type Registry struct {
	store  Store
	finder Finder
	offers Offers
	people People
	fleet  *fleet.Fleet
	now    func() time.Time
}

// New returns a registry.
func New(store Store, finder Finder, offers Offers, people People, fleet *fleet.Fleet, now func() time.Time) *Registry {
	return &Registry{store: store, finder: finder, offers: offers, people: people, fleet: fleet, now: now}
}

// moment returns the time of a change, as precise as the API shows it, so that a
// later read returns what the client has seen.
func (r *Registry) moment() time.Time { return r.now().UTC().Truncate(time.Millisecond) }

// newID makes a hotspot's id from the full precision of the clock, not from moment:
// lists are ordered by id, and so by registration.
func (r *Registry) newID() beacon.HotspotID {
	return beacon.HotspotID(id.New(beacon.HotspotPrefix, r.now()))
}

// validID reports whether a text is a valid hotspot id. Others need no lookup in the
// database.
func validID(text beacon.HotspotID) bool { return id.Valid(beacon.HotspotPrefix, string(text)) }

// find returns a hotspot from the database, or NotFound if there is no live one.
func (r *Registry) find(ctx context.Context, hotspot beacon.HotspotID) (beacon.Hotspot, error) {
	if !validID(hotspot) {
		return beacon.Hotspot{}, errNoHotspot
	}
	h, err := r.store.Hotspot(ctx, hotspot)
	return h, worded(err)
}

var errNoHotspot = beacon.NoSuch("hotspot")

// worded adds the message to an error of the store about a hotspot.
func worded(err error) error {
	return beacon.WordExhausted(beacon.WordNoSuch(beacon.Word(err, beacon.Conflict, macTaken), "hotspot"))
}

// Get returns what the principal may see of one hotspot.
func (r *Registry) Get(ctx context.Context, p beacon.Principal, hotspot beacon.HotspotID) (View, error) {
	h, err := r.find(ctx, hotspot)
	if err != nil {
		return View{}, err
	}
	v, p := r.view(h), p.At(hotspot)
	last, blur := beacon.DayOf(r.now()), r.fleet.Blur()
	hidden := blur.Hides(h.Type) && !p.SeesOfHome(beacon.HotspotPlace, h.Operator)
	if hidden {
		last-- // today's would tell when someone is there (decision D209)
	}
	if v.Quality, err = r.store.Quality(ctx, hotspot, last-beacon.QualityDays+1, last); err != nil {
		return View{}, err
	}
	v.HideFrom(p)
	if !p.Sees(beacon.ProvenUntil, h.Operator) {
		v.ProvenUntil = time.Time{}
	}
	if !p.Sees(beacon.LastUncounted, h.Operator) {
		v.Metrics.Uncounted, v.Metrics.UncountedAt = beacon.Counted, time.Time{}
	}
	if !p.Sees(beacon.CountersFellAt, h.Operator) {
		v.Metrics.FellAt = time.Time{}
	}
	if hidden {
		v.hide(blur)
	}
	return v, nil
}

// hide turns the view of a home into what strangers see.
func (v *View) hide(blur *beacon.Blur) {
	v.Hotspot = blur.Public(v.Hotspot)
	v.Approximate = true
	m := &v.Metrics
	m.Clients, m.Connections24h, m.Bytes24h, m.Seen = 0, 0, 0, time.Time{}
}

// View is a hotspot with the state that its heartbeats give it now.
type View struct {
	beacon.Hotspot
	Status  beacon.Status
	Metrics beacon.Metrics
	Quality beacon.Quality // read by Get only

	Approximate bool // it is a home as strangers see it

	ProvenUntil time.Time // when the proof of its place ends; zero if there is none

	Open      bool      // by its operating hours
	OpenUntil time.Time // when that changes; zero if nothing changes within a year
}

// view adds to a hotspot from the database what only memory knows. A hotspot that is
// not in the fleet yet is shown as one without heartbeats.
func (r *Registry) view(h beacon.Hotspot) View { return r.viewWith(h, r.metrics(h.ID)) }

func (r *Registry) metrics(id beacon.HotspotID) beacon.Metrics {
	metrics, _ := r.fleet.Metrics(id, r.now())
	return metrics
}

func (r *Registry) viewWith(h beacon.Hotspot, metrics beacon.Metrics) View {
	now := r.now()
	v := View{Hotspot: h, Status: h.StatusAt(metrics.Seen, now), Metrics: metrics, ProvenUntil: h.ProvenUntil(now)}
	v.Open, v.OpenUntil = r.fleet.OpenAt(h.Settings.OperatingHours, now)
	return v
}
