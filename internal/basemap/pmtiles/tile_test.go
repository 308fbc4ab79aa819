package pmtiles_test

import (
	"math"
	"testing"

	"github.com/beacon-wifi/beacon/internal/basemap/pmtiles"
)

// Numbers are those of the specification: it names some, and each tile of a zoom lies
// beside the one before, in the square of the zoom above that its number says.
func TestPlace(t *testing.T) {
	for id, want := range map[int64][3]int64{
		0: {0, 0, 0}, 1: {1, 0, 0}, 2: {1, 0, 1}, 3: {1, 1, 1}, 4: {1, 1, 0}, 5: {2, 0, 0}, 19078479: {12, 3423, 1763},
	} {
		if z, x, y := pmtiles.Place(id); int64(z) != want[0] || x != want[1] || y != want[2] {
			t.Errorf("tile %d is %d/%d/%d, want %v", id, z, x, y, want)
		}
	}
	for zoom := 1; zoom <= 6; zoom++ {
		seen := map[[2]int64]bool{}
		_, lastX, lastY := pmtiles.Place(pmtiles.FirstOf(zoom))
		for id := pmtiles.FirstOf(zoom); id < pmtiles.FirstOf(zoom+1); id++ {
			z, x, y := pmtiles.Place(id)
			_, px, py := pmtiles.Place(pmtiles.FirstOf(zoom-1) + (id-pmtiles.FirstOf(zoom))/4)
			if z != zoom || seen[[2]int64{x, y}] || px != x/2 || py != y/2 || x < 0 || y < 0 || x >= 1<<z || y >= 1<<z {
				t.Fatalf("tile %d is %d/%d/%d", id, z, x, y)
			}
			if id > pmtiles.FirstOf(zoom) && math.Abs(float64(x-lastX))+math.Abs(float64(y-lastY)) != 1 {
				t.Fatalf("tile %d is not beside the one before", id)
			}
			seen[[2]int64{x, y}], lastX, lastY = true, x, y
		}
	}
	for _, id := range []int64{pmtiles.FirstOf(pmtiles.MaxZoom), pmtiles.FirstOf(pmtiles.MaxZoom+1) - 1} {
		if z, x, y := pmtiles.Place(id); z != pmtiles.MaxZoom || x>>pmtiles.MaxZoom != 0 || y != 0 {
			t.Errorf("tile %d is %d/%d/%d", id, z, x, y)
		}
	}
}

// A box covers the tiles that it touches, and no other.
func TestCover(t *testing.T) {
	for _, box := range []pmtiles.Bounds{
		{13.08, 52.33, 13.77, 52.68},
		{-74.3, 40.4, -73.6, 40.95},
		{-180, -85.0511287798066, 180, 85.0511287798066},
		{-180, -90, 180, 90},
		{36.6, -1.5, 37.2, -1.1},
		{-1, -1, 1, 1},
		{0, 0, 0, 0},
		{179.9, 60, 180, 61},
		{-180, -20, -179, -10},
		{0, 0, 90, 66.6},
		{13.4, 52.5, 13.4, 52.5},
		{-170, 10, 170, 10.1},
	} {
		wanted := pmtiles.Cover(box, 0, 8)
		has := map[int64]bool{}
		last := int64(-1)
		for _, r := range wanted {
			if r.From <= last || r.To <= r.From {
				t.Fatalf("%v: the ranges are not in order: %v", box, wanted)
			}
			last = r.To
			for id := r.From; id < r.To; id++ {
				has[id] = true
			}
		}
		for id := range pmtiles.FirstOf(9) {
			z, x, y := pmtiles.Place(id)
			if want := touches(box, z, x, y); has[id] != want {
				t.Errorf("%v has tile %d/%d/%d: %t, want %t", box, z, x, y, has[id], want)
			}
		}
	}
	if wanted := pmtiles.Cover(pmtiles.Bounds{West: -180, South: -90, East: 180, North: 90}, 0, pmtiles.MaxZoom); len(wanted) != 1 || wanted[0] != (pmtiles.Range{From: 0, To: pmtiles.FirstOf(pmtiles.MaxZoom + 1)}) {
		t.Errorf("the Earth is %v", wanted)
	}
}

// touches compares the edges of a tile, in degrees, with those of a box.
func touches(box pmtiles.Bounds, z int, x, y int64) bool {
	n := math.Exp2(float64(z))
	lng := func(x int64) float64 { return float64(x)/n*360 - 180 }
	lat := func(y int64) float64 { return math.Atan(math.Sinh(math.Pi*(1-2*float64(y)/n))) * 180 / math.Pi }
	west, east, north, south := lng(x), lng(x+1), lat(y), lat(y+1)
	const same = 1e-9                                // degrees: both sides are rounded
	lies := func(low, high, from, to float64) bool { // [low, high) and [from, to)
		return low < to-same && high > from+same || from == to && low <= from+same && from < high-same
	}
	// The edge of the map belongs to its last column and row.
	if x == 1<<z-1 {
		east += 1
	}
	if y == 0 {
		north += 1
	}
	return lies(west, east, box.West, box.East) && lies(-north, -south, -box.North, -box.South)
}
