package registry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// desk is a registry on a real store, with a clock that a test can turn.
type desk struct {
	*registry.Registry
	db    *store.DB
	store registry.Store
	fleet *fleet.Fleet
	clock time.Time
}

type tables struct {
	store.HotspotTable
	store.CheckInTable
	store.ChangeTable
}

var ada = beacon.Principal{Key: "key_ada", User: beacon.UserID(id.Format(beacon.UserPrefix, storetest.Now, 1, 1)), Scopes: []beacon.Scope{beacon.HotspotsWrite}, Request: "req_1"}

func open(t *testing.T) *desk {
	t.Helper()
	db := storetest.Opened(t)(sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "beacon.db"), sqlite.Options{Now: storetest.Now}))
	d := &desk{db: db, store: tables{db.Hotspots, db.CheckIns, db.Changes}, clock: storetest.Now.Truncate(time.Millisecond)}
	d.wire(d.store)
	return d
}

func (d *desk) wire(s registry.Store) {
	d.fleet = fleet.New(func(h beacon.Hotspot, _ *beacon.Hotspot) string { return string(h.ID) + h.Name })
	d.Registry = registry.New(s, nil, d.db.Hotspots, d.db.People, d.fleet, func() time.Time { return d.clock })
}

func form(name, mac string) beacon.Registration {
	return beacon.Registration{
		Name: beacon.Some(name), Type: beacon.Some("home"),
		Location: beacon.Some(beacon.LocationForm{Lat: beacon.Some(40.0), Lng: beacon.Some(-74.0)}),
		Device:   beacon.Some(beacon.DeviceForm{SSID: beacon.Some("net"), MAC: beacon.Some(mac)}),
	}
}

func (d *desk) mustRegister(t *testing.T, in beacon.Registration) beacon.Hotspot {
	t.Helper()
	out, err := d.Register(t.Context(), ada, in)
	if err != nil {
		t.Fatal(err)
	}
	return out.Hotspot
}

