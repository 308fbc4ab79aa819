package beacon_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestType_DefaultsAndRadius(t *testing.T) {
	for _, test := range []struct {
		kind        beacon.Type
		connections int
		bandwidth   float64
		radius      float64
	}{
		{beacon.Home, 16, 50, 50}, {beacon.Business, 64, 200, 75}, {beacon.Public, 128, 300, 100},
	} {
		got := beacon.DefaultSettings(test.kind)
		want := beacon.Settings{MaxConnections: test.connections, BandwidthLimitMbps: test.bandwidth}
		if got != want || !test.kind.Valid() {
			t.Errorf("%s: %v; want %v, and a valid type", test.kind, got, want)
		}
		if r := got.CoverageRadius(test.kind); r != test.radius {
			t.Errorf("%s reaches %v m; want %v", test.kind, r, test.radius)
		}
		got.CoverageRadiusM = 320.5
		if r := got.CoverageRadius(test.kind); r != 320.5 {
			t.Errorf("%s, measured, reaches %v m; want 320.5", test.kind, r)
		}
	}
	for _, bad := range []beacon.Type{"", "Home", "office"} {
		if bad.Valid() {
			t.Errorf("%q is a type", bad)
		}
	}
}
