package openfeeds_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// The figures of the network are of public hotspots alone, and their traffic is one figure
// that no single hotspot can be told from.
func TestTotals(t *testing.T) {
	var asked []string
	carried := map[string]map[int]uint64{} // by day and number
	unknown, failing := "2026-11-15", false
	n := town(t, true)
	n.serve(edge.Limits{}, func(_ context.Context, day beacon.Day, each func(beacon.HotspotID, uint64)) (bool, error) {
		asked = append(asked, day.String())
		if failing {
			return true, errors.New("the database is away")
		}
		for number, bytes := range carried[day.String()] {
			each(beacon.HotspotID(fmt.Sprintf("hs_01m7fh87h4ephbpxmpvwb%05d", number)), bytes)
		}
		return day.String() != unknown, nil
	})
	want := func(what, body string, days ...string) {
		t.Helper()
		asked = nil
		if got := strings.TrimSpace(n.get("/open/network.json").Body.String()); got != body {
			t.Errorf("%s: %s; want %s", what, got, body)
		}
		if fmt.Sprint(asked) != fmt.Sprint(days) {
			t.Errorf("%s: asked for %v; want %v", what, asked, days)
		}
	}
	some := func(bytes uint64, numbers ...int) map[int]uint64 {
		day := map[int]uint64{}
		for _, number := range numbers {
			day[number] = bytes
		}
		return day
	}
	days := func(from, to int) (all []string) {
		for day := from; day <= to; day++ {
			all = append(all, fmt.Sprintf("2026-11-%02d", day))
		}
		return all
	}
	const counts = `{"hotspots":40,"online":26,"traffic":`
	failing = true
	want("while the database is away", counts+`null,"rewards":true}`, "2026-11-01")
	want("within the minute", counts+`null,"rewards":true}`)
	failing = false
	n.now = n.now.Add(time.Minute)
	carried["2026-11-02"] = some(7e9, 0, 1, 2, 3)                // too few
	carried["2026-11-03"] = some(7e9, 0, 1, 2, 3, 100, 101, 200) // homes, and one that waits
	want("a day is not closed", counts+`null,"rewards":true}`, days(1, 15)...)
	want("within the minute", counts+`null,"rewards":true}`)
	unknown = ""
	carried["2026-11-15"] = some(1234e6, 0, 1, 2, 3, 4, 100)
	n.now = n.now.Add(time.Minute)
	want("it is closed", counts+`{"month":"2026-11","gb":6.2},"rewards":true}`, "2026-11-15")
	n.now = n.now.Add(time.Minute)
	want("all is known", counts+`{"month":"2026-11","gb":6.2},"rewards":true}`)
	carried["2026-11-16"] = some(1<<63, 0, 1, 2, 3, 4, 5) // not to be believed
	n.now = n.now.Add(24 * time.Hour)
	want("on the next day", `{"hotspots":40,"online":0,"traffic":{"month":"2026-11","gb":60000},"rewards":true}`, "2026-11-16")
	n.now = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	want("on the first of a month", `{"hotspots":40,"online":0,"traffic":{"month":"2026-11","gb":60000},"rewards":true}`, days(17, 30)...)
	n.now = n.now.Add(24 * time.Hour)
	want("on the second", `{"hotspots":40,"online":0,"traffic":null,"rewards":true}`, "2026-12-01")
}
