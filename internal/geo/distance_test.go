package geo_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// micrometre is what Distance rounds to, and so the most that it may be off: a
// half for the rounding, the rest for the arithmetic.
const micrometre = 1e-6

const halfway = math.Pi * geo.EarthRadius

func TestDistance_Known(t *testing.T) {
	tests := []struct {
		name string
		a, b geo.Point
		want float64
	}{
		{"one degree of a meridian", geo.Point{Lat: 10, Lng: 20}, geo.Point{Lat: 11, Lng: 20}, halfway / 180},
		{"one degree of the equator", geo.Point{Lng: 20}, geo.Point{Lng: 21}, halfway / 180},
		{"across the antimeridian", geo.Point{Lng: -179.9999}, geo.Point{Lng: 179.9999}, halfway / 180 * 0.0002},
		{"180 is -180", geo.Point{Lat: 12, Lng: -180}, geo.Point{Lat: 12, Lng: 180}, 0},
		{"north pole, any longitude", geo.Point{Lat: 90, Lng: 17}, geo.Point{Lat: 90, Lng: -163}, 0},
		{"south pole, any longitude", geo.Point{Lat: -90, Lng: 1}, geo.Point{Lat: -90, Lng: 180}, 0},
		{"pole to pole", geo.Point{Lat: -90, Lng: 3}, geo.Point{Lat: 90, Lng: -71}, halfway},
		{"antipodes on the equator", geo.Point{Lng: -90}, geo.Point{Lng: 90}, halfway},
		{"antipodes", geo.Point{Lat: 40.7, Lng: -74}, geo.Point{Lat: -40.7, Lng: 106}, halfway},
		{"over the pole", geo.Point{Lat: 89, Lng: 0}, geo.Point{Lat: 89, Lng: 180}, halfway / 90},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := geo.Distance(tt.a, tt.b); math.Abs(got-tt.want) > micrometre {
				t.Errorf("Distance(%v, %v) = %v; want %v", tt.a, tt.b, got, tt.want)
			}
		})
	}
}

func TestDistance_AgainstOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	compare := func(a, b geo.Point) {
		t.Helper()
		got, want := geo.Distance(a, b), oracleDistance(a, b)
		if !(math.Abs(got-want) <= micrometre) {
			t.Errorf("Distance(%v, %v) = %v; want %v", a, b, got, want)
		}
		if back := geo.Distance(b, a); back != got {
			t.Errorf("Distance(%v, %v) = %v there and %v back", a, b, got, back)
		}
	}
	for range 100 {
		a := randomPoint(random)
		compare(a, randomPoint(random))
		// From nanometres to the 64 km where the formula changes, and beyond.
		for _, degrees := range []float64{1e-14, 1e-9, 1e-5, 0.01, 0.57, 0.58, 5} {
			b := geo.Point{Lat: a.Lat + degrees*random.NormFloat64(), Lng: a.Lng + degrees*random.NormFloat64()}
			if b.Valid() {
				compare(a, b)
				compare(a, antipode(b))
			}
		}
	}
}

// Places that are equally far by symmetry are equally far, not nearly.
func TestDistance_Symmetric(t *testing.T) {
	center := geo.Point{Lat: 40.7128, Lng: -74.006}
	unequal := 0
	for i := range 1000 {
		off := float64(i) * 1.3e-5
		east := geo.Distance(center, geo.Point{Lat: center.Lat, Lng: center.Lng + off})
		west := geo.Distance(center, geo.Point{Lat: center.Lat, Lng: center.Lng - off})
		if east != west {
			unequal++
		}
	}
	// A pair may still straddle the border between two micrometres.
	if unequal > 10 {
		t.Errorf("%d of 1000 pairs differ", unequal)
	}
}

