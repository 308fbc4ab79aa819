package openfeeds_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// Pages contain each hotspot once, whatever their size, and a box those in it.
func TestFeatures_Pages(t *testing.T) {
	n := town(t, true)
	n.add(t, beacon.Public, 80, geo.Point{Lat: -17, Lng: 179.9})
	n.add(t, beacon.Public, 81, geo.Point{Lat: -17, Lng: -179.9})
	const items = "/open/collections/hotspots/items"
	for _, tc := range []struct {
		query string
		in    func(lng, lat float64) bool
	}{
		{"", func(_, _ float64) bool { return true }},
		{"bbox=-74,40.71,-73.995,40.72", func(lng, lat float64) bool { return lng >= -74 && lng <= -73.995 && lat >= 40.71 && lat <= 40.72 }},
		{"bbox=-74,40.71,0,-73.995,40.72,9e3", func(lng, lat float64) bool { return lng >= -74 && lng <= -73.995 && lat >= 40.71 && lat <= 40.72 }},
		{"bbox=179,-20,-179,0", func(lng, lat float64) bool { return (lng >= 179 || lng <= -179) && lat <= 0 }},
		{"bbox=1,1,2,2", func(_, _ float64) bool { return false }},
		{"datetime=2026-11-16T12:00:00Z/..", func(_, _ float64) bool { return true }},
	} {
		var want []string
		for _, f := range collection(t, n.get("/open/hotspots.geojson")).Features {
			if tc.in(f.Geometry.Coordinates[0], f.Geometry.Coordinates[1]) {
				want = append(want, f.ID)
			}
		}
		for _, limit := range []string{"", "&limit=1", "&limit=7", "&limit=41", "&limit=1000", "&limit=99999999999999999999"} {
			var got []string
			for path := items + "?" + strings.TrimPrefix(tc.query+limit, "&"); path != ""; {
				page := collection(t, n.get(path))
				path = ""
				for _, f := range page.Features {
					got = append(got, f.ID)
				}
				for _, l := range page.Links {
					if l.Rel == "next" {
						path = strings.TrimPrefix(l.Href, "http://x")
					}
				}
				if page.NumberReturned != len(page.Features) || page.NumberMatched != nil && *page.NumberMatched != len(want) {
					t.Errorf("%s%s: %d of %v; want %d", tc.query, limit, page.NumberReturned, page.NumberMatched, len(want))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s%s: found %d; want %d", tc.query, limit, len(got), len(want))
			}
		}
	}
	first := collection(t, n.get("/open/hotspots.geojson")).Features[0]
	var one feature
	if err := json.Unmarshal(n.get(items+"/"+first.ID).Body.Bytes(), &one); err != nil || one.ID != first.ID {
		t.Errorf("one hotspot: %+v %v", one, err)
	}
}

type feature struct {
	ID       string
	Geometry struct{ Coordinates [2]float64 }
}

type page struct {
	Features       []feature
	NumberReturned int
	NumberMatched  *int
	Links          []struct{ Rel, Href string }
}

func collection(t testing.TB, w *httptest.ResponseRecorder) (p page) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &p); w.Code != http.StatusOK || err != nil {
		t.Fatalf("%d %s %v", w.Code, w.Body, err)
	}
	return p
}

