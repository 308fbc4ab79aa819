package fleet_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// A hotspot is found around where it is paid for, also after it was moved or deleted.
func TestAround(t *testing.T) {
	here, there := geo.Point{Lat: 1, Lng: 1}, geo.Point{Lat: 1, Lng: 1.1}
	stays, moves, leaves := serving(), serving(), serving()
	moves.Visits = []beacon.Visit{{At: noon, Point: here, Proves: true}}
	is := func(f *fleet.Fleet, p geo.Point, want ...beacon.Hotspot) {
		t.Helper()
		found := map[beacon.HotspotID]bool{}
		f.Around(p, 100, func(id beacon.HotspotID) { found[id] = true })
		for _, h := range want {
			if !found[h.ID] {
				t.Errorf("%s is not found", h.ID)
			}
		}
		if len(found) != len(want) {
			t.Errorf("found %v; want %d", found, len(want))
		}
	}
	f := newFleet()
	mustApply(t, f, stays, moves, leaves)
	is(f, here, stays, moves, leaves)
	is(f, there)
	moved, gone := moves, leaves
	moved.Version, moved.Location.Point = 2, there
	gone.Version, gone.DeletedAt = 2, noon
	mustApply(t, f, moved, gone)
	loaded := newFleet()
	err := loaded.Load(func(add func(beacon.Hotspot) error) error {
		for _, h := range []beacon.Hotspot{stays, moved, gone} {
			if err := add(h); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*fleet.Fleet{f, loaded} {
		is(f, here, stays, moved, gone)
		is(f, there, moved)
		f.Purge(noon.Add(time.Hour), noon)
		is(f, here, stays, moved, gone)
		f.Purge(noon.Add(time.Hour), noon.Add(1))
		is(f, here, stays, moved)
		back := moves
		back.Version = 3
		mustApply(t, f, back)
		is(f, here, stays, moved)
		is(f, there)
	}
}

// A hotspot that never had a device earned nothing anywhere. Once it is deleted, nothing
// is kept of where visits found it.
func TestAround_NeverServed(t *testing.T) {
	here, there := geo.Point{Lat: 1, Lng: 1}, geo.Point{Lat: 1, Lng: 1.1}
	h := serving()
	h.Device.LinkedAt = time.Time{}
	h.Visits = []beacon.Visit{{At: noon, Point: there, Proves: true}}
	f := newFleet()
	mustApply(t, f, h)
	found := func() (n int) {
		for _, p := range []geo.Point{here, there} {
			f.Around(p, 100, func(beacon.HotspotID) { n++ })
		}
		return n
	}
	if n := found(); n != 2 {
		t.Errorf("found %d times; want once at each place", n)
	}
	h.Version, h.DeletedAt = 2, noon
	mustApply(t, f, h)
	f.Purge(noon.Add(time.Hour), noon.Add(time.Hour))
	if n := found(); n != 0 {
		t.Errorf("found %d times after it was deleted and purged", n)
	}
}