// One place has one vector, by whichever of its names.
func TestVec_OnePlace(t *testing.T) {
	for lng := -180.0; lng <= 180; lng += 7.5 {
		if got, want := (geo.Point{Lat: 90, Lng: lng}).Vec(), (geo.Vec{0, 0, 1}); got != want {
			t.Errorf("the north pole by %v° is %v; want %v", lng, got, want)
		}
		if got, want := (geo.Point{Lat: -90, Lng: lng}).Vec(), (geo.Vec{0, 0, -1}); got != want {
			t.Errorf("the south pole by %v° is %v; want %v", lng, got, want)
		}
	}
	for lat := -90.0; lat <= 90; lat += 7.5 {
		east, west := geo.Point{Lat: lat, Lng: 180}.Vec(), geo.Point{Lat: lat, Lng: -180}.Vec()
		if east != west {
			t.Errorf("%v°, 180° is %v; -180° is %v", lat, east, west)
		}
	}
}

func TestDistance_Identical(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		p := randomPoint(random)
		if got := geo.Distance(p, p); got != 0 {
			t.Fatalf("Distance(%v, itself) = %v; want 0", p, got)
		}
	}
}

func TestValid(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, p := range []geo.Point{{}, {90, 180}, {-90, -180}, {45.5, -122.6}} {
		if !p.Valid() {
			t.Errorf("%v is refused", p)
		}
	}
	for _, p := range []geo.Point{
		{nan, 0},
		{0, nan},
		{inf, 0},
		{0, inf},
		{-inf, 0},
		{0, -inf},
		{math.Nextafter(90, 91), 0},
		{0, math.Nextafter(180, 181)},
		{-91, 0},
		{0, -181},
	} {
		if p.Valid() {
			t.Errorf("%v is accepted", p)
		}
	}
}

func FuzzDistance(f *testing.F) {
	f.Add(0.0, 180.0, -90.0, -180.0)
	f.Add(45.0, 45.0, -45.0, -135.0)
	f.Fuzz(func(t *testing.T, lat1, lng1, lat2, lng2 float64) {
		a, b := geo.Point{Lat: lat1, Lng: lng1}, geo.Point{Lat: lat2, Lng: lng2}
		if !a.Valid() || !b.Valid() {
			t.Skip()
		}
		if got, want := geo.Distance(a, b), oracleDistance(a, b); !(math.Abs(got-want) <= micrometre) {
			t.Errorf("Distance(%v, %v) = %v; want %v", a, b, got, want)
		}
	})
}

// randomPoint favours the places where formulas break.
func randomPoint(random *rand.Rand) geo.Point {
	p := geo.Point{Lat: random.Float64()*180 - 90, Lng: random.Float64()*360 - 180}
	switch random.IntN(6) {
	case 0:
		p.Lat = math.Copysign(90-random.Float64()*1e-7, p.Lat)
	case 1:
		p.Lng = math.Copysign(180-random.Float64()*1e-7, p.Lng)
	case 2:
		p.Lat, p.Lng = math.Round(p.Lat/45)*45, math.Round(p.Lng/45)*45
	}
	return p
}

func antipode(p geo.Point) geo.Point {
	if p.Lng > 0 {
		return geo.Point{Lat: -p.Lat, Lng: p.Lng - 180}
	}
	return geo.Point{Lat: -p.Lat, Lng: p.Lng + 180}
}

// The point is at its distance, and in its direction.
func TestToward(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		from, meters := randomPoint(random), random.Float64()*1000
		if to := from.Toward(random.Float64()*360, meters); !to.Valid() || math.Abs(oracleDistance(from, to)-meters) > 0.01 {
			t.Errorf("%v is %v m from %v; want %v m", to, oracleDistance(from, to), from, meters)
		}
	}
	from := geo.Point{Lat: 40, Lng: 179.999}
	for bearing, want := range map[float64]geo.Point{0: {Lat: 1}, 90: {Lng: 1}, 180: {Lat: -1}, 270: {Lng: -1}} {
		to := from.Toward(bearing, 500)
		north, east := to.Lat-from.Lat, math.Remainder(to.Lng-from.Lng, 360)
		if math.Abs(north) > 1e-6 && north*want.Lat <= 0 || math.Abs(east) > 1e-6 && east*want.Lng <= 0 {
			t.Errorf("500 m toward %v° of %v is %v", bearing, from, to)
		}
	}
}
