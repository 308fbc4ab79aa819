package demo_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/beacon-wifi/beacon/agent"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/demo"
)

// A network that people look at has what staff and its operator are to see, and any other
// one has nothing of it.
func TestNew_Lively(t *testing.T) {
	for _, lively := range []bool{false, true} {
		n := newNetwork(t, demo.Config{Seed: 1, Hotspots: 60, Days: 50, Lively: lively})
		var far, brief, moved, waiting, silent, old int
		beating := map[beacon.HotspotID]bool{}
		for _, s := range n.Beating() {
			beating[s.ID] = true
		}
		for _, s := range n.Hotspots {
			if s.Settings.CoverageRadiusM > 2*(beacon.Settings{}).CoverageRadius(s.Type) {
				far++
			}
			if h := s.Settings.OperatingHours; h != nil && len(h.Weekly) == 1 && h.Weekly[0].Close-h.Weekly[0].Open < 60 {
				brief++
			}
			if s.Operator != n.Operator || s.Deleted() {
				continue
			}
			if s.Moved() && !s.Location.VerifiedAt.IsZero() {
				t.Errorf("somebody has been where %s was moved to", s.Name)
			}
			switch version := s.Hotspot.Device.Agent.Version; {
			case s.Moved():
				moved++
			case s.Device == nil:
				waiting++
			case !beating[s.ID]:
				silent++
			case version != "" && version != agent.Version():
				old++
			}
		}
		got, want := []int{far, brief, moved, waiting, silent}, 0
		if lively {
			want = 1
		}
		for i, n := range got {
			if n != want {
				t.Errorf("lively: %v: of kind %d there are %d; want %d", lively, i, n, want)
			}
		}
		if lively && old < 2 {
			t.Errorf("%d of the featured operator's devices have an old agent", old)
		}
	}
}

// The agent is reported when a device is linked, and most devices have the one of this tree.
func TestNew_Agents(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "agent", "beacon-agent"))
	if err != nil {
		t.Fatal(err)
	}
	current := string(regexp.MustCompile(`(?m)^VERSION=(.+)$`).FindSubmatch(text)[1])
	n := newNetwork(t, demo.Config{Seed: 1, Hotspots: demo.Hotspots, Days: 90})
	versions, models, linked := map[string]int{}, map[string]int{}, 0
	for _, s := range n.Hotspots {
		a, at := s.Hotspot.Device.Agent, s.Hotspot.Device.LinkedAt
		if at.IsZero() {
			if a != (beacon.Agent{}) {
				t.Errorf("%s has an agent and no device", s.Name)
			}
			continue
		}
		linked++
		versions[a.Version]++
		models[a.Model]++
		if before := s.At(at); before.Device.Agent != (beacon.Agent{}) {
			t.Errorf("%s has reported %+v before it was linked", s.Name, before.Device.Agent)
		}
	}
	if len(versions) != 4 || len(models) < 6 || versions[current] < linked/2 || versions[""] > linked/8 || versions[""] == 0 {
		t.Errorf("of %d devices the agents are %v, the models %v; the current agent is %s", linked, versions, models, current)
	}
}

// Who goes on with a lively network leaves the silent device silent.
func TestKnown_Lively(t *testing.T) {
	n := newNetwork(t, demo.Config{Seed: 9, Hotspots: 300, Days: 30, Lively: true})
	var rows []beacon.Hotspot
	for _, s := range n.Hotspots {
		if !s.Deleted() {
			rows = append(rows, s.Hotspot)
		}
	}
	known, err := demo.Known(rows)
	if err != nil || len(known) != len(n.Beating()) {
		t.Fatalf("%d are known, %v; want %d", len(known), err, len(n.Beating()))
	}
}
