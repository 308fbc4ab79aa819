package coverage_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// A place is in the cell that its coordinates say, to the last bit, also beside
// the lines between cells: a box that ends at a line relies on it.
func TestAddress_BesideLines(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 12))
	for range 30_000 {
		lines := coverage.Deepest(geo.Point{Lat: random.Float64()*180 - 90, Lng: random.Float64()*360 - 180})
		for _, lat := range beside(lines.South) {
			for _, lng := range beside(lines.West) {
				p := geo.Point{Lat: lat, Lng: lng}
				if !p.Valid() {
					continue
				}
				in := coverage.Deepest(p)
				if !(in.South <= lat && in.West <= lng && lat < in.North && (lng < in.East || in.East == 180)) {
					t.Fatalf("%v is put into %+v", p, in)
				}
			}
		}
	}
}

func beside(line float64) []float64 {
	return []float64{math.Nextafter(line, -200), line, math.Nextafter(line, 200)}
}
