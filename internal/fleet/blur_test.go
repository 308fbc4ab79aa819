package fleet_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/id"
)

var blurred = beacon.Blur{Homes: beacon.HomesBlurred, Secret: [32]byte{9}}

func homes(n int) []beacon.Hotspot {
	random := rand.New(rand.NewPCG(21, 3))
	all := make([]beacon.Hotspot, n)
	for i := range all {
		all[i] = at(fmt.Sprint("home-", i), 2)
		all[i].Type = beacon.Home
		all[i].Location.Point = geo.Point{Lat: 40.7 + random.Float64()/50, Lng: -74 + random.Float64()/50}
	}
	return all
}

// Searches and maps have homes at their public place alone, whether they were loaded,
// applied or shown again.
func TestFleet_Blur(t *testing.T) {
	all := homes(300)
	loaded, applied, reshown := newFleet(), newFleet(), newFleet()
	for _, f := range []*fleet.Fleet{loaded, applied} {
		f.SetBlur(blurred)
	}
	err := loaded.Load(func(add func(beacon.Hotspot) error) error {
		for _, h := range all {
			_ = add(h)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	mustApply(t, applied, all...)
	mustApply(t, reshown, all...)
	for _, f := range []*fleet.Fleet{loaded, applied, reshown} {
		if err := f.BuildMap(noon); err != nil {
			t.Fatal(err)
		}
	}
	reshown.SetBlur(blurred)
	if err := reshown.Reshow(all...); err != nil {
		t.Fatal(err)
	}
	world := geo.Box{North: 90, South: -90, East: 180, West: -180}
	for name, f := range map[string]*fleet.Fleet{"loaded": loaded, "applied": applied, "reshown": reshown} {
		for i := range all {
			public := blurred.Public(all[i]).Location.Point
			h, ok := f.Find(all[i].ID)
			if !ok || !h.Hidden() || h.Place() != public {
				t.Fatalf("%s: %s is at %v; want %v", name, all[i].ID, h.Place(), public)
			}
			hits := f.Nearby(fleet.NearbyQuery{Center: public, RadiusM: 0.01, Limit: 10, Now: noon}, nil)
			if len(hits) == 0 || hits[0].Item != h {
				t.Errorf("%s: %s is not found at its public place", name, all[i].ID)
			}
			here := geo.Box{North: public.Lat + 1e-9, South: public.Lat - 1e-9, East: public.Lng + 1e-9, West: public.Lng - 1e-9}
			if n := f.Survey(here, fleet.AnyZoom, noon).Count; n == 0 {
				t.Errorf("%s: %s is not on the map at its public place", name, all[i].ID)
			}
		}
		if n := f.Survey(world, fleet.AnyZoom, noon).Count; n != len(all) {
			t.Errorf("%s: the map has %d hotspots; want %d", name, n, len(all))
		}
		if err := f.Reshow(at(string(all[0].ID), 1)); err != nil || versions(f)[string(all[0].ID)] != 2 {
			t.Errorf("%s: an old version is shown again: %v", name, err)
		}
	}
}

// Rewards find all homes around their true places, also while the setting changes.
func TestFleet_Blur_Around(t *testing.T) {
	all := homes(300)
	f := newFleet()
	mustApply(t, f, all...)
	check := func(when string) {
		t.Helper()
		for i := range all {
			found := false
			f.Around(all[i].Location.Point, 1, func(id beacon.HotspotID) { found = found || id == all[i].ID })
			if !found {
				t.Fatalf("%s, %s is not found at its place", when, all[i].ID)
			}
		}
	}
	for _, b := range []beacon.Blur{blurred, {Homes: beacon.HomesOpen}} {
		f.SetBlur(b)
		if err := f.Reshow(all[:150]...); err != nil {
			t.Fatal(err)
		}
		check("half way to " + string(b.Homes))
		if err := f.Reshow(all[150:]...); err != nil {
			t.Fatal(err)
		}
		check(string(b.Homes))
	}
}

// Totals differ from the truth by no more than is stated: in a box that has all hotspots
// their number is exact, and the area is off by the discs of homes at the most.
func TestFleet_Blur_Totals(t *testing.T) {
	f := mapped(t)
	box := geo.Box{North: 41, South: 40, East: -73, West: -75}
	all := homes(300)
	var beats []heartbeat.Beat
	bound := 0.0
	for i := range all {
		h := serving()
		h.Location.Point, h.Type = all[i].Location.Point, all[i].Type
		h.ID = beacon.HotspotID(id.Format(beacon.HotspotPrefix, noon, uint64(i), uint64(i)))
		if i%3 == 0 {
			h.Type = beacon.Public
		} else {
			bound += math.Pi * 0.05 * 0.05
		}
		all[i] = h
		beats = append(beats, beatOf(h, noon, 1))
	}
	mustApply(t, f, all...)
	f.Replay(beats)
	if err := f.Redraw(noon); err != nil {
		t.Fatal(err)
	}
	truth := f.Survey(box, fleet.AnyZoom, noon)
	f.SetBlur(blurred)
	if err := f.Reshow(all...); err != nil {
		t.Fatal(err)
	}
	shown := f.Survey(box, fleet.AnyZoom, noon)
	if shown.Count != truth.Count || shown.Online != truth.Online || truth.Online != len(all) {
		t.Errorf("%d of %d are online; in truth %d of %d", shown.Online, shown.Count, truth.Online, truth.Count)
	}
	if off := math.Abs(shown.AreaKm2 - truth.AreaKm2); off > bound || off == 0 {
		t.Errorf("%v km² are shown as covered; in truth it is %v, and %v is the most that it may be off", shown.AreaKm2, truth.AreaKm2, bound)
	}
}

// Nobody is shown how many clients a home has, hidden or not.
func TestFleet_PublicClients(t *testing.T) {
	for _, kind := range beacon.Types() {
		h := serving()
		h.Type = kind
		f := newFleet()
		mustApply(t, f, h)
		want := 7
		if kind == beacon.Home {
			want = 0
		}
		beat := beatOf(h, noon, 1)
		beat.Clients = 7
		f.Replay([]heartbeat.Beat{beat})
		shown, ok := f.Find(h.ID)
		if !ok || shown.PublicClients(noon) != want || shown.PublicClients(noon.Add(time.Hour)) != 0 {
			t.Errorf("%s: %d, later %d; want %d and none", kind, shown.PublicClients(noon), shown.PublicClients(noon.Add(time.Hour)), want)
		}
	}
}
