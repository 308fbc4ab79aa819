package openfeeds_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// BenchmarkEdition makes an edition of a million hotspots.
func BenchmarkEdition(b *testing.B) {
	n := million(b)
	for b.Loop() {
		n.now = n.now.Add(time.Minute)
		n.get("/open/collections")
	}
}

// BenchmarkGeoJSON writes the feed of a million hotspots.
func BenchmarkGeoJSON(b *testing.B) {
	n := million(b)
	for b.Loop() {
		if err := n.feeds.WriteGeoJSON(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkItems searches a million hotspots for a box without any.
func BenchmarkItems(b *testing.B) {
	n := million(b)
	for b.Loop() {
		n.get("/open/collections/hotspots/items?bbox=50,50,51,51")
	}
}

// BenchmarkTiles draws a million hotspots, and then one tile.
func BenchmarkTiles(b *testing.B) {
	n := million(b)
	began := time.Now()
	n.get("/open/tiles/0/0/0.mvt")
	b.ReportMetric(time.Since(began).Seconds(), "s/first")
	for b.Loop() {
		n.get("/open/tiles/0/0/0.mvt")
	}
}

func million(b *testing.B) *network {
	b.Helper()
	n := newNetwork(api.Limits{}, "http://x")
	err := n.fleet.Load(func(add func(beacon.Hotspot) error) error {
		for i := range 1_000_000 {
			if err := add(beacon.Hotspot{
				ID: beacon.HotspotID(fmt.Sprintf("hs_01m7fh87h4ephbpxmp%08d", i)), Version: 1, Type: beacon.Public, Name: "a public place",
				Location: beacon.Location{Point: geo.Point{Lat: float64(i%1000) / 100, Lng: float64(i/1000) / 100}, Address: "some street, some town", VerifiedAt: noon},
				Device:   beacon.Device{SSID: "ssid", LinkedAt: noon},
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}
