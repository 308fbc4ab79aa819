package rewards_test

import (
	"math"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Decision D205. Policy 2 pays 1 credit a day, and up to half of it more by tier; the
// ground reaches 50 m.
func TestEstimate(t *testing.T) {
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	db := openSQLite(t, now)
	w := newWorld(t, db, now, 0)
	w.policies = policy.BuiltIn()
	r := w.rewards(db.Rewards())
	here := geo.Point{Lat: 40.7, Lng: -74}
	north := func(meters float64) geo.Point {
		const meter = 1 / 111_194.93 // of latitude, in degrees
		return geo.Point{Lat: here.Lat + meters*meter, Lng: here.Lng}
	}
	const credit = float64(beacon.Credit)
	estimate := func(neighbours []earnings.Neighbour, planned ...geo.Point) earnings.Estimate {
		t.Helper()
		e, err := r.Estimate(t.Context(), here, neighbours, planned)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}

	alone := estimate(nil)
	if want := (earnings.Estimate{Free: 1, Most: 45 * beacon.Credit}); alone != want {
		t.Errorf("alone: %+v; want %+v", alone, want)
	}

	// Two discs of radius 1 whose middles are d apart share 2 acos(d/2) - d/2 √(4-d²).
	lens := func(d float64) float64 { return (2*math.Acos(d/2) - d/2*math.Sqrt(4-d*d)) / math.Pi }
	for _, meters := range []float64{0, 10, 25, 50, 80, 101} {
		want := 1 - lens(min(2, meters/50))
		for what, e := range map[string]earnings.Estimate{
			"a neighbour":     estimate([]earnings.Neighbour{{Place: north(meters)}}),
			"a planned place": estimate(nil, north(meters)),
		} {
			if math.Abs(e.Free-want) > 0.02 || math.Abs(float64(e.Most)/credit-45*e.Free) > 0.001 {
				t.Errorf("%s %v m away: %+v; want a share of %v", what, meters, e, want)
			}
			if e.Low+e.Middle+e.High != 0 {
				t.Errorf("%s %v m away: a range from fewer than %d neighbours: %+v", what, meters, earnings.MinNeighbours, e)
			}
		}
	}

	// A quarter earns less than low, half less than middle, a quarter more than high.
	far := north(2000)
	around := []earnings.Neighbour{
		{Place: far, Uptime: 9000},
		{Place: far, Uptime: 1000},
		{Place: far, Uptime: 10_000, Tier: beacon.Premium},
		{Place: far, Uptime: 5000},
		{Place: far, Uptime: 8000, Tier: beacon.Enhanced},
	}
	got := estimate(around)
	want := earnings.Estimate{Free: 1, Most: 45 * beacon.Credit, Neighbours: 5, Low: 15 * beacon.Credit, Middle: 27 * beacon.Credit, High: 30 * beacon.Credit}
	if got != want {
		t.Errorf("five neighbours: %+v; want %+v", got, want)
	}

	w.policies = policy.Devices()
	if e, err := w.rewards(db.Rewards()).Estimate(t.Context(), here, []earnings.Neighbour{{Place: here}}, nil); err != nil || e.Free != 1 || e.Most != 45*beacon.Credit {
		t.Errorf("devices are paid: %+v, %v; want all of the ground", e, err)
	}
}
