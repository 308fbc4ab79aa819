package coverage_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

type name string

func (n name) ID() string { return string(n) }

// Pending is part of the name, so that tests can choose it.
func (n name) Pending() bool { return strings.HasPrefix(string(n), "pending") }

type (
	disc = coverage.Disc[name]
	tree = coverage.Tree[name]
)

func apply(tb testing.TB, t *tree, put, remove []disc) {
	tb.Helper()
	if err := t.Apply(put, remove); err != nil {
		tb.Fatal(err)
	}
}

func planted(tb testing.TB, discs []disc) *tree {
	tb.Helper()
	t := coverage.New[name]()
	apply(tb, t, discs, nil)
	return t
}

// discsOf makes the discs of a scene. Every fifth is not online.
func (s *scene) asDiscs() (all []disc, online []oracleDisc) {
	for i, d := range s.discs {
		all = append(all, disc{name(fmt.Sprintf("hs_%04d", i)), d.place, d.radiusM, i%5 != 4})
		if i%5 != 4 {
			online = append(online, d)
		}
	}
	return all, online
}

func TestArea_AgainstOracle(t *testing.T) {
	level.Repeats(t)
	random := rand.New(rand.NewPCG(2, 6))
	for _, tt := range scenes {
		t.Run(tt.name, func(t *testing.T) {
			var w worst
			for range rounds(tt.name, 40) {
				var s scene
				at := somewhere(random)
				tt.make(&s, at, random)
				tt.make(&s, somewhere(random), random)
				all, online := s.asDiscs()
				snapshot := planted(t, all).Snapshot()
				for _, box := range boxesFor(random, at) {
					s.box = box
					w.compare(t, tt.name, snapshot.Area(box)*1e6, oracleArea(box, online), &s)
				}
			}
			t.Logf("%d boxes, worst off by %.2g", w.seen, w.off)
		})
	}
}

// The box that a ring leaves bare, and one beside it: nothing but the bare ground
// tells them from covered ones.
func TestArea_NearlyFull(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 6))
	var w worst
	for range 8 * *times {
		at := geo.Point{Lat: random.Float64()*170 - 85, Lng: random.Float64()*360 - 180}
		var s scene
		gap := math.Pow(10, -3*random.Float64())
		for i := range 24 {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / 24)
			s.add(away(at, 100*(1+gap)*cos, 100*(1+gap)*sin), 100)
		}
		all, _ := s.asDiscs()
		for i := range all {
			all[i].Online = true
		}
		snapshot := planted(t, all).Snapshot()
		for _, size := range []float64{20, 60, 140} {
			s.box = boxAround(away(at, random.Float64()*10, random.Float64()*10), size, size)
			if !s.box.Valid() {
				continue
			}
			w.compare(t, "nearly full", snapshot.Area(s.box)*1e6, oracleArea(s.box, s.discs), &s)
		}
	}
	t.Logf("%d boxes, worst off by %.2g", w.seen, w.off)
}

// boxesFor gives boxes of many sizes around a place, some of them across ±180°
// or up to a pole, and the world.
func boxesFor(random *rand.Rand, at geo.Point) []geo.Box {
	boxes := []geo.Box{{North: 90, South: -90, East: 180, West: -180}}
	for _, size := range []float64{30, 300, 3000, 100_000, 5_000_000} {
		a := away(at, -random.Float64()*size, -random.Float64()*size)
		b := away(at, random.Float64()*size, random.Float64()*size)
		box := geo.Box{South: min(a.Lat, b.Lat), North: max(a.Lat, b.Lat), West: a.Lng, East: b.Lng}
		if random.IntN(4) == 0 {
			box.North = 90
		}
		if random.IntN(4) == 0 {
			box.West, box.East = box.East, box.West
		}
		if box.Valid() {
			boxes = append(boxes, box)
		}
	}
	return boxes
}

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

// Discs so small that their area cannot be computed do not end the program.
func TestApply_Unmeasurable(t *testing.T) {
	planted(t, []disc{{"a", geo.Point{Lat: 1, Lng: 1}, 1e-100, true}, {"b", geo.Point{Lat: 1, Lng: 1}, 1e-100, true}, {"c", geo.Point{}, 1e-100, true}})
}
