package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/id"
)

type covered struct {
	Bounds     bounds      `json:"bounds"`
	Count      *int        `json:"hotspot_count"`
	Online     *int        `json:"online_count"`
	AreaKm2    json.Number `json:"coverage_area_km2"`
	Share      json.Number `json:"coverage_percentage"`
	Aggregated *bool       `json:"aggregated"`
	Hotspots   []mark      `json:"hotspots"`
}

type bounds struct {
	North float64 `json:"north"`
	South float64 `json:"south"`
	East  float64 `json:"east"`
	West  float64 `json:"west"`
}

type mark struct {
	ID      string  `json:"id"`
	Lat     float64 `json:"lat"`
	Lng     float64 `json:"lng"`
	RadiusM float64 `json:"radius_m"`
	Status  string  `json:"status"`
	Count   *int    `json:"count"`
	Online  *int    `json:"online_count"`
}

func number(t testing.TB, n json.Number) float64 {
	t.Helper()
	v, err := n.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// box spells a box as a query does.
func box(north, south, east, west float64) string {
	return at("north=%v&south=%v&east=%v&west=%v", north, south, east, west)
}

const world = "north=90&south=-90&east=180&west=-180"

func (c client) coverage(t testing.TB, query string) covered {
	t.Helper()
	return data[covered](t, c.get(t, "/v1/coverage?"+query), http.StatusOK)
}

// discArea is what a hotspot covers of the sphere, in km²: the area of a cap.
func discArea(meters float64) float64 {
	const radius = 6_371_008.8
	half := math.Sin(meters / radius / 2)
	return 4 * math.Pi * radius * radius * half * half / 1e6
}

// populate puts hotspots into memory alone, at the places; those with an even
// index are heard of at noon, and the last is pending.
func (s *server) populate(t testing.TB, radius float64, places ...geo.Point) {
	t.Helper()
	var all []beacon.Hotspot
	var beats []heartbeat.Beat
	for i, place := range places {
		name := id.New(beacon.HotspotPrefix, noon)
		h := beacon.Hotspot{
			ID: beacon.HotspotID(name), Name: "Kiosk", Type: beacon.Public, Version: 1, CreatedAt: noon, Settings: beacon.Settings{MaxConnections: 10, CoverageRadiusM: radius},
		}
		h.Location.Point, h.Device.SSID = place, "guest"
		if i < len(places)-1 || i == 0 {
			h.Location.VerifiedAt, h.Device.LinkedAt = noon.Add(-time.Hour), noon.Add(-time.Hour)
			if i%2 == 0 {
				raw, _ := id.Parse(beacon.HotspotPrefix, name)
				beats = append(beats, heartbeat.Beat{Hotspot: raw, At: noon.UnixMicro(), Heartbeat: beacon.Heartbeat{Boot: 1, Seq: 1}})
			}
		}
		all = append(all, h)
	}
	if err := s.Fleet.Apply(all...); err != nil {
		t.Fatal(err)
	}
	s.Fleet.Replay(beats)
	if err := s.Fleet.Redraw(s.now()); err != nil {
		t.Fatal(err)
	}
}

// grid is places side by side from a corner on, in rows of 40.
func grid(n int, lat, lng, step float64) (places []geo.Point) {
	for i := range n {
		places = append(places, geo.Point{Lat: lat + float64(i/40)*step, Lng: lng + float64(i%40)*step})
	}
	return places
}

// Decisions N4 and N20: what is wrong is refused by name, all of it at once.
func TestCoverage_Parameters(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	const sides = "north=41&south=40&east=-73&west=-75"
	for _, good := range []string{
		sides, world, sides + "&zoom=0", sides + "&zoom=13.99", sides + "&zoom=22", sides + "&zoom=1e1", sides + "&unknown=1&unknown=2",
		"north=10&south=-10&west=179&east=-179", "north=90&south=89.9999999&east=1&west=0", "north=-89&south=-90&east=-180&west=0",
		"north=-0&south=-1&east=0&west=-1e-300", "north=5e-324&south=0&east=5e-324&west=0", "north=1&south=0&east=-180&west=179.9999999999",
	} {
		got := c.coverage(t, good)
		if share := number(t, got.Share); !(share >= 0 && share <= 1) || *got.Count != 0 || number(t, got.AreaKm2) != 0 || got.Hotspots == nil {
			t.Errorf("%s: %+v; want nothing there", good, got)
		}
	}
	for query, fields := range map[string][]string{
		"": {"north", "south", "east", "west"}, "north=1&south=0&east=1": {"west"}, "north=&south=0&east=1&west=0": {"north"}, "zoom=3&west=1": {"north", "south", "east"},
	} {
		wantFault(t, c.get(t, "/v1/coverage?"+query), http.StatusBadRequest, "missing_parameter", fields...)
	}
	good := map[string]string{"north": "41", "south": "40", "east": "-73", "west": "-75", "zoom": "12"}
	beyond := map[string][]string{
		"north": {"90.0000001", "-91"}, "south": {"-90.0000001", "91"}, "east": {"180.0000001", "-181"}, "west": {"-180.0000001", "361"}, "zoom": {"-1", "-0.001", "22.001", "23", "1e9"},
	}
	for name := range good {
		for _, bad := range append(beyond[name], "NaN", "Inf", "-inf", "1e400", "0x10", "1_0", "1,5", " 40", "４０", "abc", "--1", ".", "1e", "null", "\x00") {
			query := url.Values{}
			for other, value := range good {
				query.Set(other, value)
			}
			query.Set(name, bad)
			wantFault(t, c.get(t, "/v1/coverage?"+query.Encode()), http.StatusBadRequest, "invalid_request", name)
		}
	}
	for query, fields := range map[string][]string{
		sides + "&zoom=": {"zoom"}, sides + "&zoom=3&zoom=3": {"zoom"}, sides + "&north=41": {"north"},
		"north=40&south=40&east=1&west=0": {"north"}, "north=-10&south=10&east=1&west=0": {"north"}, "north=1&south=0&east=5&west=5": {"east"},
		"north=1&south=0&east=-180&west=180": {"east"}, "north=0&south=-0&east=0&west=-0": {"north", "east"}, // 180° and -180° are the same meridian
		"north=1&south=2&east=x&zoom=25": {"north", "east", "west", "zoom"}, "north=91&south=95&east=7&west=7": {"north", "south", "east"},
	} {
		wantFault(t, c.get(t, "/v1/coverage?"+query), http.StatusBadRequest, "invalid_request", fields...)
	}
	for _, broken := range []string{sides + "&zoom=%zz", sides + ";zoom=5"} {
		wantFault(t, c.get(t, "/v1/coverage?"+broken), http.StatusBadRequest, "invalid_request")
	}
	if got := c.get(t, "/v1/coverage?north=-0&south=-1.50&east=1e1&west=.5"); fmt.Sprint(data[covered](t, got, http.StatusOK).Bounds) != "{0 -1.5 10 0.5}" {
		t.Errorf("%s; want the bounds as numbers", got)
	}
}

// Whatever the zoom, the items add up to the same, and so do parts of a box.
func TestCoverage_AddsUp(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	const n, radius = 1300, 123.45
	s.populate(t, radius, grid(n, 40, -75, 0.0125)...)
	const all = "north=42&south=39&east=-73&west=-76"
	whole := c.coverage(t, all)
	if want := n / 2 * discArea(radius); *whole.Count != n || math.Abs(number(t, whole.AreaKm2)-want) > 1e-9*want {
		t.Errorf("%d hotspots, %s km²; want %d, %v", *whole.Count, whole.AreaKm2, n, want)
	}
	for _, zoom := range []string{"", "0", "3", "7.5", "11", "13", "13.99", "14", "18", "21.99", "22"} {
		query := all
		if zoom != "" {
			query += "&zoom=" + zoom
		}
		got := c.coverage(t, query)
		if got.AreaKm2 != whole.AreaKm2 || got.Share != whole.Share || *got.Count != n || !*got.Aggregated {
			t.Errorf("zoom %q: %d hotspots, %s km², %s; want %d, %s, %s, in clusters", zoom, *got.Count, got.AreaKm2, got.Share, n, whole.AreaKm2, whole.Share)
		}
		count, online := totals(t, got)
		if count != n || online != n/2 || len(got.Hotspots) > 1000 {
			t.Errorf("zoom %q: %d items stand for %d hotspots, %d online", zoom, len(got.Hotspots), count, online)
		}
	}
	count, area := 0, 0.
	for i := range 4 {
		for j := range 3 {
			part := c.coverage(t, box(42-float64(i)*0.7431, max(39, 42-float64(i+1)*0.7431), -76+float64(j+1), -76+float64(j))+"&zoom=22")
			count += *part.Count
			area += number(t, part.AreaKm2)
		}
	}
	if want := number(t, whole.AreaKm2); count < n || math.Abs(area-want) > 1e-9*want { // who stands on a line is in both
		t.Errorf("parts have %d hotspots and %v km²; want %d, %v", count, area, n, want)
	}
}

// totals gives how many hotspots the items stand for, and checks each item.
func totals(t testing.TB, got covered) (count, online int) {
	t.Helper()
	seen := map[string]bool{}
	for _, h := range got.Hotspots {
		if seen[h.ID] {
			t.Errorf("%s is there twice", h.ID)
		}
		seen[h.ID] = true
		if !*got.Aggregated {
			count++
			if h.Status == "online" {
				online++
			}
			continue
		}
		count, online = count+*h.Count, online+*h.Online
		if (h.Status == "online") != (*h.Online > 0) || *h.Online > *h.Count {
			t.Errorf("a cluster of %d, %d online, is %s", *h.Count, *h.Online, h.Status)
		}
	}
	return count, online
}

// Decision N20: zoom 14 shows hotspots, 13.99 clusters.
func TestCoverage_Zoom(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	s.populate(t, 75, grid(5, 40.7, -74, 0.0002)...)
	const sides = "north=40.8&south=40.6&east=-73.9&west=-74.1"
	for _, zoom := range []string{"", "&zoom=14", "&zoom=14.0001", "&zoom=22"} {
		got := c.coverage(t, sides+zoom)
		statuses := []string{}
		for _, h := range got.Hotspots {
			statuses = append(statuses, h.Status)
			if h.Count != nil || h.Online != nil || h.RadiusM != 75 {
				t.Errorf("%s: %+v", zoom, h)
			}
		}
		slices.Sort(statuses)
		if *got.Aggregated || !slices.Equal(statuses, []string{"offline", "offline", "online", "online", "pending"}) {
			t.Errorf("%q: aggregated %v, %q", zoom, *got.Aggregated, statuses)
		}
	}
	for _, zoom := range []string{"0", "13", "13.99", "13.999999999"} {
		got := c.coverage(t, sides+"&zoom="+zoom)
		if !*got.Aggregated || len(got.Hotspots) == 0 || len(got.Hotspots) > 2 {
			t.Errorf("zoom %s: %+v", zoom, got)
		}
		if count, online := totals(t, got); count != 5 || online != 2 {
			t.Errorf("zoom %s: %d hotspots, %d online", zoom, count, online)
		}
	}
	if far := c.coverage(t, sides+"&zoom=2"); len(far.Hotspots) != 1 || math.Abs(far.Hotspots[0].Lat-40.7) > 1e-6 || math.Abs(far.Hotspots[0].Lng+73.9996) > 1e-6 {
		t.Errorf("from afar: %+v", far.Hotspots)
	}
}

// Torture 4.4: across ±180°, at the poles, at the same place.
func TestCoverage_Edges(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	s.populate(t, 100,
		geo.Point{Lat: 0, Lng: 179.9999}, geo.Point{Lat: 5, Lng: -179.5}, geo.Point{Lat: 0, Lng: 180}, geo.Point{Lat: 1, Lng: 0},
		geo.Point{Lat: 90, Lng: 77}, geo.Point{Lat: 2, Lng: 1}, geo.Point{Lat: -90, Lng: 0}, geo.Point{Lat: 3, Lng: 1},
		geo.Point{Lat: 20, Lng: 20}, geo.Point{Lat: 2, Lng: 2}, geo.Point{Lat: 20, Lng: 20}, geo.Point{Lat: 2, Lng: 3})
	disc := discArea(100)
	pacific := c.coverage(t, "north=10&south=-10&west=179&east=-179")
	if *pacific.Count != 3 || len(pacific.Hotspots) != 3 {
		t.Errorf("a box of 2° across 180° has %+v", pacific)
	}
	// Two discs whose middles are 11 m apart, as a plane has it.
	d := 0.0001 * math.Pi / 180 * 6_371_008.8
	both := 2*disc - (2*100*100*math.Acos(d/200)-d/2*math.Sqrt(4*100*100-d*d))/1e6
	if got := number(t, pacific.AreaKm2); math.Abs(got-both) > 1e-6*both {
		t.Errorf("they cover %v km²; want %v", got, both)
	}
	west, east := c.coverage(t, "north=10&south=-10&west=179&east=180"), c.coverage(t, "north=10&south=-10&west=-180&east=-179")
	if sum := number(t, west.AreaKm2) + number(t, east.AreaKm2); math.Abs(sum-both) > 1e-6*both || *west.Count != 2 || *east.Count != 2 { // one is on the line
		t.Errorf("the two sides of 180° have %d and %d hotspots and cover %v km²; want %v", *west.Count, *east.Count, sum, both)
	}
	for _, tc := range []struct {
		query      string
		count      int
		area, some float64
	}{
		{"north=90&south=89&east=180&west=-180", 1, disc, 1e-9},
		{"north=90&south=89&east=90&west=0", 1, disc / 4, 1e-9},
		{"north=-89&south=-90&east=-170&west=170", 1, disc / 18, 1e-9},
		{"north=21&south=19&east=21&west=19", 2, disc, 1e-9}, // two at the same place
		{"north=21&south=20&east=21&west=19", 2, disc / 2, 1e-4},
		{"north=50&south=49&east=1&west=0", 0, 0, 0},
		{world, 12, both + 3*disc, 1e-6},
	} {
		got := c.coverage(t, tc.query)
		if area := number(t, got.AreaKm2); *got.Count != tc.count || math.Abs(area-tc.area) > tc.some*tc.area {
			t.Errorf("%s: %d hotspots, %v km²; want %d, %v", tc.query, *got.Count, area, tc.count, tc.area)
		}
	}
	if full := c.coverage(t, "north=20.0001&south=19.9999&east=20.0001&west=19.9999"); number(t, full.Share) != 1 {
		t.Errorf("a box that is covered all over: %s", full.Share)
	}
	tiny := c.coverage(t, "north=5e-324&south=0&east=180&west=179.99999999999997")
	if share := number(t, tiny.Share); !(share >= 0 && share <= 1) {
		t.Errorf("a box without a width worth mentioning: %+v", tiny)
	}
}
