package openfeeds_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
)

// planned stands for the rules of rewards: what it returns depends on all that it is told.
func planned(_ context.Context, place geo.Point, nearby func(geo.Point, float64, int) []earnings.Neighbour) (earnings.Estimate, error) {
	e := earnings.Estimate{Free: 0.123456, Most: 123_456_789}
	for _, n := range nearby(place, 5000, 100) {
		e.Neighbours++
		e.Low += beacon.Amount(n.Uptime) * 1000
		e.High += beacon.Amount(n.Tier) * 1_111_111
		e.Free += geo.Distance(place, n.Place) / 1e6
	}
	return e, nil
}

// An estimate tells the rules of nothing but the hotspots that feeds show, with whole
// percents of uptime and every tier, and is coarse.
func TestEstimate(t *testing.T) {
	n := town(t, true)
	for i := range 5 { // homes all around, and at the place itself
		n.beat(n.add(t, beacon.Home, 90+i, geo.Point{Lat: 40.71 + float64(i)/1e4, Lng: -73.99}))
	}
	var told [][]earnings.Neighbour
	n.plan = func(ctx context.Context, place geo.Point, nearby func(geo.Point, float64, int) []earnings.Neighbour) (earnings.Estimate, error) {
		told = append(told, nearby(place, 3000, 30))
		return planned(ctx, place, nearby)
	}
	n.serve(edge.Limits{}, nil)
	const path = "/open/estimate?lat=40.71&lng=-73.99"
	body := strings.TrimSpace(n.get(path).Body.String())
	if want := `{"lat":40.71,"lng":-73.99,"unit":"credit","days":30,"free_ground":0.18,"neighbours":40,"most":120,"expected":{"low":`; !strings.HasPrefix(body, want) {
		t.Errorf("the estimate is %s; want %s…", body, want)
	}
	if want := `"high":89}}`; !strings.HasSuffix(body, want) { // 40 × 2 × 1.111111
		t.Errorf("the estimate is %s; want …%s", body, want)
	}
	if len(told) != 2 || len(told[0]) != len(told[1]) || len(told[0]) == 0 || len(told[0]) > 30 {
		t.Fatalf("the rules were told %v", told)
	}
	open := map[geo.Point]bool{}
	for _, f := range collection(t, n.get("/open/hotspots.geojson")).Features {
		open[geo.Point{Lat: f.Geometry.Coordinates[1], Lng: f.Geometry.Coordinates[0]}] = true
	}
	for which, neighbours := range told {
		last := 0.0
		for _, of := range neighbours {
			away := geo.Distance(geo.Point{Lat: 40.71, Lng: -73.99}, of.Place)
			if !open[of.Place] || of.Uptime%100 != 0 || of.Tier != []beacon.Tier{beacon.Standard, beacon.Premium}[which] || away < last || away > 3000 {
				t.Errorf("the rules were told of %+v, %v m away", of, away)
			}
			last = away
		}
	}
	if body := n.get("/open/estimate?lat=10&lng=10").Body.String(); !strings.Contains(body, `"neighbours":0,"most":120,"expected":null}`) {
		t.Errorf("where nobody is: %s", body)
	}
	n.feeds.HideUptime()
	if body := n.get(path).Body.String(); !strings.Contains(body, `"expected":null`) {
		t.Errorf("uptime is not public: %s", body)
	}
	for _, query := range []string{"", "?lat=1", "?lat=91&lng=0", "?lat=1&lng=1&limit=3", "?lat=1&lng=1&q=x"} {
		if w := n.get("/open/estimate" + query); w.Code != http.StatusBadRequest {
			t.Errorf("%q: %d", query, w.Code)
		}
	}
}

// An estimate counts as five requests.
func TestEstimate_Charge(t *testing.T) {
	n := newNetwork(edge.Limits{Feeds: ratelimit.Limit{Every: time.Hour, Burst: 12}}, "http://x")
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		if w := n.get("/open/estimate?lat=1&lng=1"); w.Code != want {
			t.Errorf("estimate %d: %d; want %d", i, w.Code, want)
		}
	}
	if w := n.get("/open/network.json"); w.Code != http.StatusOK {
		t.Errorf("what costs less: %d", w.Code)
	}
}

// Where rewards are off, nothing is estimated, and the figures of the network say so.
func TestEstimate_Off(t *testing.T) {
	n := newNetwork(edge.Limits{}, "http://x")
	n.off = true
	if w := n.get("/open/estimate?lat=1&lng=1"); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "earn nothing") {
		t.Errorf("the estimate is %d %s", w.Code, w.Body)
	}
	if w := n.get("/open/network.json"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"rewards":false`) {
		t.Errorf("the network is %d %s", w.Code, w.Body)
	}
	for off, want := range map[bool]bool{false: true, true: false} {
		n.off = off
		if w := n.get("/open", "Accept", "text/html"); strings.Contains(w.Body.String(), "/open/estimate?") != want {
			t.Errorf("rewards are off: %v; the page of the feeds has an estimate: %v", off, !want)
		}
	}
}
