package coverage_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// world gives discs all over the Earth, with towns, and some on the lines where
// addresses change.
func world(random *rand.Rand, n int) []disc {
	discs := make([]disc, 0, n)
	var middle geo.Point
	for i := range n {
		if i%20 == 0 {
			middle = somewhere(random)
		}
		at := middle
		switch random.IntN(5) {
		case 0:
			at = geo.Point{Lat: float64(random.IntN(9)-4) * 22.5, Lng: float64(random.IntN(17)-8) * 22.5}
			if random.IntN(2) == 0 {
				at.Lat = line(random)
			}
		case 1, 2, 3:
			at = away(middle, random.NormFloat64()*500, random.NormFloat64()*500)
		}
		discs = append(discs, disc{name(fmt.Sprintf("w%d", i)), at, radius(random), random.IntN(3) > 0})
	}
	return discs
}

// line is a latitude at which tiles meet, or the next below.
func line(random *rand.Rand) float64 {
	part := float64(random.IntN(257)) / 256
	lat := math.Atan(math.Sinh(math.Pi*(1-2*part))) * 180 / math.Pi
	if random.IntN(2) == 0 {
		lat = math.Nextafter(lat, -90)
	}
	return lat
}

// lines are boxes with sides on places of discs and on lines of the grid.
func lines(random *rand.Rand, discs []disc) []geo.Box {
	var boxes []geo.Box
	lats, lngs := []float64{-90, 90, 0, 22.5, 45, -66.51326044311186}, []float64{-180, 180, 0, 90, -45}
	for range 10 {
		lat := discs[random.IntN(len(discs))].Place.Lat
		lats = append(lats, lat, math.Nextafter(lat, 91), random.Float64()*180-90)
		lngs = append(lngs, discs[random.IntN(len(discs))].Place.Lng, random.Float64()*360-180)
	}
	for len(boxes) < 12 {
		box := geo.Box{
			South: lats[random.IntN(len(lats))], North: lats[random.IntN(len(lats))],
			West: lngs[random.IntN(len(lngs))], East: lngs[random.IntN(len(lngs))],
		}
		if box.Valid() {
			boxes = append(boxes, box)
		}
	}
	return boxes
}

func TestCount(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	found := 0
	for range 40 * *times {
		discs := world(random, 300)
		snapshot := planted(t, discs).Snapshot()
		for _, box := range lines(random, discs) {
			var want []name
			wantOnline := 0
			for _, d := range discs {
				if box.Contains(d.Place) {
					want = append(want, d.Item)
					if d.Online {
						wantOnline++
					}
				}
			}
			if count, online := snapshot.Count(box); count != len(want) || online != wantOnline {
				t.Errorf("Count(%+v) = %d, %d; want %d, %d", box, count, online, len(want), wantOnline)
			}
			var got []name
			snapshot.Each(box, func(d disc) bool {
				got = append(got, d.Item)
				if !slices.Contains(discs, d) {
					t.Errorf("%+v was never put", d)
				}
				return true
			})
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("Each(%+v) = %v; want %v", box, got, want)
			}
			found += len(want)
		}
	}
	if found < 1000 {
		t.Errorf("only %d discs in all boxes", found)
	}
}

func TestEach_Stops(t *testing.T) {
	snapshot := planted(t, world(rand.New(rand.NewPCG(8, 8)), 100)).Snapshot()
	calls := 0
	snapshot.Each(geo.Box{North: 90, South: -90, East: 180, West: -180}, func(disc) bool {
		calls++
		return calls < 7
	})
	if calls != 7 {
		t.Errorf("called %d times; want 7", calls)
	}
}

// However a box is cut, its parts cover what it covers.
func TestArea_PartsAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	off, seen := 0.0, 0
	for range 60 * *times {
		discs := world(random, 200)
		snapshot := planted(t, discs).Snapshot()
		for _, box := range lines(random, discs) {
			at := discs[random.IntN(len(discs))].Place
			if !box.Contains(at) || box.CrossesAntimeridian() || at.Lat == box.North || at.Lat == box.South || at.Lng <= box.West || at.Lng >= box.East {
				continue
			}
			a, b, c, d := box, box, box, box
			a.South, b.South, c.North, d.North = at.Lat, at.Lat, at.Lat, at.Lat
			a.East, c.East, b.West, d.West = at.Lng, at.Lng, at.Lng, at.Lng
			whole := snapshot.Area(box)
			sum := snapshot.Area(a) + snapshot.Area(b) + snapshot.Area(c) + snapshot.Area(d)
			off = max(off, math.Abs(sum-whole)/max(whole, 1e-12))
			seen++
			if !(math.Abs(sum-whole) <= 1e-9*whole) {
				t.Errorf("%+v has %v km², its parts around %v %v km²", box, whole, at, sum)
			}
		}
	}
	t.Logf("%d boxes, worst off by %.2g", seen, off)
	if seen < 20 {
		t.Errorf("only %d boxes", seen)
	}
}

