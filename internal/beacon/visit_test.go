package beacon_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

const (
	metre = 1 / 111_195.0 // in degrees of latitude
	staff = beacon.UserID("usr_staff")
	owner = beacon.UserID("usr_owner")
)

func visited(h *beacon.Hotspot, metres, accuracy float64, by beacon.UserID, at time.Time) bool {
	return h.Visited(beacon.Verification{Point: geo.Point{Lat: 40 + metres*metre, Lng: -74}, AccuracyM: accuracy}, by, at)
}

func TestPlaceOn(t *testing.T) {
	noon := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	today := beacon.DayOf(noon)
	later := func(days int) time.Time { return noon.AddDate(0, 0, days) }
	h := beacon.Hotspot{Operator: owner, Location: beacon.Location{Point: geo.Point{Lat: 40, Lng: -74}}}
	check := func(name string, day beacon.Day, metres float64, since beacon.Day, provenAt time.Time, proven bool) {
		t.Helper()
		p := h.PlaceOn(day)
		if d := geo.Distance(p.Point, geo.Point{Lat: 40 + metres*metre, Lng: -74}); d > 0.1 || p.Since != since || !p.ProvenAt.Equal(provenAt) || p.Proven(day) != proven {
			t.Errorf("%s: on %s it is %+v, proven: %t", name, day, p, p.Proven(day))
		}
	}
	check("never visited", today, 0, 0, time.Time{}, false)

	visited(&h, 40, 30, staff, noon)
	check("the first visit counts at once", today, 40, today, noon, true)
	if visited(&h, 60, 10, staff, noon.Add(time.Hour)) {
		t.Error("a second visit on the day says something new")
	}
	check("a visit proves for a year", today+365, 40, today, noon, true)
	check("and no longer", today+366, 40, today, noon, false)

	visited(&h, 69, 5, staff, later(10))
	check("the day before, as if it had not been", today+10, 40, today, noon, true)
	check("a visit within 30 m confirms the place", today+11, 40, today, later(10), true)
	visited(&h, 71, 5, owner, later(20))
	check("on the day itself, the old place", today+20, 40, today, later(10), true)
	check("farther off is a new place, unproven if its operator says so", today+21, 71, today+21, time.Time{}, false)
	if visited(&h, 80, 5, owner, later(21)) {
		t.Error("a visit of its operator confirms something")
	}
	visited(&h, 80, 5, staff, later(21))
	check("proven by someone else", today+22, 71, today+21, later(21), true)

	h.Location.Point.Lat = 40 + 90*metre
	if visited(&h, 95, 31, staff, later(30)) {
		t.Error("an inexact visit near the place says something new")
	}
	h.Location.Point.Lat = 40 + 110*metre
	visited(&h, 120, 31, staff, later(31))
	check("an inexact visit proves nothing: the registered place counts", today+32, 110, today+32, time.Time{}, false)
}

// A hotspot that was verified before visits were kept is proven by that, where it is
// registered.
func TestPlaceOn_Before(t *testing.T) {
	verified := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	h := beacon.Hotspot{Operator: owner, Location: beacon.Location{Point: geo.Point{Lat: 40, Lng: -74}, VerifiedAt: verified}}
	want := beacon.Place{Point: h.Location.Point, Since: beacon.DayOf(verified), ProvenAt: verified}
	if got := h.PlaceOn(beacon.DayOf(verified) + 100); got != want {
		t.Errorf("got %+v; want %+v", got, want)
	}
	again := verified.AddDate(0, 6, 0)
	visited(&h, 10, 5, staff, again)
	want.ProvenAt = again
	if got := h.PlaceOn(beacon.DayOf(again) + 1); got != want || len(h.Visits) != 2 {
		t.Errorf("got %+v; want %+v", got, want)
	}
}

// A visit that is less exact than the place says nothing new about a verified hotspot,
// and something about one that has to be verified again.
func TestVisited_LessExact(t *testing.T) {
	first := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	h := beacon.Hotspot{Operator: owner, Location: beacon.Location{Point: geo.Point{Lat: 40, Lng: -74}}}
	visited(&h, 50, 5, staff, first)
	h.Location.VerifiedAt = first
	tomorrow := beacon.DayOf(first) + 1
	measured := h.PlaceOn(tomorrow)
	if visited(&h, 0, 60, staff, first.AddDate(0, 0, 1)) || h.PlaceOn(tomorrow+1) != measured {
		t.Errorf("after a less exact visit the place is %+v; want %+v", h.PlaceOn(tomorrow+1), measured)
	}
	h.Location.VerifiedAt = time.Time{}
	if !visited(&h, 0, 60, staff, first.AddDate(0, 0, 2)) || h.PlaceOn(tomorrow+2).Point != h.Location.Point {
		t.Errorf("verified again, the place is %+v", h.PlaceOn(tomorrow+2))
	}
}

// However often a hotspot is visited, it keeps few visits, and its place.
func TestVisited_Bounded(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	h := beacon.Hotspot{Operator: owner}
	for range 10 {
		visited(&h, 0, 5, staff, at)
		at = at.AddDate(0, 0, 1)
		visited(&h, 100, 5, staff, at)
		at = at.AddDate(0, 0, 1)
	}
	since := h.PlaceOn(beacon.DayOf(at)).Since
	for range 200 {
		held := h.Visits
		first := held[0]
		visited(&h, 100, 5, staff, at)
		if held[0] != first {
			t.Fatal("a list that others hold was changed")
		}
		at = at.AddDate(0, 0, 1)
	}
	if p := h.PlaceOn(beacon.DayOf(at)); p.Since != since || len(h.Visits) > 50 {
		t.Errorf("%+v after %d visits; want a place since %s", p, len(h.Visits), since)
	}
}
