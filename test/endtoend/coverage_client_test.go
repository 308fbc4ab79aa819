//go:build linux

package endtoend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/test/harness"
)

// charted is what GET /coverage answers.
type charted struct {
	Bounds     struct{ North, South, East, West float64 }
	Count      int     `json:"hotspot_count"`
	AreaKm2    float64 `json:"coverage_area_km2"`
	Share      float64 `json:"coverage_percentage"`
	Aggregated bool
	Hotspots   []chartedItem
}

// chartedItem is a hotspot, or a cluster of them.
type chartedItem struct {
	ID       string
	Lat, Lng float64
	RadiusM  float64 `json:"radius_m"`
	Status   string
	Count    int
	Online   int `json:"online_count"`
}

const (
	anyZoom   = -1
	closeZoom = 14 // from which on hotspots are shown one by one (decision N20)
	maxItems  = 1000
)

func (b groundBox) query() string {
	return fmt.Sprintf("north=%v&south=%v&east=%v&west=%v", b.north, b.south, b.east, b.west)
}

func (b groundBox) fields() harness.Fields {
	return harness.Fields{"north": b.north, "south": b.south, "east": b.east, "west": b.west}
}

// turnedAway reports whether a server says that the machine has too much to do:
// nothing was done then, and the client is to ask again.
func turnedAway(status int, header http.Header) bool {
	return status == http.StatusServiceUnavailable && header.Get("Retry-After") != ""
}

// insist asks until it is not turned away. Who is has to wait for that, so it
// need not pause.
func insist(ctx context.Context, c *harness.Client, method, url string, body any) harness.Answer {
	for began := time.Now(); ; {
		a := c.Do(ctx, method, url, body)
		if !turnedAway(a.Status, a.Header) || time.Since(began) > harness.Patience {
			return a
		}
	}
}

// chart asks for the coverage of a box, and holds the answer to what is true of
// all of them.
func chart(ctx context.Context, c *harness.Client, s *harness.Server, box groundBox, zoom int) (charted, harness.Answer, error) {
	address := s.URL + "/v1/coverage?" + box.query()
	if zoom != anyZoom {
		address += fmt.Sprintf("&zoom=%d", zoom)
	}
	a := insist(ctx, c, http.MethodGet, address, nil)
	var got charted
	if a.Status != http.StatusOK {
		return got, a, fmt.Errorf("coverage answered %d %s %w", a.Status, a.Code, a.Err)
	}
	if err := json.Unmarshal(a.Data, &got); err != nil {
		return got, a, err
	}
	if problem := got.problem(box, zoom); problem != "" {
		return got, a, fmt.Errorf("%+v at zoom %d: %s: %.300s", box, zoom, problem, a.Data)
	}
	return got, a, nil
}

