package demo_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/demo"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

// The hotspots of a made-up network are around the middle of its city, by its clock, and say
// that they are made up.
func TestNew_Cities(t *testing.T) {
	for _, key := range []string{"berlin", "nairobi", "paris", "mexico-city"} {
		c, err := demo.CityOf(key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := time.LoadLocation(c.Zone); err != nil {
			t.Error(err)
		}
		n := newNetwork(t, demo.Config{City: key, Seed: 1, Hotspots: demo.Hotspots, Days: 90, Lively: true})
		names, types, operators, hours := map[string]bool{}, map[beacon.Type]int{}, map[beacon.UserID]int{}, 0
		for _, s := range n.Hotspots {
			if s.Deleted() {
				continue
			}
			if away := geo.Distance(s.Location.Point, c.Middle); away > 10_000 || s.Operator == n.Operator && away > 900 {
				t.Errorf("%s: %s is %.0f m away from its middle", key, s.Name, away)
			}
			if names[s.Name] || !strings.HasPrefix(s.Location.Address, "Made-up place ") || !strings.HasSuffix(s.Location.Address, ", "+c.Name) {
				t.Errorf("%s: %s has the address %s", key, s.Name, s.Location.Address)
			}
			names[s.Name] = true
			types[s.Type]++
			operators[s.Operator]++
			if h := s.Settings.OperatingHours; h != nil {
				hours++
				if h.Timezone != c.Zone {
					t.Errorf("%s: %s opens by the clock of %s", key, s.Name, h.Timezone)
				}
			}
		}
		if len(names) != demo.Hotspots || operators[n.Operator] != 30 || len(operators) < 90 || hours < 200 || len(types) != 3 {
			t.Errorf("%s has %d hotspots of %d operators, %d of the featured one, %d with hours, and the types %v", key, len(names), len(operators), operators[n.Operator], hours, types)
		}
	}
	if _, err := demo.CityOf("atlantis"); err == nil {
		t.Error("there is an Atlantis")
	}
}

// A network knows which city it is in.
func TestContinue_City(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "demo.db")
	first := create(t, file, demo.Config{City: "nairobi", Seed: 1, Hotspots: 40, Days: 3, Now: now, Lively: true})
	if err := first.WriteHistory(t.Context(), func() {}, nothing); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), file, sqlite.Options{Node: store.SharedNode, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	who, err := db.Settings.Identity(t.Context())
	if err := errors.Join(err, db.Close()); err != nil || who.Name != "Free Wi-Fi Nairobi" || !strings.Contains(who.Description, "made up") || who.Color == "" {
		t.Errorf("it presents itself as %+v, %v", who, err)
	}
	again, err := demo.Continue(t.Context(), file, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if again.City != first.City || again.City.Key != "nairobi" || len(again.Devices) < len(first.Devices) {
		t.Errorf("it goes on in %s with %d devices; there were %d in %s", again.City.Name, len(again.Devices), len(first.Devices), first.City.Name)
	}
}

// By the clock of its city, nights are quiet.
func TestLive_CityClock(t *testing.T) {
	for key, evening := range map[string]int{"new-york": 22, "nairobi": 14} { // 17 h there, in UTC
		n := newNetwork(t, demo.Config{City: key, Seed: 1, Hotspots: 60, Days: 3})
		var most, quiet uint64
		for _, s := range n.Beating() {
			day := beacon.DayOf(now).Time().Add(24 * time.Hour)
			for hour := range 24 {
				at := day.Add(time.Duration(hour) * time.Hour)
				b, _ := s.Device.Beat(at)
				switch (hour - evening + 24) % 24 {
				case 0:
					most += uint64(b.Clients)
				case 10: // 3 h in the morning
					quiet += uint64(b.Clients)
				}
			}
		}
		if most < 4*quiet || most == 0 {
			t.Errorf("%s has %d clients in the evening and %d at night", key, most, quiet)
		}
	}
}
