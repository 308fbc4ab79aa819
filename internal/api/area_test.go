package api_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/beacon-wifi/beacon/internal/api"
)

func TestKm2(t *testing.T) {
	for _, tc := range []struct {
		area, without float64
		whole, rest   string
	}{
		{0, 0, "0", "0"},
		{-1, 0, "0", "0"},
		{1, 0.25, "1", "0.75"},
		{1e-12, 0, "0.000000000001", "0.000000000001"},
		{4e-13, 0, "0", "0"},
		{6e-13, 0, "0.000000000001", "0.000000000001"},
		{0.9999999999999, 0, "1", "1"},
		{2.1, 1.9, "2.1", "0.2"},
		{0.1, 0.2, "0.1", "0"},
		{510_065_621.75, 1.5, "510065621.75", "510065620.25"}, // the whole Earth
	} {
		if whole, rest := api.Km2(tc.area, tc.without); whole != tc.whole || rest != tc.rest {
			t.Errorf("%v and without %v: %s, %s; want %s, %s", tc.area, tc.without, whole, rest, tc.whole, tc.rest)
		}
	}
}

// What is written is within half a square millimetre, and differences are exact.
func TestKm2_Exact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		area := rapid.Float64Range(0, 6e8).Draw(t, "area")
		part := area * rapid.Float64Range(0, 1).Draw(t, "part")
		whole, rest := api.Km2(area, part)
		less, _ := api.Km2(part, 0)
		var n [3]big.Rat
		for i, text := range []string{whole, rest, less} {
			if _, ok := n[i].SetString(text); !ok {
				t.Fatalf("%q is no number", text)
			}
		}
		if new(big.Rat).Add(&n[1], &n[2]).Cmp(&n[0]) != 0 {
			t.Errorf("%s + %s is not %s", rest, less, whole)
		}
		off, _ := new(big.Rat).Sub(&n[0], new(big.Rat).SetFloat64(area)).Float64()
		if math.Abs(off) > 0.5001e-12 {
			t.Errorf("%v is written as %s", area, whole)
		}
	})
}

func TestDegrees(t *testing.T) {
	for degrees, want := range map[float64]string{
		0: "0", -1e-9: "0", 1e-7: "0.0000001", -1e-7: "-0.0000001", -73.9841: "-73.9841", 179.99999996: "180", -180: "-180", 40.70000004: "40.7", 89.12345678: "89.1234568",
	} {
		if got := api.Degrees(degrees); got != want {
			t.Errorf("%v is written as %s; want %s", degrees, got, want)
		}
	}
}
