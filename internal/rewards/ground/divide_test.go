package ground_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
)

// minutes is a set of minutes of a day, from one to before another.
func minutes(from, to int) *beacon.Minutes {
	var m beacon.Minutes
	for i := from; i < to; i++ {
		m[i/64] |= 1 << (i % 64)
	}
	return &m
}

func divide(t testing.TB, hotspots []ground.Hotspot, radiusM int) []ground.Share {
	t.Helper()
	shares, err := ground.Divide(t.Context(), hotspots, radiusM)
	if err != nil {
		t.Fatal(err)
	}
	return shares
}

// A clone earns nothing while its senior serves, and all of the minutes in which it is
// away.
func TestDivide_Clone(t *testing.T) {
	for _, place := range []ground.Place{
		{407000000, -740000000},
		{0, 0},
		{0, 1800000000},
		{-337000000, -1800000000},
		{900000000, 123456789},
		{-900000000, 0},
		{899999000, 450000000},
	} {
		shares := divide(t, []ground.Hotspot{
			{place, minutes(0, 1000)},
			{place, minutes(500, 1440)},
			{place, minutes(0, 1440)},
			{place, nil},
		}, 50)
		n := shares[0].Squares
		if n < 300 || n > 330 {
			t.Fatalf("at %v a circle of 50 m has %d squares; want about 314", place, n)
		}
		for i, want := range []ground.Share{
			{Squares: n, Owned: 1000 * n},
			{Squares: n, Owned: 440 * n, Minutes: 500, Older: 1},
			{Squares: n, Minutes: 1440, Older: 2},
			{Squares: n},
		} {
			if shares[i] != want {
				t.Errorf("at %v hotspot %d got %+v; want %+v", place, i, shares[i], want)
			}
		}
		if got := shares[1].Weight(); got != 440_000_000 {
			t.Errorf("weight %d; want 440,000,000", got)
		}
	}
}

func TestDivide_Radius(t *testing.T) {
	for _, radius := range []int{-1, 0, ground.MinRadiusM - 1, ground.MaxRadiusM + 1} {
		if _, err := ground.Divide(t.Context(), nil, radius); err == nil {
			t.Errorf("a radius of %d m was accepted", radius)
		}
	}
}
