package fleet_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/id"
)

// What a page of a million hotspots costs staff: one of a hundred waits to be
// verified, and of the others half are online.
func BenchmarkList(b *testing.B) {
	f := newFleet()
	all := make([]beacon.Hotspot, 1_000_000)
	var beats []heartbeat.Beat
	for n := range all {
		h := beacon.Hotspot{
			ID: beacon.HotspotID(id.New(beacon.HotspotPrefix, noon.Add(time.Duration(n-len(all))*time.Millisecond))), Version: 1, Type: beacon.Public,
			Name: fmt.Sprintf("Corner of street %d and %d", n%977, n%1013),
		}
		h.Location.Point = geo.Point{Lat: float64(n%1000) / 100, Lng: float64(n/1000) / 100}
		if n%100 != 0 {
			h.Location.VerifiedAt, h.Device.LinkedAt = noon.Add(-time.Hour), noon.Add(-time.Hour)
			if n%2 == 0 {
				beats = append(beats, beatOf(h, noon, 1))
			}
		}
		all[n] = h
	}
	if err := f.Apply(all...); err != nil {
		b.Fatal(err)
	}
	f.Replay(beats)
	for _, q := range []struct {
		name string
		in   fleet.ListQuery
	}{
		{"all-first", fleet.ListQuery{Page: beacon.Page{Number: 1}}},
		{"all-last", fleet.ListQuery{Page: beacon.Page{Number: 10_000}}},
		{"waiting", fleet.ListQuery{Status: beacon.Pending, Verified: beacon.Some(false), Page: beacon.Page{Number: 50}}},
		{"waiting-searched", fleet.ListQuery{Verified: beacon.Some(false), Text: "street 976", Page: beacon.Page{Number: 1}}},
		{"found-nowhere", fleet.ListQuery{Text: "no such name", Page: beacon.Page{Number: 1}}},
		{"found-everywhere", fleet.ListQuery{Text: "street", Page: beacon.Page{Number: 1}}},
		{"online", fleet.ListQuery{Status: beacon.Online, Page: beacon.Page{Number: 1}}},
	} {
		b.Run(q.name, func(b *testing.B) {
			q.in.Page.Size, q.in.Now = 100, noon
			looked := 0
			q.in.Charge = func(n int) error { looked = n; return nil }
			b.ReportAllocs()
			for b.Loop() {
				if page, err := f.List(q.in); err != nil || len(page.Items) == 0 && q.name != "found-nowhere" {
					b.Fatalf("%d items, %v", len(page.Items), err)
				}
			}
			b.ReportMetric(float64(looked), "looked-at")
		})
	}
}
