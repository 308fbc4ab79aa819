package beacon_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestFacts_None(t *testing.T) {
	for _, none := range []beacon.Facts{{}, {Outside: 1440}, {Tier: beacon.Premium}} {
		if !none.None() {
			t.Errorf("%+v leaves a trace", none)
		}
	}
	for _, some := range []beacon.Facts{{Expected: 1}, {Closed: 1}, {Excused: 1}, {Bytes: 1}} {
		if some.None() {
			t.Errorf("%+v leaves no trace", some)
		}
	}
}

func TestEarned(t *testing.T) {
	a, b := beacon.Earned{Availability: 1, Performance: 20, Utilization: 300}, beacon.Earned{Availability: 4000, Performance: 50000, Utilization: 600000}
	if got := a.Plus(b); got != (beacon.Earned{Availability: 4001, Performance: 50020, Utilization: 600300}) || got.Total() != 654321 {
		t.Errorf("%v and %v are %v, %s in all", a, b, got, got.Total())
	}
}
