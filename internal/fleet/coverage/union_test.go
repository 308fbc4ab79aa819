package coverage_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// scene is a box and discs around it.
type scene struct {
	box   geo.Box
	discs []oracleDisc
}

func (s *scene) add(place geo.Point, radiusM float64) {
	s.discs = append(s.discs, oracleDisc{onEarth(place), radiusM})
}

// onEarth brings a place that ran over the edge of the map back onto it.
func onEarth(p geo.Point) geo.Point {
	if p.Lat > 90 {
		p.Lat, p.Lng = 180-p.Lat, p.Lng+180
	}
	if p.Lat < -90 {
		p.Lat, p.Lng = -180-p.Lat, p.Lng+180
	}
	for p.Lng > 180 {
		p.Lng -= 360
	}
	for p.Lng < -180 {
		p.Lng += 360
	}
	return p
}

// away is a place so many metres north and east of another, roughly.
func away(p geo.Point, north, east float64) geo.Point {
	const perDegree = 111_195.08
	cos := max(math.Cos(p.Lat*math.Pi/180), 1e-3)
	return onEarth(geo.Point{Lat: p.Lat + north/perDegree, Lng: p.Lng + east/perDegree/cos})
}

func (s *scene) measure() float64 {
	places, radii := make([]geo.Point, 0, len(s.discs)), make([]float64, 0, len(s.discs))
	for _, d := range s.discs {
		places, radii = append(places, d.place), append(radii, d.radiusM)
	}
	return coverage.Covered(s.box, places, radii)
}

// boxAround is a box of about that size, on the map.
func boxAround(p geo.Point, height, width float64) geo.Box {
	const perDegree = 111_195.08
	cos := max(math.Cos(p.Lat*math.Pi/180), 1e-3)
	return geo.Box{
		South: max(-90, p.Lat-height/2/perDegree), North: min(90, p.Lat+height/2/perDegree),
		West: max(-180, p.Lng-min(90, width/2/perDegree/cos)), East: min(180, p.Lng+min(90, width/2/perDegree/cos)),
	}
}

// somewhere favours the places where formulas break.
func somewhere(random *rand.Rand) geo.Point {
	p := geo.Point{Lat: random.Float64()*160 - 80, Lng: random.Float64()*360 - 180}
	switch random.IntN(9) {
	case 0:
		p.Lat = math.Copysign(90-random.Float64()*0.01, p.Lat)
	case 1:
		p.Lng = math.Copysign(180-random.Float64()*0.001, p.Lng)
	case 2:
		p.Lat, p.Lng = math.Round(p.Lat/45)*45, math.Round(p.Lng/45)*45
	case 3:
		p.Lat = math.Copysign(90, p.Lat)
	case 4:
		const edge = 85.05112877980659 // where the map of the web ends
		p.Lat = math.Copysign(min(edge, 80+10*random.Float64()), p.Lat)
	}
	return p
}

func radius(random *rand.Rand) float64 {
	if random.IntN(25) == 0 {
		return 1 + (coverage.MaxRadiusM-1)*random.Float64()
	}
	return []float64{10, 50, 75, 100, 500, 10 + 490*random.Float64()}[random.IntN(6)]
}

// times makes the tests longer, for a night: go test ./coverage -times 100.
var times = flag.Int("times", 1, "how many times as many random cases to try")

var scenes = []struct {
	name string
	make func(s *scene, at geo.Point, random *rand.Rand)
}{
	{"one", func(s *scene, at geo.Point, random *rand.Rand) {
		s.add(away(at, random.NormFloat64()*200, random.NormFloat64()*200), radius(random))
	}},
	{"few", func(s *scene, at geo.Point, random *rand.Rand) {
		for range 2 + random.IntN(6) {
			s.add(away(at, random.NormFloat64()*200, random.NormFloat64()*200), radius(random))
		}
	}},
	{"tangent", func(s *scene, at geo.Point, random *rand.Rand) {
		r := radius(random)
		s.add(at, r)
		s.add(away(at, 2*r, 0), r)
		s.add(away(at, 0, 2*r), r)
		s.add(away(at, -r-10, 0), 10)
		s.add(away(at, 0, -r/2), r/2)
	}},
	{"identical", func(s *scene, at geo.Point, random *rand.Rand) {
		r := radius(random)
		for range 3 {
			s.add(at, r)
			s.add(away(at, r, r/3), r)
		}
	}},
	{"nearly identical", func(s *scene, at geo.Point, random *rand.Rand) {
		r, off := radius(random), math.Pow(10, -7+8*random.Float64())
		for range 6 {
			s.add(away(at, off*random.NormFloat64(), off*random.NormFloat64()), r)
		}
	}},
	{"concentric and nested", func(s *scene, at geo.Point, random *rand.Rand) {
		for _, r := range []float64{500, 400, 100, 99.999, 10} {
			s.add(at, r)
			s.add(away(at, random.NormFloat64()*50, random.NormFloat64()*50), r/2)
		}
	}},
	{"ring", func(s *scene, at geo.Point, random *rand.Rand) { // around bare ground, if only little
		r, gap := radius(random), math.Pow(10, -5*random.Float64())
		for i := range 24 {
			sin, cos := math.Sincos(2 * math.Pi * (float64(i) + 0.3*random.Float64()) / 24)
			s.add(away(at, r*(1+gap)*cos, r*(1+gap)*sin), r)
		}
	}},
	{"row", func(s *scene, at geo.Point, random *rand.Rand) {
		r := radius(random)
		for i := range 12 {
			s.add(away(at, 0, float64(i)*r*(0.5+random.Float64())), r)
		}
	}},
	{"many", func(s *scene, at geo.Point, random *rand.Rand) {
		for range 30 + random.IntN(60) {
			s.add(away(at, random.NormFloat64()*400, random.NormFloat64()*400), radius(random)/2)
		}
	}},
	{"hundreds", func(s *scene, at geo.Point, random *rand.Rand) {
		for range 250 {
			s.add(away(at, random.Float64()*400-200, random.Float64()*400-200), 10+20*random.Float64())
		}
	}},
}

