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

// A share in squares is close to that of the area. The border of a circle is rough by
// a square: of 60,000 shares, the one that differed most was 2.15 % off.
func TestDivide_AsCoverage(t *testing.T) {
	const radiusM, most = 50, 0.03
	r := rand.New(rand.NewPCG(level.Seed(t), 1))
	largest, sum, shared, all := 0.0, 0.0, 0, 0
	for range level.Rounds(50, 1000, 10_000) {
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
				shared++
			}
			sum, all = sum+got-want, all+1
			if largest = max(largest, math.Abs(got-want)); math.Abs(got-want) > most {
				t.Errorf("at %v: hotspot %d of %d gets %.4f of its ground; want %.4f", day[i].Place, i, len(day), got, want)
			}
		}
	}
	t.Logf("the largest difference is %.2f %%, on average %+.3f %%", 100*largest, 100*sum/float64(all))
	if math.Abs(sum/float64(all)) > most/20 {
		t.Errorf("shares are %.2f %% off on average; want differences that cancel out", 100*sum/float64(all))
	}
	if shared == 0 {
		t.Error("no hotspots shared ground")
	}
}