// In a city the border of a box runs through many discs, and along lines between
// cells. However dense it is, a grid of boxes covers what the whole box covers.
func TestArea_GridAddsUp(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 9))
	for _, meters := range []float64{12_000, 4000, 1500, 700} {
		discs := city(2000, newYork, meters)
		snapshot := planted(t, discs).Snapshot()
		box := boxAround(newYork, meters*0.9, meters*0.9)
		for _, n := range []int{2, 7, 30} {
			lats, lngs := cuts(random, box.South, box.North, n), cuts(random, box.West, box.East, n)
			lats[1], lngs[1] = 40.7, -73.99978637695312 // of which the second is a line of the grid
			slices.Sort(lats)
			slices.Sort(lngs)
			sum := 0.0
			for i := 1; i < len(lats); i++ {
				for j := 1; j < len(lngs); j++ {
					if part := (geo.Box{South: lats[i-1], North: lats[i], West: lngs[j-1], East: lngs[j]}); part.Valid() {
						sum += snapshot.Area(part)
					}
				}
			}
			if whole := snapshot.Area(box); !(math.Abs(sum-whole) <= 1e-9*whole) {
				t.Errorf("2000 discs in %v m: %v km² in %d parts of %v km²", meters, sum, n*n, whole)
			}
		}
	}
}

// cuts are where a range begins and ends, and n places between, of which some are
// nearly the same.
func cuts(random *rand.Rand, low, high float64, n int) []float64 {
	at := []float64{low, low + (high-low)/3}
	for len(at) <= n {
		next := low + (high-low)*random.Float64()
		if random.IntN(4) == 0 {
			next = math.Nextafter(at[len(at)-1], high)
		}
		at = append(at, next)
	}
	return append(at, high)
}

// A box that crosses ±180° has what its two parts have.
func TestArea_AcrossAntimeridian(t *testing.T) {
	discs := []disc{
		{"a", geo.Point{Lat: -17, Lng: 179.9999}, 100, true},
		{"b", geo.Point{Lat: -17, Lng: -179.9999}, 75, true},
		{"c", geo.Point{Lat: -17.001, Lng: 180}, 50, true},
		{"d", geo.Point{Lat: -17.0005, Lng: -180}, 50, true},
	}
	snapshot := planted(t, discs).Snapshot()
	box := geo.Box{North: -16.99, South: -17.01, West: 179.99, East: -179.99}
	var online []oracleDisc
	for _, d := range discs {
		online = append(online, oracleDisc{d.Place, d.RadiusM})
	}
	if got, want := snapshot.Area(box)*1e6, oracleArea(box, online); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("%v m²; want %v", got, want)
	}
	if count, _ := snapshot.Count(box); count != 4 {
		t.Errorf("%d discs; want 4", count)
	}
}

func TestArea_Empty(t *testing.T) {
	snapshot := coverage.New[name]().Snapshot()
	box := geo.Box{North: 90, South: -90, East: 180, West: -180}
	if area := snapshot.Area(box); area != 0 {
		t.Errorf("nothing covers %v km²", area)
	}
	if clusters := snapshot.Clusters(box, 3); len(clusters) != 0 {
		t.Errorf("nothing has clusters %v", clusters)
	}
}

// What would be, and what is once it is so, are the same.
func TestAreaWith_LikeApplied(t *testing.T) {
	random := rand.New(rand.NewPCG(10, 10))
	gained := 0
	for range 10 * *times {
		discs := world(random, 150)
		tr := planted(t, discs)
		snapshot := tr.Snapshot()
		var add []disc
		for i := range 1 + random.IntN(4) {
			at := discs[random.IntN(len(discs))].Place
			add = append(add, disc{name(fmt.Sprint("new", i)), away(at, random.NormFloat64()*100, random.NormFloat64()*100), radius(random), true})
		}
		apply(t, tr, add, nil)
		boxes := append(boxesFor(random, add[0].Place), lines(random, discs)...)
		for _, box := range boxes {
			before, after, err := snapshot.AreaWith(box, add)
			if err != nil {
				t.Fatal(err)
			}
			if want := snapshot.Area(box); before != want {
				t.Errorf("before, %v km²; want %v", before, want)
			}
			want := tr.Snapshot().Area(box)
			if !(math.Abs(after-want) <= 1e-9*want) {
				t.Errorf("%+v with %+v: %v km²; want %v", box, add, after, want)
			}
			if after > before {
				gained++
			}
		}
	}
	if gained < 20 {
		t.Errorf("only %d boxes gained", gained)
	}
	if _, _, err := planted(t, nil).Snapshot().AreaWith(geo.Box{North: 1, East: 1}, []disc{{"a", geo.Point{Lat: 100}, 50, true}}); err == nil {
		t.Error("a disc at no place is accepted")
	}
}

// What is added far from the box is not measured.
func TestAreaWith_FarAway(t *testing.T) {
	snapshot := planted(t, city(5000, newYork, 5000)).Snapshot()
	var add []disc
	for i := range 100 {
		add = append(add, disc{name(fmt.Sprint("new", i)), away(newYork, float64(i), 0), 500, true})
	}
	far := geo.Box{North: 0.001, East: 0.001}
	allocations := testing.AllocsPerRun(5, func() {
		if before, after, err := snapshot.AreaWith(far, add); before != 0 || after != 0 || err != nil {
			t.Errorf("AreaWith = %v, %v, %v; want 0, 0", before, after, err)
		}
	})
	if allocations > 50 {
		t.Errorf("it takes %v allocations", allocations)
	}
}