// rounds is how many scenes of a kind to try: large ones are slow to judge.
func rounds(name string, usual int) int {
	switch name {
	case "many":
		return usual / 10 * *times
	case "ring":
		return usual / 8 * *times
	case "hundreds":
		return *times
	default:
		return usual * *times
	}
}

// Around a pole a disc may hold all corners of a wide box, and not what is
// between them on the far side.
func TestCovered_FarSideOfPole(t *testing.T) {
	s := scene{box: geo.Box{South: 90 - 0.0006, North: 90, West: 0, East: 180}}
	s.add(geo.Point{Lat: 90 - 0.0005, Lng: -90}, 0.0009*111_195)
	var w worst
	w.compare(t, "far side", s.measure(), oracleArea(s.box, s.discs), &s)
	s.discs[0].radiusM *= 2
	if got, want := s.measure(), s.box.Area(); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("%v m² of %v", got, want)
	}
}

// Small discs at both ends of a large cell: what is far from the first of them is
// measured as precisely.
func TestCovered_FarApart(t *testing.T) {
	s := scene{box: geo.Box{South: 1, North: 44, West: 1, East: 44}}
	s.add(geo.Point{Lat: 2, Lng: 2}, 20)
	for i := range 5 {
		s.add(away(geo.Point{Lat: 43, Lng: 43}, float64(i)*4, float64(i%2)*7), 10)
	}
	if got, want := s.measure(), oracleArea(s.box, s.discs); math.Abs(got/want-1) > 2e-9 {
		t.Errorf("%v m²; want %v, off by %.2g", got, want, math.Abs(got/want-1))
	}
}

// In a wide rectangle the sides are bowed: a disc may be beyond the straight way
// from corner to corner, and yet not beyond the side.
func TestCovered_BowedSides(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 6))
	var w worst
	for range 30 * *times {
		s := scene{box: geo.Box{South: 60, North: 62, West: 10, East: 14}}
		for range 3 {
			at := geo.Point{Lat: 60 + 2*float64(random.IntN(2)), Lng: 11 + 2*random.Float64()}
			s.add(away(at, 12_000*random.Float64()-6000, 0), 1000+4000*random.Float64())
		}
		w.compare(t, "bowed", s.measure(), oracleArea(s.box, s.discs), &s)
	}
	t.Logf("%d scenes, worst off by %.2g", w.seen, w.off)
}

// worst keeps the largest error that a test saw, to be told.
type worst struct {
	off  float64
	seen int
}

// compare gives the relative error. What is below a billionth of the discs' own
// area is nothing.
func (w *worst) compare(t *testing.T, name string, got, want float64, s *scene) {
	t.Helper()
	floor := 0.0
	for _, d := range s.discs {
		floor = max(floor, 1e-9*math.Pi*d.radiusM*d.radiusM)
	}
	off := math.Abs(got-want) / max(want, floor)
	w.seen++
	w.off = max(w.off, off)
	if !(off <= 1e-6) {
		t.Errorf("%s: %.9g m² instead of %.9g, off by %.2g: box %+v, %d discs %+v", name, got, want, off, s.box, len(s.discs), s.discs[:min(8, len(s.discs))])
	}
}

func TestCovered_AgainstOracle(t *testing.T) {
	level.Repeats(t)
	random := rand.New(rand.NewPCG(1, 6))
	for _, tt := range scenes {
		t.Run(tt.name, func(t *testing.T) {
			var w worst
			for range rounds(tt.name, 150) {
				at := somewhere(random)
				size := math.Pow(10, 1+3.5*random.Float64())
				s := scene{box: boxAround(away(at, random.NormFloat64()*size/3, random.NormFloat64()*size/3), size, size*(0.2+random.Float64()))}
				if !s.box.Valid() || s.box.Width() > 180 {
					continue
				}
				tt.make(&s, at, random)
				w.compare(t, tt.name, s.measure(), oracleArea(s.box, s.discs), &s)
			}
			t.Logf("%d scenes, worst off by %.2g", w.seen, w.off)
			if w.seen < rounds(tt.name, 150)/2 {
				t.Errorf("only %d scenes", w.seen)
			}
		})
	}
}
