//go:build linux

package endtoend_test

import (
	"fmt"
	"maps"
	"math"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestCoverageTrue: whatever hotspots say one by one, coverage says of all of
// them: how many, where, and which ground, in every box and at every zoom. It
// does after a crash, too, and thinking of more hotspots changes nothing.
func TestCoverageTrue(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
		clock := harness.NewHeldClock(t, time.Date(2027, 6, 1, 12, 0, 0, 0, time.UTC)) // nobody goes offline meanwhile
		s := clock.Start(t, db)
		sc := newScene(t, admin)
		sc.build(t, s)
		for i, at := range sc.sites { // and then they change
			switch {
			case i%6 == 1:
				sc.resize(t, s, at)
			case i%9 == 2:
				sc.remove(t, s, at)
			case i%11 == 3 && at.stage >= linked:
				sc.unlink(t, s, at)
			}
		}
		boxes := sc.boxes()
		all := plot(t, admin, s, sc.hotspots())
		checkKinds(t, all)
		worst := 0.0
		for _, box := range boxes {
			off := mustChart(t, admin, s, box, anyZoom).expect(t, box, all)
			worst = max(worst, off)
			checkZooms(t, admin, s, box)
			checkSplit(t, admin, s, sc.cut(box))
		}
		t.Logf("of %d boxes, no area is off by more than %.1e of it", len(boxes), worst)

		before := record(t, admin, s, boxes)
		sc.checkWhatIf(t, s, boxes, all)
		compareRecords(t, "after thinking of more hotspots", before, record(t, admin, s, boxes))
		s.Kill()
		s = clock.Start(t, db)
		compareRecords(t, "after a crash", before, record(t, admin, s, boxes))
	})
}

// boxes have the places of a scene in them, whole and in part.
func (sc *scene) boxes() []groundBox {
	near := func(lat, lng, up, right, down, left float64) groundBox {
		return groundBox{lat + up, lat - down, math.Remainder(lng+right, 360), math.Remainder(lng-left, 360)}
	}
	boxes := []groundBox{
		wholeWorld,
		near(cityLat, cityLng, 0.02, 0.02, 0.02, 0.02),   // all of the city
		near(cityLat, cityLng, 0.002, 0.001, 0, 0.004),   // through it
		near(cityLat, cityLng, 4e-4, 4e-4, 4e-4, 4e-4),   // a block
		near(cityLat, cityLng, 1e-6, 0.02, 1e-6, 0.02),   // a line
		near(cityLat, cityLng, 1e-5, 1e-5, -5e-6, -5e-6), // a table
		near(dateLat, 180, 0.02, 0.02, 0.02, 0.02),       // over ±180°
		near(dateLat, 180, 0.001, 0.0005, 0.002, 0.0015), // and through what is there
		{dateLat + 1, dateLat - 1, 180, 179.9},           // up to it
		{dateLat + 1, dateLat - 1, -179.9, -180},         // from it on
		{90, 89.99, 180, -180},                           // around the pole
		{90, 89.99, 60, -30},                             // a slice of that
		{89.9995, 89.998, 100, -170},                     // and of a ring
		{-89.99, -90, -10, 10},                           // all but a slice, around the other one
		{12.2503, 12.25, 55.26, 55.2497},                 // through three in one place
		{0.001, 0, 0.001, 0},                             // a corner
		{60, 59, 31, 30},                                 // nothing
		{-33, -35, 152, 150},
	}
	for range 4 {
		lat, lng := cityLat+0.004*sc.random.NormFloat64(), cityLng+0.004*sc.random.NormFloat64()
		boxes = append(boxes, near(lat, lng, 0.004*sc.random.Float64(), 0.004*sc.random.Float64(), 1e-4, 1e-4))
	}
	return boxes
}

// checkKinds sees to it that a scene has hotspots of every kind.
func checkKinds(t testing.TB, all []plotted) {
	t.Helper()
	kinds := map[string]int{}
	for _, h := range all {
		kinds[h.Status]++
	}
	t.Logf("hotspots: %v", kinds)
	if kinds["pending"] == 0 || kinds["offline"] == 0 || kinds["online"] < 10 {
		t.Error("of some kind there are too few")
	}
}

// checkZooms: a zoom changes the items alone, and whom they stand for it does
// not.
func checkZooms(t testing.TB, c *harness.Client, s *harness.Server, box groundBox) {
	t.Helper()
	want := mustChart(t, c, s, box, anyZoom)
	for zoom := range 23 {
		got := mustChart(t, c, s, box, zoom)
		if got.Count != want.Count || got.AreaKm2 != want.AreaKm2 || got.Share != want.Share || got.online() != want.online() {
			t.Errorf("%+v at zoom %d: %d hotspots, %d online, %v km², %v; without a zoom %d, %d, %v, %v", box, zoom,
				got.Count, got.online(), got.AreaKm2, got.Share, want.Count, want.online(), want.AreaKm2, want.Share)
		}
	}
}

// pieces are a box and what it was cut into.
type pieces struct {
	whole groundBox
	parts []groundBox
}

// cut cuts a box into four, anywhere.
func (sc *scene) cut(box groundBox) pieces {
	lat := box.south + (box.north-box.south)*sc.random.Float64()
	lng := math.Remainder(box.west+box.width()*sc.random.Float64(), 360)
	parts := []groundBox{box, box, box, box}
	parts[0].south, parts[1].south, parts[2].north, parts[3].north = lat, lat, lat, lat
	parts[0].east, parts[2].east, parts[1].west, parts[3].west = lng, lng, lng, lng
	return pieces{box, parts}
}

// checkSplit: the parts of a box have together what it has.
func checkSplit(t testing.TB, c *harness.Client, s *harness.Server, p pieces) {
	t.Helper()
	whole := mustChart(t, c, s, p.whole, anyZoom)
	area, count := 0.0, 0
	for _, part := range p.parts {
		got := mustChart(t, c, s, part, anyZoom)
		area += got.AreaKm2
		count += got.Count
	}
	// Each is rounded to a square millimetre.
	if math.Abs(area-whole.AreaKm2) > 1e-9*whole.AreaKm2+3e-12 {
		t.Errorf("%+v: the parts have %v km²; want %v", p, area, whole.AreaKm2)
	}
	// Who is on a pole or on ±180° is in every part that reaches there.
	if edge := p.whole.north == 90 || p.whole.south == -90 || math.Abs(p.whole.east) == 180; count < whole.Count || count > whole.Count && !edge {
		t.Errorf("%+v: the parts have %d hotspots; want %d", p, count, whole.Count)
	}
}

// record is what a server says about boxes, byte by byte.
func record(t testing.TB, c *harness.Client, s *harness.Server, boxes []groundBox) map[string]string {
	t.Helper()
	all := map[string]string{}
	for i, box := range boxes {
		for _, zoom := range []int{anyZoom, 0, 3, 9, 13, 14, 22} {
			_, a, err := chart(t.Context(), c, s, box, zoom)
			if err != nil {
				t.Fatal(err)
			}
			all[fmt.Sprintf("box %d at zoom %d", i, zoom)] = string(a.Data)
		}
	}
	maps.Copy(all, tilesAround(t, c, s, cityLat, cityLng))
	return all
}

func compareRecords(t testing.TB, when string, want, got map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s, %s differs: %.300q; want %.300q", when, name, got[name], want[name])
		}
	}
	if len(want) == 0 || len(want) != len(got) {
		t.Errorf("%s: %d answers; want %d", when, len(got), len(want))
	}
}
