package ground_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// What an operator learns from its own share of the ground about where a hidden home
// stands, in the worst case: the home is older and always on the air, and nobody else is
// near. The operator knows the rules, and takes the middle of all places that explain
// every share that its hotspots get: to a millionth, as they are paid, or to ten per cent, as
// explain shows them. docs/privacy.md has what this prints for many rounds.
func TestDivide_TellsOfHomes(t *testing.T) {
	level.Repeats(t)
	r := rand.New(rand.NewPCG(level.Seed(t), 209))
	counts := []int{1, 2, 3, 14} // hotspots of the operator that share ground with the home
	off := map[int64][][]float64{1: make([][]float64, len(counts)), 100_000: make([][]float64, len(counts))}
	var needed []int
	for round := range level.Rounds(2, 4, 200) {
		home := geo.Point{Lat: 40.7, Lng: -74}.Toward(r.Float64()*360, r.Float64()*2000)
		blur := beacon.Blur{Homes: beacon.HomesBlurred, Secret: [32]byte{byte(round), byte(round >> 8), 9}}
		shown := blur.Public(beacon.Hotspot{Location: beacon.Location{Point: home}}).Location.Point
		first := slices.IndexFunc(search(shown), func(own geo.Point) bool { return shareBeside(t, home, own) < 1_000_000 })
		if first < 0 {
			t.Fatalf("no hotspot of a search around %v shares ground with %v", shown, home)
		}
		needed = append(needed, first+1)
		for _, step := range []int64{1, 100_000} {
			own := search(shown)[first]
			left, told := around(own, 100), 0
			for i, n := range counts {
				for ; told < n; told++ {
					if told > 0 {
						own = left[r.IntN(len(left))].Toward(r.Float64()*360, 40)
					}
					left = explains(t, left, own, (shareBeside(t, home, own)+step/2)/step*step, step/2)
				}
				off[step][i] = append(off[step][i], geo.Distance(middle(left), home))
			}
		}
	}
	slices.Sort(needed)
	t.Logf("%d homes: visited hotspots until one shares ground with it: median %d, most %d", len(needed), needed[len(needed)/2], needed[len(needed)-1])
	for _, step := range []int64{1, 100_000} {
		for i, all := range off[step] {
			slices.Sort(all)
			t.Logf("shares to %d millionths, with %d such hotspots: the middle of what is possible is off by %.0f m (median), %.0f m (nine of ten)",
				step, counts[i], all[len(all)/2], all[len(all)*9/10])
		}
	}
	if last := off[1][2]; last[len(last)/2] > 10 {
		t.Error("an operator learns less than docs/privacy.md says: measure again with BEACON_TEST_LEVEL=torture, and correct it")
	}
	for bearing := range 360 { // what limits it
		home := geo.Point{Lat: 40.7, Lng: -74}
		if share := shareBeside(t, home, home.Toward(float64(bearing), 108)); share != 1_000_000 { // two radii, and a square
			t.Fatalf("a hotspot 108 m from a home, bearing %d, owns %d millionths of its ground", bearing, share)
		}
	}
}

// shareBeside returns the share, in millionths, of a hotspot that is newer than a home.
func shareBeside(t *testing.T, home, own geo.Point) int64 {
	t.Helper()
	shares, err := ground.Divide(t.Context(), []ground.Hotspot{{Place: ground.PlaceOf(home), Served: allDay}, {Place: ground.PlaceOf(own), Served: allDay}}, 50)
	if err != nil {
		t.Fatal(err)
	}
	return shares[1].Weight() / beacon.MinutesADay
}

// explains returns the places where the home may stand if the share is right to within a
// rounding, and to within the metres between the places that are looked at.
func explains(t *testing.T, places []geo.Point, own geo.Point, share, rounding int64) (left []geo.Point) {
	t.Helper()
	near := rounding + 30_000 // that these make at most
	for _, p := range places {
		if d := shareBeside(t, p, own) - share; d > -near && d < near {
			left = append(left, p)
		}
	}
	if left == nil {
		t.Fatalf("no place explains a share of %d millionths", share)
	}
	return left
}

// around returns places every two metres within a distance.
func around(p geo.Point, within float64) (all []geo.Point) {
	for north := -within; north <= within; north += 2 {
		for east := -within; east <= within; east += 2 {
			if q := p.Toward(0, north).Toward(90, east); geo.Distance(p, q) <= within {
				all = append(all, q)
			}
		}
	}
	return all
}

// search returns places for hotspots, from the middle outward, that share ground with
// whatever stands within 430 m: every one reaches 100 m.
func search(p geo.Point) (all []geo.Point) {
	for row := -4.0; row <= 4; row++ {
		for column := -4.0; column <= 4; column++ {
			all = append(all, p.Toward(0, row*140).Toward(90, (column+row/2)*160))
		}
	}
	slices.SortFunc(all, func(a, b geo.Point) int { return int(geo.Distance(p, a)*100) - int(geo.Distance(p, b)*100) })
	return all
}

func middle(all []geo.Point) (p geo.Point) {
	for _, q := range all {
		p.Lat += q.Lat / float64(len(all))
		p.Lng += q.Lng / float64(len(all))
	}
	return p
}
