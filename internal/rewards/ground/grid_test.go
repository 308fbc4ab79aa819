package ground_test

import (
	"math"
	"testing"

	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func TestConstants(t *testing.T) {
	for _, off := range []float64{ground.HalfUnitOff, ground.HalfMeterOff, ground.QuarterOff - 0.5} {
		if math.Abs(off) > 0.5 {
			t.Errorf("a constant is %v off", off)
		}
	}
}

// The grid does not depend on how cosines are computed: no row is so close to having
// half a square that any way of 12 digits would round it otherwise.
func TestGrid_SquaresInRow(t *testing.T) {
	closest := 1.0
	for i := int64(0); i < ground.AllRows/2; i += int64(level.Rounds(101, 1, 1)) {
		lat := (float64(i)+0.5)*0.000045 - 90
		exact := 8_000_000 * math.Sin((lat+90)*math.Pi/180)
		if got := ground.SquaresInRow(i); float64(got) != math.Round(exact) || got < 3 {
			t.Fatalf("row %d has %d squares; want %v", i, got, exact)
		}
		if mirrored := ground.SquaresInRow(ground.AllRows - 1 - i); mirrored != ground.SquaresInRow(i) {
			t.Fatalf("row %d has %d squares in the north", i, mirrored)
		}
		closest = min(closest, math.Abs(exact-math.Floor(exact)-0.5))
	}
	if closest < 1e-8 {
		t.Errorf("a row is %v squares from being rounded otherwise", closest)
	}
}

func TestSine(t *testing.T) {
	for _, degrees := range []float64{0, 1e-9, 1e-5, 0.1, 1, 29, 30, 45, 60, 89, 89.999, 90} {
		x := degrees * math.Pi / 180
		got := float64(ground.Sine(uint64(x*ground.One))) / ground.One
		if want := math.Sin(x); math.Abs(got-want) > 2e-16 {
			t.Errorf("the sine of %v° is %v; want %v", degrees, got, want)
		}
	}
}

func TestPlaceOf(t *testing.T) {
	for point, want := range map[geo.Point]ground.Place{
		{Lat: 40.7532123, Lng: -73.9822}:  {Lat: 407532123, Lng: -739822000},
		{Lat: 90, Lng: 180}:               {Lat: 900000000, Lng: 1800000000},
		{Lat: -90, Lng: -180}:             {Lat: -900000000, Lng: -1800000000},
		{Lat: 0.00000006, Lng: -0.000000}: {Lat: 1, Lng: 0},
	} {
		if got := ground.PlaceOf(point); got != want {
			t.Errorf("%v is at %v; want %v", point, got, want)
		}
	}
}
