package bench

import (
	"fmt"
	"math"
	"testing"

	"github.com/beacon-wifi/beacon/internal/geo"
)

const (
	nearbyRadius = 1000 // metres
	nearbyLimit  = 20
)

// contestant is a server that knows who is nearby.
type contestant struct {
	name, does string
	target     string // of Beacon's share of its cost

	// ask gives the nearest of a place, nearest first.
	ask func(at geo.Point) ([]neighbour, error)

	// drive asks n questions from the first on, over a connection of that number.
	drive func(c, first, n int) error

	cpu     func() float64 // seconds
	perTurn int            // requests: fewer where each takes long
	size    string         // what a hotspot takes

	used  float64 // seconds of CPU
	asked int
}

// neighbour is a hotspot that was found.
type neighbour struct {
	id     string
	item   string // its JSON, without the distance
	meters float64
}

// perRequest is the CPU time of a request in microseconds.
func (c *contestant) perRequest() float64 { return c.used / float64(c.asked) * 1e6 }

// take asks one turn's questions, going on where the last turn ended: who is
// asked the same again and again has it in the processor's cache.
func (c *contestant) take(b *testing.B, turn, perTurn int) {
	b.Helper()
	n := perTurn / connections
	together(b, func(client int) error { return c.drive(client, turn*perTurn+client*n, n) })
}

// compete lets all take turns.
func compete(b *testing.B, all []*contestant) {
	b.Helper()
	for _, c := range all {
		c.take(b, 0, 10*c.perTurn) // warm it up
		c.used = -c.cpu()
	}
	for turn := range turns {
		for _, c := range all {
			c.take(b, turn, c.perTurn)
		}
	}
	for _, c := range all {
		c.used += c.cpu()
		c.asked = turns * c.perTurn
	}
}

// benchPeersNearby measures what it costs to find the 20 nearest within a
// kilometre, of a million. The targets: 1.4 × the bare handler, 1/14 of Redis, 1/25
// of PostGIS, and 1.3 × the cost among a hundredth of the hotspots
// that stand as close.
func benchPeersNearby(b *testing.B) {
	b.ReportMetric(0, "ns/op") // the tables say what there is to say
	n := monthHotspots()
	large, small := newPeerWorld(b, n), newPeerWorld(b, n/100)
	items := large.items(b)
	ours, few := onBeacon(b, "Beacon", large, n), onBeacon(b, "Beacon", small, n/100)
	few.does, few.target = fmt.Sprintf("the same among %d hotspots that stand as close", n/100), "1.3"
	few.size = "" // mostly what a server takes without any
	limit := onBare(b, large)
	peers := append([]*contestant{onRedis(b, large, items)}, onPostGIS(b, large, items)...)
	for _, peer := range peers {
		agree(b, ours, peer, large.places)
	}
	all := append([]*contestant{ours, limit, few}, peers...)
	compete(b, all)

	t := table{
		title:   fmt.Sprintf("Nearby: the %d nearest within %d m, of %d hotspots (load average %s)", nearbyLimit, nearbyRadius, n, loadAverage()),
		columns: []string{"System", "What it does", "CPU a request", "Beacon's share of it", "Target", "Size of a hotspot"},
	}
	row := func(c *contestant) {
		share := ours.perRequest() / c.perRequest()
		t.add(c.name, c.does, fmt.Sprintf("%.1f µs", c.perRequest()), fraction(share), c.target, c.size)
	}
	for _, c := range all {
		row(c)
	}
	t.print()
}

// fraction spells what is far below 1 as one part of many.
func fraction(share float64) string {
	if share > 0.5 {
		return fmt.Sprintf("%.2f", share)
	}
	return fmt.Sprintf("1/%.1f", math.Round(10/share)/10)
}
