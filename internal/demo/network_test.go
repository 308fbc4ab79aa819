package demo_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/demo"
)

var now = time.Date(2026, 11, 15, 13, 17, 25, 0, time.UTC)

func newNetwork(t *testing.T, cfg demo.Config) *demo.Network {
	t.Helper()
	if cfg.Now.IsZero() {
		cfg.Now = now
	}
	n, err := demo.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// digest sums up a network and its history.
func digest(t *testing.T, cfg demo.Config) string {
	t.Helper()
	n := newNetwork(t, cfg)
	sum, records := sha256.New(), 0
	err := n.Live(func(day beacon.Day, rows []beacon.RecordRow, _ []beacon.Did) error {
		for _, r := range rows {
			fmt.Fprintf(sum, "%d %s %x\n", r.Day, r.Hotspot, r.Data)
			records++
		}
		return nil
	})
	for _, s := range n.Hotspots {
		hours := s.Settings.OperatingHours
		s.Settings.OperatingHours = nil // an address would be printed
		fmt.Fprintf(sum, "%+v %+v\n", s.Hotspot, hours)
	}
	fmt.Fprintln(sum, n.Blur())
	if err != nil || records == 0 {
		t.Fatalf("%d records, %v", records, err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func TestNetwork_SameSeed(t *testing.T) {
	cfg := demo.Config{Seed: 4, Hotspots: 60, Days: 12}
	first := digest(t, cfg)
	if again := digest(t, cfg); again != first {
		t.Error("one seed leads to two networks")
	}
	before := newNetwork(t, cfg).Operator
	cfg.Seed = 5
	if newNetwork(t, cfg).Operator == before {
		t.Error("two seeds have the same operators")
	}
	if digest(t, cfg) == first {
		t.Error("two seeds lead to one network")
	}
}

func TestNew_All(t *testing.T) {
	n := newNetwork(t, demo.Config{Seed: 1, Hotspots: demo.Hotspots, Days: 90})
	names, macs, sizes, types := map[string]bool{}, map[string]bool{}, map[beacon.UserID]int{}, map[beacon.Type]int{}
	homes := map[beacon.UserID]int{}
	pending, deleted, hours, late := 0, 0, 0, 0
	for i, s := range n.Hotspots {
		if i > 0 && s.ID <= n.Hotspots[i-1].ID {
			t.Fatalf("%s comes after %s", s.ID, n.Hotspots[i-1].ID)
		}
		if p := s.Location.Point; p.Lat < 40.49 || p.Lat > 40.92 || p.Lng < -74.26 || p.Lng > -73.69 {
			t.Errorf("%s is not in New York: %v", s.Name, p)
		}
		if strings.ContainsAny(s.Name, "_") || strings.ToUpper(s.Name) == s.Name && strings.ContainsAny(s.Name, "ABCDE") && len(s.Name) > 8 {
			t.Errorf("nobody writes a name like %q", s.Name)
		}
		verified, linked := s.Location.VerifiedAt, s.Hotspot.Device.LinkedAt
		for _, at := range []time.Time{verified, linked, s.DeletedAt, s.UpdatedAt} {
			if at.After(now) || !at.IsZero() && at.Before(s.CreatedAt) {
				t.Errorf("%s: registered %s, and then %s", s.Name, s.CreatedAt, at)
			}
		}
		if (s.Device == nil) != linked.IsZero() {
			t.Errorf("%s has a device that is not linked, or none that is", s.Name)
		}
		if s.Deleted() {
			deleted++
			continue
		}
		if names[s.Name] || macs[s.Hotspot.Device.MAC.Canonical()] {
			t.Errorf("%s, %s comes twice", s.Name, s.Hotspot.Device.MAC)
		}
		names[s.Name], macs[s.Hotspot.Device.MAC.Canonical()] = true, true
		sizes[s.Operator]++
		types[s.Type]++
		if s.Type == beacon.Home {
			homes[s.Operator]++
			if street, _, _ := strings.Cut(s.Location.Address, ","); strings.Contains(s.Name, street) {
				t.Errorf("the name of a home tells its street: %s", s.Name)
			}
		}
		if s.ActiveSince().IsZero() {
			pending++
		} else if s.CreatedAt.After(n.Began()) {
			late++
		}
		if s.Settings.OperatingHours != nil {
			hours++
		}
	}
	const operators = 139 // in the data: no two have one id
	if len(names) != demo.Hotspots || len(sizes) != operators || sizes[n.Operator] != 30 {
		t.Errorf("%d hotspots of %d operators, %d of the featured one", len(names), len(sizes), sizes[n.Operator])
	}
	if pending < 20 || pending > 120 || deleted < 5 || deleted > 40 || hours < 300 || late < 700 {
		t.Errorf("%d pending, %d deleted, %d with hours, %d that joined later", pending, deleted, hours, late)
	}
	if share := float64(types[beacon.Home]) / demo.Hotspots; share < 0.02 || share > 0.05 || homes[n.Operator] < 2 || len(homes) < 50 {
		t.Errorf("%d homes of %d operators, %d of the featured one", types[beacon.Home], len(homes), homes[n.Operator])
	}
	if types[beacon.Business] < 50 || types[beacon.Public] < 2500 {
		t.Errorf("types %v", types)
	}
	if online := float64(len(n.Beating())) / demo.Hotspots; online < 0.95 || online > 0.985 {
		t.Errorf("%.3f of the devices beat", online)
	}
}

// A small network has the featured operator's hotspots too.
func TestNew_Small(t *testing.T) {
	n := newNetwork(t, demo.Config{Seed: 1, Hotspots: 40, Days: 90})
	own := 0
	for _, s := range n.Hotspots {
		if s.Operator == n.Operator {
			own++
		}
	}
	if own < 30 || len(n.Hotspots) < 40 {
		t.Errorf("%d of %d hotspots are the featured operator's", own, len(n.Hotspots))
	}
}

// Who goes on with a network finds its devices again, and no others.
func TestKnown(t *testing.T) {
	n := newNetwork(t, demo.Config{Seed: 9, Hotspots: 500, Days: 30})
	var rows []beacon.Hotspot
	for _, s := range n.Hotspots {
		if !s.Deleted() {
			rows = append(rows, s.Hotspot)
		}
	}
	strange := rows[0]
	strange.Device.MAC = "02:00:5e:10:00:01"
	moved := rows[1]
	moved.Device.SSID = "someone else's"
	known, err := demo.Known(append(rows, strange, moved))
	if err != nil || len(known) != len(n.Beating()) || len(known) < 450 {
		t.Fatalf("%d are known, %v; want %d", len(known), err, len(n.Beating()))
	}
	for i, s := range n.Beating() {
		if known[i].ID != s.ID || known[i].Device == nil {
			t.Fatalf("%s is known as %s", s.ID, known[i].ID)
		}
	}
}
