package demo_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/demo"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// Some hotspots move: 1 to 2 % a month, a few of them across the street. They are paid at the
// new place from the day after staff have found them there, and a street away it is the same
// place. Until then the new place is not verified, and nothing is expected of them.
func TestMoves(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, demo.Config{Seed: 1, Hotspots: demo.Hotspots, Days: 60})
	moved, near, waiting := 0, 0, 0
	for _, s := range n.Hotspots {
		if !s.Moved() {
			continue
		}
		moved++
		was, today := s.At(n.Began().AddDate(0, 0, 1)), beacon.DayOf(now)
		metres := geo.Distance(was.Location.Point, s.Location.Point)
		found := s.Location.VerifiedAt
		if found.IsZero() {
			if waiting++; s.PlaceOn(today).Point != was.Location.Point {
				t.Errorf("%s is not found where it moved, and paid there", s.Name)
			}
			continue
		}
		there := s.PlaceOn(beacon.DayOf(found) + 1)
		if before := s.PlaceOn(beacon.DayOf(found)); before.Point != was.Location.Point || (there.Since > beacon.DayOf(found)) != (metres > 30) || (there == before) {
			t.Errorf("%s moved by %.0f m: it was paid at %+v, and is at %+v", s.Name, metres, before, there)
		}
		if metres < 30 {
			near++
		}
		between := s.At(found)
		if len(between.PastService) != 1 || !between.Location.VerifiedAt.IsZero() || between.Location.Point != s.Location.Point || s.Stands(found) != s.Location.Point {
			t.Errorf("%s was not carried, registered and found there: %+v", s.Name, between)
		}
	}
	if share := float64(moved) / demo.Hotspots / 2; share < 0.007 || share > 0.02 || near < moved/10 || near > moved/2 || waiting > moved/4 {
		t.Errorf("%d of %d have moved in two months, %d of them across the street; %d are not found yet", moved, demo.Hotspots, near, waiting)
	}
}

func ends(a, b beacon.Period) bool { return a.Until.Equal(b.Until) }

// What is written of a move is what happened.
func TestMoves_Written(t *testing.T) {
	level.Repeats(t)
	t.Parallel()
	file, cfg := filepath.Join(t.TempDir(), "demo.db"), demo.Config{Seed: 3, Hotspots: 250, Days: 20, Now: now}
	if err := create(t, file, cfg).WriteHistory(t.Context(), func() {}, nothing); err != nil {
		t.Fatal(err)
	}
	db := openFile(t, file)
	defer db.Close()
	moved, again, left := 0, 0, map[string]bool{}
	for _, s := range newNetwork(t, cfg).Hotspots {
		mac := s.Hotspot.Device.MAC.Canonical()
		if left[mac] {
			again++
		}
		left[mac] = s.Deleted()
		if !s.Moved() {
			continue
		}
		moved++
		h, err := db.Hotspots.Hotspot(t.Context(), s.ID)
		if err != nil || h.Location != s.Location || !slices.EqualFunc(h.PastService, s.PastService, ends) || len(h.Visits) != len(s.Visits) || !h.UpdatedAt.Equal(s.UpdatedAt) {
			t.Errorf("%s is written as %+v, %v; want %+v", s.Name, h, err, s.Hotspot)
			continue
		}
		for day := beacon.DayOf(s.CreatedAt); day <= beacon.DayOf(now); day++ {
			if is, want := h.PlaceOn(day), s.PlaceOn(day); is.Point != want.Point || is.Since != want.Since {
				t.Errorf("%s is written to be paid on %s at %+v; want %+v", s.Name, day, is, want)
			}
		}
	}
	if moved == 0 || again == 0 {
		t.Errorf("%d have moved, %d were registered again elsewhere", moved, again)
	}
}
