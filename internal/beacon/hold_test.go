package beacon_test

import (
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// A hotspot, and an operator as such, has one active hold at a time, whatever other holds
// were placed after it. A second one needs a second person.
func TestHold_Place(t *testing.T) {
	now := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	hold := func(hotspot beacon.HotspotID, by beacon.UserID) beacon.Hold {
		return beacon.Hold{ID: "hld_" + beacon.HoldID(by), Hotspot: hotspot, Placed: beacon.HoldAct{By: by, At: now}, Until: now.Add(time.Hour), State: beacon.HoldIsActive}
	}
	over := hold("a", "anna")
	over.State = beacon.HoldIsReleased
	for name, c := range map[string]struct {
		earlier []beacon.Hold
		placed  beacon.Hold
		refusal string // "": none
	}{
		"first":                     {nil, hold("a", "anna"), ""},
		"same hotspot":              {[]beacon.Hold{hold("a", "anna")}, hold("a", "ben"), "hld_anna is active"},
		"another hotspot":           {[]beacon.Hold{hold("a", "anna")}, hold("b", "anna"), ""},
		"again":                     {[]beacon.Hold{over}, hold("a", "anna"), "a second person"},
		"again, by another":         {[]beacon.Hold{over}, hold("a", "ben"), ""},
		"all of them":               {[]beacon.Hold{hold("a", "anna")}, hold("", "ben"), ""},
		"all of them, by the same":  {[]beacon.Hold{hold("a", "anna")}, hold("", "anna"), "a second person"},
		"hotspot, operator, again":  {[]beacon.Hold{hold("a", "anna"), hold("", "ben")}, hold("a", "carl"), "hld_anna is active"},
		"operator, hotspot, again":  {[]beacon.Hold{hold("", "anna"), hold("a", "ben")}, hold("", "carl"), "hld_anna is active"},
		"after another, by another": {[]beacon.Hold{hold("a", "anna"), hold("b", "ben")}, hold("", "anna"), ""},
	} {
		placed, err := c.placed.Place(c.earlier)
		switch {
		case c.refusal == "" && (err != nil || placed.Number != len(c.earlier)+1 || placed.State != beacon.HoldIsActive):
			t.Errorf("%s: %+v, %v", name, placed, err)
		case c.refusal != "" && (beacon.KindOf(err) != beacon.Conflict || !strings.Contains(err.Error(), c.refusal)):
			t.Errorf("%s: %v; want %q", name, err, c.refusal)
		}
	}
}

// A hotspot stands where it was paid for in the last 30 days, however often it moved, and
// where it will be from tomorrow on.
func TestHotspot_Stands(t *testing.T) {
	now := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	north := func(lat float64) geo.Point { return geo.Point{Lat: lat, Lng: -74} }
	var h beacon.Hotspot
	h.Location.Point = north(5)
	for lat, days := range []int{200, 100, 20, 10, 0} { // ago
		h.Visits = append(h.Visits, beacon.Visit{At: now.AddDate(0, 0, -days), Point: north(float64(lat)), AccuracyM: 5, Proves: true})
	}
	is := map[geo.Point]bool{}
	for _, p := range h.Stands(now) {
		is[p] = true
	}
	for lat, want := range map[float64]bool{0: false, 1: true, 2: true, 3: true, 4: true, 5: true} {
		if is[north(lat)] != want {
			t.Errorf("it stands at %v: %t; want %t", lat, is[north(lat)], want)
		}
	}
}
