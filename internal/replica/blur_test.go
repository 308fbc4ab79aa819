package replica_test

import (
	"fmt"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// homeAt is like at, for a home.
func homeAt(id string, version int64) beacon.Hotspot {
	h := at(id, version)
	h.Type = beacon.Home
	return h
}

// Every server shows homes as staff have set it: those that it loads, those that it has,
// and those that come later. A step that fails is done again.
func TestFollower_Blur(t *testing.T) {
	s := newSource()
	for i := range 1200 {
		s.write("n", homeAt(fmt.Sprint("home-", i), 1))
	}
	s.write("n", at("shop", 1))
	f, fo := follow(t, s, noKeys)
	wantHidden(t, f, 0)
	blur := beacon.Blur{Homes: beacon.HomesBlurred, Secret: [32]byte{7}}
	s.privacy("m", blur)
	s.fail("EachHotspot", errAway)
	if err := fo.Step(t.Context()); err == nil {
		t.Fatal("a step that could not read the homes went well")
	}
	s.fail("EachHotspot", nil)
	s.write("n", homeAt("home-7", 2))
	mustStep(t, fo)
	wantHidden(t, f, 1200)
	places := map[string]any{}
	f.All(func(h *fleet.Hotspot) bool { places[h.ID()] = h.Place(); return true })
	if homes := s.calls["EachHotspot"]; homes != 3 {
		t.Errorf("all hotspots were read %d times; want 3", homes)
	}
	mustStep(t, fo)
	if homes := s.calls["EachHotspot"]; homes != 3 {
		t.Error("all hotspots were read again although nothing has changed")
	}
	s.write("n", homeAt("late", 1))
	mustStep(t, fo)
	wantHidden(t, f, 1201)
	started, _ := follow(t, s, noKeys)
	wantHidden(t, started, 1201)
	started.All(func(h *fleet.Hotspot) bool {
		if places[h.ID()] != any(h.Place()) && h.ID() != "late" {
			t.Errorf("%s is shown at %v by one server and at %v by another", h.ID(), places[h.ID()], h.Place())
		}
		return true
	})
	s.privacy("n", beacon.Blur{Homes: beacon.HomesOpen, Secret: blur.Secret})
	mustStep(t, fo)
	wantHidden(t, f, 0)
}

func wantHidden(t *testing.T, f *fleet.Fleet, want int) {
	t.Helper()
	hidden, displaced := 0, 0
	f.All(func(h *fleet.Hotspot) bool {
		if h.Hidden() {
			hidden++
		}
		if h.Place() != (geo.Point{Lat: float64(h.Version()) / 1000}) {
			displaced++
		}
		return true
	})
	if hidden != want || displaced != want {
		t.Errorf("%d hotspots are hidden and %d displaced; want %d", hidden, displaced, want)
	}
}
