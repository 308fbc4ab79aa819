package trust_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
)

// disc is a hotspot on the map.
type disc string

func (d disc) ID() string  { return string(d) }
func (disc) Pending() bool { return false }

// TestHonest_Squares compares the shares of the hotspots of New York, the oldest first, with
// the exact areas of maps: how far squares are off in a city. D221 has the figures.
func TestHonest_Squares(t *testing.T) {
	t.Parallel()
	all := newYork(t)
	hotspots, served := make([]ground.Hotspot, len(all)), span(0, 1440)
	for i := range all {
		hotspots[i] = ground.Hotspot{Place: all[i].place, Served: &served}
	}
	shares, err := ground.Divide(t.Context(), hotspots, int(radius))
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) geo.Point {
		return geo.Point{Lat: float64(all[i].place.Lat) / 1e7, Lng: float64(all[i].place.Lng) / 1e7}
	}
	largest, squares, shared := 0.0, 0.0, 0
	for i := range all {
		tree := coverage.New[disc]()
		area := func() float64 { return tree.Snapshot().Area(geo.Box{South: -90, North: 90, West: -180, East: 180}) }
		add := func(j int) {
			if err := tree.Apply([]coverage.Disc[disc]{{Item: disc(strconv.Itoa(j)), Place: at(j), RadiusM: radius, Online: true}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		older := 0
		for j := range i {
			if geo.Distance(at(i), at(j)) <= 2*radius {
				add(j)
				older++
			}
		}
		if older == 0 {
			continue
		}
		before := area()
		add(i)
		want := (area() - before) * 1e6 / (math.Pi * radius * radius)
		got := float64(shares[i].Weight()) / 1.44e9
		off := math.Abs(got - want)
		shared++
		squares += off * off
		largest = max(largest, off)
	}
	rms := math.Sqrt(squares / float64(shared))
	t.Logf("of %d, %d share ground: the largest difference is %.2f %%, the root mean square %.2f %%", len(all), shared, 100*largest, 100*rms)
	if shared < 1000 || largest > 0.02 || rms > 0.006 {
		t.Errorf("of %d shares the largest difference is %.2f %%, the root mean square %.2f %%", shared, 100*largest, 100*rms)
	}
}
