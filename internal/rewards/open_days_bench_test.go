package rewards_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
)

// BenchmarkSummary_Places asks what 100 hotspots have earned, of which each has 20
// neighbours, or all stand within 10 m of each other, with 2,000 others.
func BenchmarkSummary_Places(b *testing.B) {
	for name, metres := range map[string]float64{"city": 5000, "crowd": 10} {
		b.Run(name, func(b *testing.B) {
			began := at("2026-10-25T00:00:00Z")
			w := newWorld(b, openSQLite(b, began), began, 2)
			s := newStreet(b, w, beacon.DayOf(began))
			random := rand.New(rand.NewPCG(1, 1))
			var block geo.Point
			for n := range 2100 {
				user := w.users[1]
				if n%21 == 0 {
					user = w.users[0]
					block = geo.Point{Lat: 40 + random.Float64()*metres/111e3, Lng: -74 + random.Float64()*metres/85e3}
				}
				spread := min(metres, 100)
				hotspot := s.registerAt(b, user, geo.Point{Lat: block.Lat + random.Float64()*spread/111e3, Lng: block.Lng + random.Float64()*spread/85e3})
				served := 600 + random.IntN(700)
				s.acts(hotspot, random.IntN(1440-served), beacon.Facts{Served: served, Expected: 1440, Bytes: random.Uint64N(1e12)})
			}
			r := w.rewards(w.db.Rewards())
			if err := r.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				w.now = began.Add((w.now.Sub(began) + time.Minute) % (24 * time.Hour)) // nothing is kept
				sum, err := r.Summary(b.Context(), anyone, earnings.SummaryQuery{User: w.users[0], Period: earnings.Current})
				if err != nil || len(sum.Hotspots) != 100 {
					b.Fatal(len(sum.Hotspots), err)
				}
			}
		})
	}
}
