package api_test

import (
	"encoding/csv"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// gis has GDAL read a file, and gives what it found: a row for each feature, by
// the names of its fields; X and Y are its place in degrees.
func gis(t testing.TB, name string, body []byte, more ...string) []map[string]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-f", "CSV", "/vsistdout/", file, "-lco", "GEOMETRY=AS_XY", "-t_srs", "EPSG:4326"}, more...)
	read := exec.Command("ogr2ogr", args...)
	var said strings.Builder
	read.Stderr = &said
	out, err := read.Output()
	if err != nil || said.Len() > 0 {
		t.Fatalf("ogr2ogr %q: %v %s", args, err, said.String())
	}
	lines, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil || len(lines) == 0 {
		t.Fatalf("ogr2ogr wrote %q: %v", out, err)
	}
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[lines[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// wantRow compares what GDAL read with what the answer in JSON says. Places may
// differ by some degrees.
func wantRow(t testing.TB, row map[string]string, item map[string]any, lat, lng, degrees float64) {
	t.Helper()
	cell := func(name string) float64 {
		n, err := strconv.ParseFloat(row[name], 64)
		if err != nil {
			t.Errorf("%s: %s is %q", row["id"], name, row[name])
		}
		return n
	}
	if x, y := cell("X"), cell("Y"); math.Abs(x-lng) > degrees || math.Abs(y-lat) > degrees {
		t.Errorf("%s is at %v, %v; want %v, %v", row["id"], y, x, lat, lng)
	}
	for name, value := range item {
		switch value := value.(type) {
		case float64:
			if math.Abs(cell(name)-value) > 1e-12*math.Abs(value) {
				t.Errorf("%s: %s is %s; want %v", row["id"], name, row[name], value)
			}
		case bool: // GDAL has them as integers
			if want := map[bool]string{false: "0", true: "1"}[value]; row[name] != want {
				t.Errorf("%s: %s is %q; want %q", row["id"], name, row[name], want)
			}
		case nil:
			if text, there := row[name]; !there || text != "" {
				t.Errorf("%s: %s is %q (a field: %v); want an empty field", row["id"], name, text, there)
			}
		case string:
			text := row[name]
			if at, err := time.Parse("2006/01/02 15:04:05-07", text); err == nil { // GDAL takes it for a time
				text = at.UTC().Format("2006-01-02T15:04:05.000Z")
			}
			if text != value {
				t.Errorf("%s: %s is %q; want %q", row["id"], name, row[name], value)
			}
		default:
			t.Errorf("%s: %s is %v, which no property may be", row["id"], name, value)
		}
	}
}

// What maps are given is read by a GIS that others wrote, and means the same there.
func TestGIS(t *testing.T) {
	level.Tool(t, "ogr2ogr", "gdal-bin")
	s := onSQLite(t, options{limits: ample})
	c := s.operator(t)
	c.register(t, 1, "name", `"A \"quoted\", name"`, "location.address", `"Straße 1, Hof"`, "location.lat", "40.70123456789", "type", `"public"`)
	c.register(t, 2, "location.lat", "40.7041", "location.lng", "-74.0000001", "settings.coverage_radius_m", "33.25")
	c.register(t, 3, "location.lat", "40.7042", hoursPath, `{"timezone":"UTC","weekly":[]}`)
	const change = `{"timezone":"UTC","weekly":[{"days":["mon","tue","wed","thu","fri","sat","sun"],"open":"00:00","close":"%s"}]}`
	c.register(t, 4, "location.lat", "40.7043", hoursPath, at(change, "00:01"))
	c.register(t, 5, "location.lat", "40.7044", hoursPath, at(change, "23:59"))
	s.populate(t, 75, append(grid(80, 40.7001, -73.9999, 0.0003), geo.Point{Lat: 40.7055, Lng: -73.9951})...)
	const sides = "north=40.8&south=40.6&east=-73.9&west=-74.1"
	for _, path := range []string{"/v1/hotspots/nearby?lat=40.7&lng=-74&status=all&limit=100", "/v1/coverage?" + sides, "/v1/coverage?" + sides + "&zoom=13"} {
		want := generic(t, c.get(t, path))
		rows := gis(t, "answer.geojson", c.get(t, path, "Accept", geoJSON).want(t, http.StatusOK).body)
		if len(rows) != len(want) || len(rows) < 3 {
			t.Fatalf("%s: GDAL found %d of %d", path, len(rows), len(want))
		}
		for i, row := range rows {
			item := want[i].(map[string]any)
			place := item
			if inner, ok := item["location"].(map[string]any); ok {
				place = inner
				item["address"] = inner["address"]
				delete(item, "location")
			}
			lat, lng := place["lat"].(float64), place["lng"].(float64)
			delete(item, "lat")
			delete(item, "lng")
			wantRow(t, row, item, lat, lng, 1e-9)
		}
	}
	for _, z := range []int{13, 14, 15} {
		x, y := tileAt(z, 40.701, -73.998)
		body := c.get(t, at("/v1/coverage/tiles/%d/%d/%d.mvt", z, x, y)).want(t, http.StatusOK).body
		rows := gis(t, "tile.mvt", body, "hotspots", "-oo", at("Z=%d", z), "-oo", at("X=%d", x), "-oo", at("Y=%d", y))
		items := map[string]map[string]any{}
		for _, item := range generic(t, c.get(t, "/v1/coverage?"+sides+at("&zoom=%d", z))) {
			items[item.(map[string]any)["id"].(string)] = item.(map[string]any)
		}
		if len(rows) < 3 {
			t.Errorf("zoom %d: GDAL found %d points", z, len(rows))
		}
		for _, row := range rows {
			item := items[row["id"]]
			if item == nil {
				t.Fatalf("zoom %d: GDAL read %v", z, row)
			}
			lat, lng := item["lat"].(float64), item["lng"].(float64)
			for _, name := range []string{"lat", "lng", "ssid", "open_now", "open_until", "opens_at"} {
				delete(item, name) // tiles are without
			}
			wantRow(t, row, item, lat, lng, 360/math.Exp2(float64(z))/4096)
		}
	}
}