func mustChart(t testing.TB, c *harness.Client, s *harness.Server, box groundBox, zoom int) charted {
	t.Helper()
	got, _, err := chart(t.Context(), c, s, box, zoom)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// problem finds what is never true of an answer.
func (got charted) problem(box groundBox, zoom int) string {
	sum, seen := 0, map[string]bool{}
	for _, item := range got.Hotspots {
		if seen[item.ID] {
			return item.ID + " is there twice"
		}
		seen[item.ID] = true
		if problem := item.problem(got.Aggregated); problem != "" {
			return item.ID + " " + problem
		}
		sum += max(item.Count, 1)
	}
	far := zoom != anyZoom && zoom < closeZoom
	share := got.AreaKm2 * 1e6 / box.m2()
	switch {
	case groundBox{got.Bounds.North, got.Bounds.South, got.Bounds.East, got.Bounds.West} != box:
		return "it is about another box"
	case sum != got.Count:
		return fmt.Sprintf("the items stand for %d hotspots", sum)
	case len(got.Hotspots) > maxItems:
		return fmt.Sprintf("it has %d items", len(got.Hotspots))
	case got.Aggregated != (far || got.Count > maxItems):
		return "the wrong kind of items"
	case !(got.AreaKm2 >= 0) || !(got.Share >= 0 && got.Share <= 1):
		return "more or less than there is"
	case math.Abs(got.Share-share) > 1e-9*share+1e-6/box.m2(): // the area is rounded to a square millimetre
		return fmt.Sprintf("the area is %v of the box", share)
	}
	return ""
}

func (item chartedItem) problem(aggregated bool) string {
	switch {
	case item.RadiusM < 10 || math.Abs(item.Lat) > 90 || math.Abs(item.Lng) > 180:
		return "is nowhere"
	case aggregated && (!strings.HasPrefix(item.ID, "cl_") || item.Count < 1 || item.Online < 0 || item.Online > item.Count):
		return "is no cluster"
	case aggregated && (item.Status == "online") != (item.Online > 0):
		return "has the wrong status"
	case !aggregated && (!strings.HasPrefix(item.ID, "hs_") || item.Count != 0):
		return "is no hotspot"
	}
	return ""
}

// online is how many of the items' hotspots are.
func (got charted) online() (n int) {
	for _, item := range got.Hotspots {
		if n += item.Online; item.Count == 0 && item.Status == "online" {
			n++
		}
	}
	return n
}

// plotted is what GET /hotspots/{id} says that coverage depends on.
type plotted struct {
	ID       string
	Status   string
	Location struct{ Lat, Lng float64 }
	RadiusM  float64 `json:"coverage_radius_m"`
}

// plot reads hotspots one by one; one that is gone is left out.
func plot(t testing.TB, c *harness.Client, s *harness.Server, ids []string) (all []plotted) {
	t.Helper()
	for _, id := range ids {
		a := insist(t.Context(), c, http.MethodGet, s.URL+"/v1/hotspots/"+id, nil)
		if a.Status == http.StatusNotFound {
			continue
		}
		var h plotted
		if err := json.Unmarshal(a.Data, &h); a.Status != http.StatusOK || err != nil {
			t.Fatalf("hotspot %s: %d %s %v %v", id, a.Status, a.Code, a.Err, err)
		}
		all = append(all, h)
	}
	return all
}

// discsOf are the discs of those who are online.
func discsOf(all []plotted) (discs []groundDisc) {
	for _, h := range all {
		if h.Status == "online" {
			discs = append(discs, groundDisc{h.Location.Lat, h.Location.Lng, h.RadiusM})
		}
	}
	return discs
}

// expect compares an answer with what the hotspots say one by one, and gives by
// which part of it the area is off.
func (got charted) expect(t testing.TB, box groundBox, all []plotted) (off float64) {
	t.Helper()
	var want []chartedItem
	online := 0
	for _, h := range all {
		if !box.holds(h.Location.Lat, h.Location.Lng) {
			continue
		}
		want = append(want, chartedItem{ID: h.ID, Lat: h.Location.Lat, Lng: h.Location.Lng, RadiusM: h.RadiusM, Status: h.Status})
		if h.Status == "online" {
			online++
		}
	}
	if got.Count != len(want) || got.online() != online {
		t.Errorf("%+v has %d hotspots, %d online; want %d, %d", box, got.Count, got.online(), len(want), online)
	}
	if !got.Aggregated {
		byID := func(a, b chartedItem) int { return strings.Compare(a.ID, b.ID) }
		if diff := cmp.Diff(slices.SortedFunc(slices.Values(want), byID), slices.SortedFunc(slices.Values(got.Hotspots), byID)); diff != "" {
			t.Errorf("%+v (-one by one +coverage): %s", box, diff)
		}
	}
	area := box.covered(discsOf(all)) / 1e6
	if !nearly(got.AreaKm2, area) {
		t.Errorf("%+v: %v km² are covered; want %v", box, got.AreaKm2, area)
	}
	const rounding = 1e-12
	return max(0, math.Abs(got.AreaKm2-area)-rounding) / max(area, rounding)
}

// nearly compares areas in km²: to a part in a million, or ten square
// millimetres, of which answers have whole ones.
func nearly(got, want float64) bool { return math.Abs(got-want) <= 1e-6*want+1e-11 }