func (d *desk) rename(t *testing.T, h beacon.HotspotID, name string) beacon.Hotspot {
	t.Helper()
	out, err := d.Change(t.Context(), ada, registry.Change{Hotspot: h, Patch: beacon.Patch{Name: beacon.Some(name)}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What is registered later is listed later, also within a millisecond.
func TestRegister_OrderWithinAMillisecond(t *testing.T) {
	d := open(t)
	var last beacon.HotspotID
	for n := range 20 {
		d.clock = d.clock.Add(time.Microsecond)
		h := d.mustRegister(t, form("Kiosk", fmt.Sprintf("00:00:5e:00:53:%02x", n)))
		if h.ID <= last {
			t.Errorf("%s was registered after %s", h.ID, last)
		}
		if !h.CreatedAt.Equal(h.CreatedAt.Truncate(time.Millisecond)) {
			t.Errorf("created at %s: more precise than what is shown", h.CreatedAt)
		}
		last = h.ID
	}
}

// Whatever the clock of the machine does, updated_at never moves back, and a
// version is always newer than the one before.
func TestChange_ClockGoesBack(t *testing.T) {
	d := open(t)
	h := d.mustRegister(t, form("First", "02:00:5e:00:00:01"))
	for _, step := range []struct {
		turn time.Duration
		name string
		want time.Duration // after the registration
	}{
		{time.Hour, "Later", time.Hour},
		{-40 * 24 * time.Hour, "Back", time.Hour},
		{40*24*time.Hour - time.Minute, "Almost", time.Hour},
		{time.Hour, "Onwards", 2*time.Hour - time.Minute},
	} {
		d.clock = d.clock.Add(step.turn)
		changed := d.rename(t, h.ID, step.name)
		if got := changed.UpdatedAt.Sub(h.CreatedAt); got != step.want || changed.Version <= h.Version || changed.Name != step.name {
			t.Errorf("%s: updated %v after the registration, version %d; want %v", step.name, got, changed.Version, step.want)
		}
		h.Version = changed.Version
	}
	d.clock = d.clock.Add(-time.Hour * 24 * 365)
	if _, err := d.Delete(t.Context(), ada, registry.Deletion{Hotspot: h.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Get(t.Context(), ada, h.ID); !isKind(err, beacon.NotFound) || d.fleet.Len() != 0 {
		t.Errorf("deleted with a clock that went back: Get = %v, %d in the fleet", err, d.fleet.Len())
	}
}

func isKind(err error, kind beacon.Kind) bool {
	e, ok := errors.AsType[*beacon.Error](err)
	return ok && e.Kind == kind
}

// What a client is told is what a later read gives, to the last digit.
func TestRegister_ReadsBack(t *testing.T) {
	d := open(t)
	d.clock = d.clock.Add(123456 * time.Nanosecond) // more than the interface shows
	told := d.mustRegister(t, form("Café", "02-00-5E-00-00-01"))
	read, err := d.Get(t.Context(), ada, told.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(registry.View{Hotspot: told, Status: beacon.Pending, Open: true}, read); diff != "" {
		t.Errorf("told and read differ (-told +read):\n%s", diff)
	}
}

// No page number overflows on its way to the database.
func TestOwned_FarPages(t *testing.T) {
	d := open(t)
	for i := range 3 {
		d.mustRegister(t, form("Hotspot", "02:00:5e:00:00:0"+string(rune('1'+i))))
	}
	for _, tc := range []struct{ page, perPage, want int }{
		{1, 2, 2},
		{2, 2, 1},
		{3, 2, 0},
		{math.MaxInt32, 100, 0},
		{math.MaxInt/100 + 2, 100, 0}, // its offset would be small and wrong
		{math.MaxInt, 100, 0},
		{math.MaxInt, 1, 0},
	} {
		page, err := d.Owned(t.Context(), ada, registry.Owned{User: beacon.Me, Page: beacon.Page{Number: tc.page, Size: tc.perPage}})
		if err != nil || len(page.Items) != tc.want || page.Total != 3 || page.Page.Number != tc.page {
			t.Errorf("page %d of %d: %d hotspots of %d, %v; want %d of 3", tc.page, tc.perPage, len(page.Items), page.Total, err, tc.want)
		}
	}
}

// failing is a store whose commits have an unknown outcome.
type failing struct{ registry.Store }

var errUnknown = &beacon.Error{Message: "nobody knows"}

func (failing) InsertHotspots(context.Context, []beacon.Hotspot, beacon.Actor, func(int, int, int) error, func([]error) error) error {
	return errUnknown
}

func (failing) LinkDevice(
	context.Context, [32]byte, beacon.Actor, time.Time, func(*beacon.LinkCode, *beacon.Hotspot) error,
) (beacon.Hotspot, error) {
	return beacon.Hotspot{}, errUnknown
}

func (failing) NoteRefusal(context.Context, beacon.Change) error { return errUnknown }

func (failing) UpdateHotspot(
	context.Context, beacon.HotspotID, beacon.Actor, beacon.ChangeKind, func(*beacon.Hotspot) (bool, error),
) (beacon.Hotspot, error) {
	return beacon.Hotspot{}, errUnknown
}

// What may not be durable is not shown.
func TestFleet_OnlyWhatIsDurable(t *testing.T) {
	d := open(t)
	h := storetest.Hotspot(1)
	d.wire(failing{d.store})
	if _, err := d.Register(t.Context(), ada, form("Never", "02:00:5e:00:00:01")); !errors.Is(err, errUnknown) || d.fleet.Len() != 0 {
		t.Errorf("Register = %v; %d hotspots in the fleet", err, d.fleet.Len())
	}
	change := registry.Change{Hotspot: h.ID, Patch: beacon.Patch{Name: beacon.Some("Never")}}
	if _, err := d.Change(t.Context(), ada, change); !errors.Is(err, errUnknown) || d.fleet.Len() != 0 {
		t.Errorf("Change = %v; %d hotspots in the fleet", err, d.fleet.Len())
	}
}
