//go:build linux

package torture_test

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCovered compares the model's areas with what was computed in another way, and
// with sums over many more strips: half of what judgeArea lets pass.
func TestCovered(t *testing.T) {
	want := func(discs []disc, b box, km2 float64) {
		t.Helper()
		if got := coveredKm2(discs, b); math.Abs(got-km2) > 1e-3*km2+1e-9 {
			t.Errorf("%v in %v cover %v km²; want %v", discs, b, got, km2)
		}
	}
	// A disc that reaches across the pole: its edge was sought along 400 meridians.
	want([]disc{{place{89.9995, -120}, 75}, {place{90, 77}, 10}}, box{90, 89.999, 10, 0}, 6.7300253e-05)
	want([]disc{{place{-89.9995, -120}, 75}}, box{-89.999, -90, 10, 0}, 6.7300253e-05)
	cap500 := 2 * math.Pi * earth * earth / 1e6 * (1 - math.Cos(500/earth))
	want([]disc{{place{40.75, -73.98}, 500}}, box{90, -90, 180, -180}, cap500)
	want([]disc{{place{90, 77}, 500}}, box{90, 89.9, 180, -180}, cap500)
	want([]disc{{place{89.9995, -120}, 500}}, box{90, 89.9, 180, -180}, cap500)

	random := rand.New(rand.NewPCG(1, 2))
	radii := []float64{10, 50, 75, 77.7, 100, 123.4, 500}
	for range 500 {
		var discs []disc
		for range 1 + random.IntN(6) {
			discs = append(discs, disc{modelPlaces[random.IntN(len(modelPlaces))], radii[random.IntN(len(radii))]})
		}
		b := boxes[random.IntN(len(boxes))]
		want(discs, b, stripsKm2(1024, discs, b))
	}
}
