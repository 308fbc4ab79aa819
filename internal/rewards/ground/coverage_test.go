package ground_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

type item string

func (i item) ID() string  { return string(i) }
func (item) Pending() bool { return false }

// areas returns the ground in m² that the first hotspots cover: of none, of one, of
// two and so on, by the exact geometry of maps.
func areas(t *testing.T, day []ground.Hotspot, radiusM int) []float64 {
	t.Helper()
	tree, covered := coverage.New[item](), []float64{0}
	for i, h := range day {
		disc := coverage.Disc[item]{
			Item:  item(strconv.Itoa(i)),
			Place: geo.Point{Lat: float64(h.Place.Lat) / 1e7, Lng: float64(h.Place.Lng) / 1e7}, RadiusM: float64(radiusM), Online: true,
		}
		if err := tree.Apply([]coverage.Disc[item]{disc}, nil); err != nil {
			t.Fatal(err)
		}
		covered = append(covered, tree.Snapshot().Area(geo.Box{South: -90, North: 90, West: -180, East: 180})*1e6)
	}
	return covered
}

// A share in squares is close to that of the area. The border of a circle is rough by a
// square, wherever it lies: shares differ by 0.5 % (root mean square), of a hundred one by 1.2 %,
// of a hundred thousand one by 2.2 %, and the worst places that a search found by 3 % (D221).
func TestDivide_AsCoverage(t *testing.T) {
	const radiusM, most, usual = 50, 0.04, 0.006
	r := rand.New(rand.NewPCG(level.Seed(t), 1))
	var off []float64 // of those that share ground
	for range level.Rounds(50, 400, 10_000) {
		middle := somewhere(r)
		day := make([]ground.Hotspot, 2+r.IntN(10))
		for i := range day {
			day[i] = ground.Hotspot{Place: nearby(r, middle, 150), Served: allDay}
		}
		covered := areas(t, day, radiusM)
		for i, s := range divide(t, day, radiusM) {
			want := (covered[i+1] - covered[i]) / covered[1]
			got := float64(s.Weight()) / 1_440_000_000
			if s.Minutes > 0 {
				off = append(off, got-want)
			}
			if math.Abs(got-want) > most {
				t.Errorf("at %v: hotspot %d of %d gets %.4f of its ground; want %.4f", day[i].Place, i, len(day), got, want)
			}
		}
	}
	if len(off) == 0 {
		t.Fatal("no hotspots shared ground")
	}
	sum, squares, largest := 0.0, 0.0, 0.0
	for _, o := range off {
		sum, squares, largest = sum+o, squares+o*o, max(largest, math.Abs(o))
	}
	mean, rms := sum/float64(len(off)), math.Sqrt(squares/float64(len(off)))
	t.Logf("of %d shares the largest difference is %.2f %%, the root mean square %.2f %%, the mean %+.3f %%", len(off), 100*largest, 100*rms, 100*mean)
	if rms > usual || math.Abs(mean) > usual/4 {
		t.Errorf("shares are %.2f %% off on average, and differ by %.2f %%; want differences that cancel out", 100*mean, 100*rms)
	}
}

// Hotspots within d metres of a point get together at most (1 + d/R)² times what one gets,
// and not more than 6 % beyond it: a circle of 50 m has 304 to 322 squares (D126).
func TestDivide_WithinMetres(t *testing.T) {
	const radiusM, rough = 50, 322.0 / 304
	r := rand.New(rand.NewPCG(level.Seed(t), 1))
	most := 0.0
	for range level.Rounds(300, 1000, 30_000) {
		middle := geo.Point{Lat: 160*r.Float64() - 80, Lng: 360*r.Float64() - 180}
		d, turn := 100*r.Float64()*r.Float64()*r.Float64(), 360*r.Float64()
		day := make([]ground.Hotspot, 2+r.IntN(39))
		for i := range day {
			at := middle.Toward(turn+360*float64(i)/float64(len(day)), d)
			day[i] = ground.Hotspot{Place: ground.PlaceOf(at), Served: allDay}
		}
		got, area := 0.0, math.Pow(1+d/radiusM, 2)
		for _, s := range divide(t, day, radiusM) {
			got += float64(s.Weight()) / 1_440_000_000
		}
		if most = max(most, got/area); got > area*rough {
			t.Errorf("%d within %.1f m of %v get %.4f times as much as one; want %.4f at most", len(day), d, middle, got, area*rough)
		}
	}
	t.Logf("at most %.4f of (1 + d/R)²", most)
}