func TestFeatures_Faults(t *testing.T) {
	n := town(t, false)
	for query, fields := range map[string]string{
		"limit=0": "limit", "limit=-1": "limit", "limit=x": "limit", "limit=": "limit", "limit=1.5": "limit", "limit=1&limit=2": "limit", "limit=%2B1": "limit",
		"bbox=": "bbox", "bbox=1,2,3": "bbox", "bbox=1,2,3,4,5": "bbox", "bbox=0,2,1,1": "bbox", "bbox=0,0,181,1": "bbox", "bbox=NaN,0,1,1": "bbox", "bbox=0x1,0,1,1": "bbox",
		"bbox=0,0,1,91": "bbox", "bbox=0,0,1e999,1": "bbox", "bbox=0, 0,1,1": "bbox",
		"datetime=yesterday": "datetime", "datetime=": "datetime", "datetime=2026-11-16T12:00:00Z/2026-11-15T12:00:00Z": "datetime", "datetime=../../..": "datetime",
		"after=": "after", "after=x": "after", "after=hs_ü": "after",
		"Limit=1": "Limit", "f=json": "f", "z=1&bbox=1&limit=0": "bbox limit z",
		"%zz": "", ";": "",
	} {
		w := n.get("/open/collections/hotspots/items?" + strings.ReplaceAll(query, " ", "%20"))
		var body struct {
			Error struct {
				Code    string
				Details []struct{ Field string }
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range body.Error.Details {
			got = append(got, d.Field)
		}
		if w.Code != http.StatusBadRequest || body.Error.Code != "invalid_request" || strings.Join(got, " ") != fields {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	for _, tc := range []struct {
		method, path string
		want         int
	}{
		{"POST", "/open", 405},
		{"GET", "/open/nope", 404},
		{"GET", "/open/collections/nope/items", 404},
		{"GET", "/open/collections/hotspots/items/", 404},
		{"GET", "/open/tiles/0/0/1.mvt", 404},
		{"GET", "/open/tiles/00/0/0.mvt", 404},
		{"OPTIONS", "/open/tiles.json", 204},
		{"HEAD", "/open/hotspots.geojson", 200},
		{"GET", "/open/conformance?f=json", 400},
	} {
		if w := n.call(tc.method, tc.path); w.Code != tc.want {
			t.Errorf("%s %s: %d %s", tc.method, tc.path, w.Code, w.Body)
		}
	}
}

// No query makes the server fail.
func FuzzItems(f *testing.F) {
	for _, query := range []string{"bbox=1,2,3,4&limit=3", "after=hs_0&datetime=../2026-11-16T12:00:00Z", "%", "a=b&a=c;"} {
		f.Add(query)
	}
	n := town(f, true)
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/open/collections/hotspots/items", nil)
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		n.feeds.ServeHTTP(w, r)
		if w.Code != http.StatusOK && w.Code != http.StatusBadRequest || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q: %d %s", query, w.Code, w.Body)
		}
	})
}

// GDAL opens the feeds by URL, as QGIS does, and finds what is in them.
func TestFeeds_GDAL(t *testing.T) {
	level.Tool(t, "ogr2ogr", "gdal-bin")
	server := httptest.NewUnstartedServer(nil)
	n := newNetwork(edge.Limits{}, "http://"+server.Listener.Addr().String())
	for i := range 35 { // more pages than one of GDAL's
		n.beat(n.add(t, beacon.Public, i, geo.Point{Lat: 40.7 + float64(i)/1000, Lng: -74}))
		n.add(t, beacon.Home, 50+i, geo.Point{Lat: 40.7 + float64(i)/1000, Lng: -74})
	}
	server.Config.Handler = n.feeds
	server.Start()
	defer server.Close()
	for source, args := range map[string][]string{
		"OAPIF:" + server.URL + "/open":            {"hotspots"},
		server.URL + "/open/hotspots.geojson":      nil,
		server.URL + "/open/openstreetmap.geojson": nil,
	} {
		rows := gdal(t, append([]string{source}, args...)...)
		if len(rows) != 36 || !slices.Contains(rows[0], "X") {
			t.Errorf("%s: GDAL read %d lines: %v", source, len(rows), rows[0])
		}
	}
	if rows := gdal(t, "OAPIF:"+server.URL+"/open", "hotspots", "-spat", "-74.1", "40.7095", "-73.9", "40.7125"); len(rows) != 4 {
		t.Errorf("GDAL found %d lines in a box; want 4", len(rows))
	}
}

// gdal returns the lines of a source that GDAL read, the first with the names of columns.
func gdal(t testing.TB, args ...string) [][]string {
	t.Helper()
	read := exec.Command("ogr2ogr", append([]string{"-f", "CSV", "/vsistdout/", "-lco", "GEOMETRY=AS_XY"}, args...)...)
	var said strings.Builder
	read.Stderr = &said
	out, err := read.Output()
	if err != nil || said.Len() > 0 {
		t.Fatalf("ogr2ogr %q: %v %s", args, err, said.String())
	}
	lines, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil || len(lines) == 0 {
		t.Fatalf("ogr2ogr wrote %q: %v", out, err)
	}
	return lines
}

// The box around the hotspots is that of what feeds show, also on both sides of ±180°.
func TestFeeds_Box(t *testing.T) {
	n := newNetwork(edge.Limits{}, "http://x")
	n.add(t, beacon.Home, 1, geo.Point{Lat: 40.7, Lng: -74})
	if box, found := n.feeds.Box(); found {
		t.Errorf("there is a box around a home: %v", box)
	}
	n = newNetwork(edge.Limits{}, "http://x")
	for i, at := range []geo.Point{{Lat: -17, Lng: 178}, {Lat: -16, Lng: -180}} {
		n.add(t, beacon.Public, i+1, at)
	}
	if box, found := n.feeds.Box(); !found || box != (geo.Box{North: -16, South: -17, East: -179, West: 178}) {
		t.Errorf("the box is %v, %v", box, found)
	}
}
