package geo_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/geo"
)

func TestBox_Contains(t *testing.T) {
	city := geo.Box{North: 41, South: 40, East: -73, West: -75}
	pacific := geo.Box{North: 10, South: -10, East: -179, West: 179}
	arctic := geo.Box{North: 90, South: 80, East: 10, West: 0}
	world := geo.Box{North: 90, South: -90, East: 180, West: -180}
	tests := []struct {
		name string
		box  geo.Box
		p    geo.Point
		want bool
	}{
		{"inside", city, geo.Point{Lat: 40.5, Lng: -74}, true},
		{"corner", city, geo.Point{Lat: 41, Lng: -75}, true},
		{"other corner", city, geo.Point{Lat: 40, Lng: -73}, true},
		{"north of it", city, geo.Point{Lat: math.Nextafter(41, 42), Lng: -74}, false},
		{"south of it", city, geo.Point{Lat: 39.9, Lng: -74}, false},
		{"east of it", city, geo.Point{Lat: 40.5, Lng: math.Nextafter(-73, 0)}, false},
		{"west of it", city, geo.Point{Lat: 40.5, Lng: -75.1}, false},
		{"swapped", city, geo.Point{Lat: -74, Lng: 40.5}, false},
		{"not a number", city, geo.Point{Lat: math.NaN(), Lng: -74}, false},
		{"crossing, west side", pacific, geo.Point{Lng: 179.5}, true},
		{"crossing, east side", pacific, geo.Point{Lng: -179.5}, true},
		{"crossing, on the line", pacific, geo.Point{Lng: 180}, true},
		{"crossing, on the line again", pacific, geo.Point{Lng: -180}, true},
		{"crossing, far side", pacific, geo.Point{}, false},
		{"pole by any longitude", arctic, geo.Point{Lat: 90, Lng: -120}, true},
		{"beside the pole", arctic, geo.Point{Lat: 89.9, Lng: -120}, false},
		{"other pole", arctic, geo.Point{Lat: -90, Lng: 5}, false},
		{"180 in a box from -180", geo.Box{North: 1, South: -1, East: -170, West: -180}, geo.Point{Lng: 180}, true},
		{"-180 in a box up to 180", geo.Box{North: 1, South: -1, East: 180, West: 170}, geo.Point{Lng: -180}, true},
		{"180 in neither", geo.Box{North: 1, South: -1, East: 179, West: 170}, geo.Point{Lng: 180}, false},
		{"world", world, geo.Point{Lat: -33, Lng: 151}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.box.Contains(tt.p); got != tt.want {
				t.Errorf("%+v.Contains(%v) = %v; want %v", tt.box, tt.p, got, tt.want)
			}
		})
	}
}

func TestBox_Valid(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		box  geo.Box
		want bool
	}{
		{geo.Box{North: 1, South: 0, East: 1, West: 0}, true},
		{geo.Box{North: 90, South: -90, East: 180, West: -180}, true},
		{geo.Box{North: 1, South: 0, East: -179, West: 179}, true},
		{geo.Box{North: 0, South: 0, East: 1, West: 0}, false},
		{geo.Box{North: 0, South: 1, East: 1, West: 0}, false},
		{geo.Box{North: 1, South: 0, East: 1, West: 1}, false},
		{geo.Box{North: 1, South: 0, East: -180, West: 180}, false},
		{geo.Box{North: 91, South: 0, East: 1, West: 0}, false},
		{geo.Box{North: 1, South: 0, East: 181, West: 0}, false},
		{geo.Box{North: nan, South: 0, East: 1, West: 0}, false},
		{geo.Box{North: 1, South: nan, East: 1, West: 0}, false},
		{geo.Box{North: 1, South: 0, East: nan, West: 0}, false},
		{geo.Box{North: 1, South: 0, East: 1, West: nan}, false},
	}
	for _, tt := range tests {
		if got := tt.box.Valid(); got != tt.want {
			t.Errorf("%+v.Valid() = %v; want %v", tt.box, got, tt.want)
		}
	}
}

func TestBox_Area(t *testing.T) {
	const sphere = 4 * math.Pi * geo.EarthRadius * geo.EarthRadius
	tests := []struct {
		name string
		box  geo.Box
		want float64
	}{
		{"world", geo.Box{North: 90, South: -90, East: 180, West: -180}, sphere},
		{"hemisphere", geo.Box{North: 90, South: 0, East: 180, West: -180}, sphere / 2},
		{"octant", geo.Box{North: 90, South: 0, East: 90, West: 0}, sphere / 8},
		{"octant across 180", geo.Box{North: 0, South: -90, East: -135, West: 135}, sphere / 8},
		{"tropics to 30°, half of each hemisphere", geo.Box{North: 30, South: -30, East: 180, West: -180}, sphere / 2},
		// A metre or so: a square on a plane, but for a part in 10^7.
		{"tiny", geo.Box{North: 40.00001, South: 40, East: 0.00001, West: 0}, 1.1119507 * 1.1119507 * math.Cos(40*math.Pi/180)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.box.Area(); math.Abs(got/tt.want-1) > 1e-6 {
				t.Errorf("%+v.Area() = %v; want %v", tt.box, got, tt.want)
			}
		})
	}
}

// Boxes that tile a box have its area, however they are cut.
func TestBox_AreaAddsUp(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		box := geo.Box{South: -90 + 90*random.Float64(), North: 90 * random.Float64(), West: -180, East: 180}
		lat, lng := box.South+(box.North-box.South)*random.Float64(), random.Float64()*360-180
		a, b, c, d := box, box, box, box
		a.South, b.South, c.North, d.North = lat, lat, lat, lat
		a.East, c.East, b.West, d.West = lng, lng, lng, lng
		sum := a.Area() + b.Area() + c.Area() + d.Area()
		if math.Abs(sum/box.Area()-1) > 1e-12 {
			t.Fatalf("%+v cut at %v, %v: parts have %v m², whole %v m²", box, lat, lng, sum, box.Area())
		}
	}
}

func TestAround(t *testing.T) {
	for name, c := range map[string]struct {
		points []geo.Point
		want   geo.Box
	}{
		"one":           {[]geo.Point{{Lat: 52.5, Lng: 13.4}}, geo.Box{North: 52.5, South: 52.5, East: 13.4, West: 13.4}},
		"a city":        {[]geo.Point{{Lat: 52.5, Lng: 13.4}, {Lat: 52.4, Lng: 13.6}}, geo.Box{North: 52.5, South: 52.4, East: 13.6, West: 13.4}},
		"far apart":     {[]geo.Point{{Lat: 40, Lng: -74}, {Lat: -1, Lng: 37}}, geo.Box{North: 40, South: -1, East: 37, West: -74}},
		"across":        {[]geo.Point{{Lat: -17, Lng: 178.5}, {Lat: -16, Lng: -179.5}}, geo.Box{North: -16, South: -17, East: -179, West: 178}},
		"on the border": {[]geo.Point{{Lat: -17, Lng: 180}, {Lat: -16, Lng: -179.5}}, geo.Box{North: -16, South: -17, East: -179, West: 179}},
		"all around":    {[]geo.Point{{Lng: -170}, {Lng: -60}, {Lng: 50}, {Lng: 160}}, geo.Box{East: -169, West: -60}},
	} {
		got, found := geo.Around(slices.Values(c.points))
		if !found || got != c.want {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
		for _, p := range c.points {
			if !got.Contains(p) {
				t.Errorf("%s: %v is not in %v", name, p, got)
			}
		}
	}
	if _, found := geo.Around(slices.Values([]geo.Point(nil))); found {
		t.Error("there is a box around nothing")
	}
}
