package beacon_test

import (
	"math"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Decision N14, on both sides of each border.
func TestSignalOf(t *testing.T) {
	for dbm, want := range map[float64]string{
		0: "excellent", -55: "excellent", -55.01: "good", -67: "good", -67.01: "fair", -75: "fair", -75.01: "poor", -120: "poor", math.Inf(-1): "poor",
	} {
		if got := beacon.SignalOf(dbm).String(); got != want {
			t.Errorf("%v dBm is %s; want %s", dbm, got, want)
		}
	}
	if got := beacon.NoSignal.String(); got != "unknown" {
		t.Errorf("no signal is %s", got)
	}
}

func TestTierOf(t *testing.T) {
	test := func(down, up, latency float32) beacon.SpeedTest {
		return beacon.SpeedTest{DownMbps: down, UpMbps: up, LatencyMs: latency}
	}
	twice := func(s beacon.SpeedTest) []beacon.SpeedTest { return []beacon.SpeedTest{s, s} }
	for _, tc := range []struct {
		tests []beacon.SpeedTest
		want  string
	}{
		{nil, "standard"},
		{[]beacon.SpeedTest{test(1000, 1000, 1)}, "standard"}, // one is not enough
		{twice(test(100, 10, 49.9)), "premium"},
		{twice(test(99.9, 10, 49.9)), "enhanced"},
		{twice(test(100, 9.9, 49.9)), "enhanced"},
		{twice(test(100, 10, 50)), "enhanced"},
		{twice(test(50, 5, 74.9)), "enhanced"},
		{twice(test(49.9, 5, 74.9)), "standard"},
		{twice(test(50, 4.9, 74.9)), "standard"},
		{twice(test(50, 5, 75)), "standard"},
		{[]beacon.SpeedTest{test(190, 18, 1), test(10, 2, 98)}, "premium"}, // the mean counts
		{[]beacon.SpeedTest{test(1000, 1000, 1), test(1, 1, 1), test(1, 1, 1), test(1, 1, 400)}, "standard"},
	} {
		if got := beacon.TierOf(tc.tests).String(); got != tc.want {
			t.Errorf("%v: %s; want %s", tc.tests, got, tc.want)
		}
	}
}

func TestSpeedTest_Any(t *testing.T) {
	if (beacon.SpeedTest{}).Any() || !(beacon.SpeedTest{LatencyMs: 0.1}).Any() {
		t.Error("a speed test is one that has a latency")
	}
}

func TestLoad(t *testing.T) {
	for _, tc := range []struct {
		status              beacon.Status
		clients, room, want int
	}{
		{beacon.Online, 0, 10, 0},
		{beacon.Online, 1, 3, 3333},
		{beacon.Online, 2, 3, 6667},
		{beacon.Online, 20, 10, 10_000},
		{beacon.Online, 3, 0, 0},
		{beacon.Offline, 3, 10, 0},
		{beacon.Pending, 3, 10, 0},
	} {
		if got := beacon.Load(tc.status, tc.clients, tc.room); got != tc.want {
			t.Errorf("%d clients of %d, %s: %d; want %d", tc.clients, tc.room, tc.status, got, tc.want)
		}
	}
}
