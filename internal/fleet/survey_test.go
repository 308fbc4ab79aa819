package fleet_test

import (
	"math"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// town puts hotspots side by side, far enough apart that none covers what another
// does, and every other one is online.
func town(t testing.TB, n int) (f *fleet.Fleet, online int) {
	t.Helper()
	f = mapped(t)
	var all []beacon.Hotspot
	var beats []heartbeat.Beat
	for i := range n {
		h := serving()
		h.Location.Point = geo.Point{Lat: 0.5 + float64(i/40)*0.01, Lng: 0.5 + float64(i%40)*0.01}
		all = append(all, h)
		if i%2 == 0 {
			beats = append(beats, beatOf(h, noon, 1))
		}
	}
	mustApply(t, f, all...)
	f.Replay(beats)
	if err := f.Redraw(noon); err != nil {
		t.Fatal(err)
	}
	return f, len(beats)
}

// Decision N20: which zoom shows what, and that nothing else depends on it.
func TestSurvey_Zoom(t *testing.T) {
	box := geo.Box{North: 2, South: 0, East: 2, West: 0}
	for _, tc := range []struct {
		hotspots, zoom int
		aggregated     bool
	}{
		{1000, fleet.AnyZoom, false},
		{1001, fleet.AnyZoom, true},
		{1000, 14, false},
		{1001, 14, true},
		{1001, fleet.MaxZoom, true},
		{10, 13, true},
		{10, 0, true},
		{10, 14, false},
	} {
		f, online := town(t, tc.hotspots)
		s := f.Survey(box, tc.zoom, noon)
		if s.Aggregated != tc.aggregated || (len(s.Marks) > 0) == tc.aggregated || (len(s.Clusters) > 0) != tc.aggregated {
			t.Errorf("%d at zoom %d: %d marks, %d clusters, aggregated %v", tc.hotspots, tc.zoom, len(s.Marks), len(s.Clusters), s.Aggregated)
		}
		count, lit := len(s.Marks), 0
		for _, m := range s.Marks {
			if m.Status == beacon.Online {
				lit++
			}
		}
		for _, c := range s.Clusters {
			count, lit = count+c.Count, lit+c.Online
		}
		if s.Count != tc.hotspots || count != tc.hotspots || lit != online || len(s.Marks)+len(s.Clusters) > fleet.MaxItems {
			t.Errorf("%d at zoom %d: %d counted, %d shown, %d of them online; want %d", tc.hotspots, tc.zoom, s.Count, count, lit, online)
		}
		const radiusKm = 0.05
		if want := float64(online) * math.Pi * radiusKm * radiusKm; math.Abs(s.AreaKm2/want-1) > 1e-6 {
			t.Errorf("%d at zoom %d: %v km²; want %v", tc.hotspots, tc.zoom, s.AreaKm2, want)
		}
		if want := s.AreaKm2 * 1e6 / box.Area(); s.Share != want {
			t.Errorf("%v of the box; want %v", s.Share, want)
		}
	}
}

// A box that is covered whole, and one inside a single disc: never more than all.
func TestSurvey_WholeBox(t *testing.T) {
	f, _ := town(t, 1)
	const step = 1e-4
	s := f.Survey(geo.Box{North: 0.5 + step, South: 0.5 - step, East: 0.5 + step, West: 0.5 - step}, fleet.AnyZoom, noon)
	if s.Share != 1 {
		t.Errorf("%v of a box in the middle of a disc is covered", s.Share)
	}
	const least = 5e-324 // whose area is none
	if s := f.Survey(geo.Box{North: least, South: 0, East: least, West: 0}, fleet.AnyZoom, noon); s.Share != 0 || s.AreaKm2 != 0 {
		t.Errorf("of next to nothing: %+v", s)
	}
}

func TestWhatIf(t *testing.T) {
	f, online := town(t, 10)
	box := geo.Box{North: 2, South: 0, East: 2, West: 0}
	const disc = math.Pi * 0.05 * 0.05
	for _, tc := range []struct {
		name string
		add  []fleet.Addition
		gain float64 // discs
	}{
		{"nothing", nil, 0},
		{"where one is online", []fleet.Addition{{geo.Point{Lat: 0.5, Lng: 0.5}, 50}}, 0},
		{"where one is offline", []fleet.Addition{{geo.Point{Lat: 0.5, Lng: 0.51}, 50}}, 1},
		{"twice at one place", []fleet.Addition{{geo.Point{Lat: 1, Lng: 1}, 50}, {geo.Point{Lat: 1, Lng: 1}, 50}}, 1},
		{"a large one, then a small one", []fleet.Addition{{geo.Point{Lat: 1, Lng: 1}, 100}, {geo.Point{Lat: 1, Lng: 1}, 50}}, 4},
		{"a small one, then a large one", []fleet.Addition{{geo.Point{Lat: 1, Lng: 1}, 50}, {geo.Point{Lat: 1, Lng: 1}, 100}}, 4},
		{"on the border", []fleet.Addition{{geo.Point{Lat: 1, Lng: 0}, 50}}, 0.5},
		{"elsewhere", []fleet.Addition{{geo.Point{Lat: 5, Lng: 5}, 50}}, 0},
	} {
		before, after, err := f.WhatIf(box, tc.add, noon)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(before/disc-float64(online)) > 1e-5 || math.Abs((after-before)/disc-tc.gain) > 1e-5 {
			t.Errorf("%s: %v discs before, %v more after; want %d and %v", tc.name, before/disc, (after-before)/disc, online, tc.gain)
		}
	}
	if _, _, err := f.WhatIf(box, []fleet.Addition{{geo.Point{Lat: 91}, 50}}, noon); err == nil {
		t.Error("nothing is wrong with a place beyond the pole")
	}
	checkSurvey(t, f, box, noon) // thinking changes nothing
}

func TestTile(t *testing.T) {
	f, online := town(t, 1200)
	world := f.Tile(fleet.Tile{}, noon)
	if len(world.Marks) > 0 || len(world.Clusters) != 1 || world.Clusters[0].Count != 1200 || world.Clusters[0].Online != online {
		t.Errorf("the world's tile: %+v", world)
	}
	crowded := mapped(t)
	var many []beacon.Hotspot
	for range fleet.MaxItems + 1 {
		many = append(many, serving())
	}
	mustApply(t, crowded, many[1:]...)
	near := fleet.Tile{Z: 14, X: 1<<13 + 45, Y: 1<<13 - 46} // 1° N, 1° E
	if got := crowded.Tile(near, noon); len(got.Marks) != fleet.MaxItems || len(got.Clusters) > 0 || got.Marks[0].Status != beacon.Offline {
		t.Errorf("%d marks, %d clusters of %d hotspots", len(got.Marks), len(got.Clusters), fleet.MaxItems)
	}
	mustApply(t, crowded, many[0])
	if got := crowded.Tile(near, noon); !got.Aggregated || len(got.Marks) > 0 || len(got.Clusters) != 1 {
		t.Errorf("%d marks, %d clusters of one hotspot more", len(got.Marks), len(got.Clusters))
	}
	empty := crowded.Tile(fleet.Tile{Z: 14}, noon)
	if len(empty.Marks)+len(empty.Clusters) > 0 {
		t.Errorf("an empty tile: %+v", empty)
	}
}
