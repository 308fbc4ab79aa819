package openfeeds_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
	"github.com/beacon-wifi/beacon/test/harness/level"
	"github.com/beacon-wifi/beacon/test/openapi"
)

var noon = time.Date(2026, 11, 16, 12, 0, 20, 0, time.UTC)

// network is a network with open feeds.
type network struct {
	fleet *fleet.Fleet
	feeds *openfeeds.Feeds
	now   time.Time
	count int
}

func newNetwork(limits api.Limits, url string) *network {
	n := &network{fleet: fleet.New(api.Summarize), now: noon}
	now := func() time.Time { return n.now }
	interfaces := api.New(api.Config{Fleet: n.fleet, Limits: limits, Now: now, Log: slog.New(slog.DiscardHandler)})
	n.feeds = openfeeds.New(openfeeds.Config{API: interfaces, Fleet: n.fleet, PublicURL: url, Now: now})
	return n
}

// add registers a hotspot in service. Its id depends only on its number.
func (n *network) add(t testing.TB, kind beacon.Type, number int, at geo.Point, change ...func(*beacon.Hotspot)) beacon.Hotspot {
	t.Helper()
	h := beacon.Hotspot{
		ID: beacon.HotspotID(fmt.Sprintf("hs_01m7fh87h4ephbpxmpvwb%05d", number)), Version: 1, Type: kind, Operator: "usr_secret",
		Name: fmt.Sprintf("%s %d \"<b>", kind, number), Location: beacon.Location{Point: at, Address: fmt.Sprintf("%d %s street", number, kind), VerifiedAt: noon.Add(-time.Hour)},
		Device:   beacon.Device{SSID: fmt.Sprintf("ssid-%s-%d", kind, number), MAC: "02:00:5e:10:00:01", LinkedAt: noon.Add(-time.Hour)},
		Settings: beacon.Settings{MaxConnections: 10, BandwidthLimitMbps: 10},
	}
	for _, c := range change {
		c(&h)
	}
	n.put(t, h)
	return h
}

func (n *network) put(t testing.TB, h beacon.Hotspot) {
	t.Helper()
	if err := n.fleet.Apply(h); err != nil {
		t.Fatal(err)
	}
}

// beat makes a hotspot online.
func (n *network) beat(h beacon.Hotspot) {
	n.count++
	raw, _ := id.Parse(beacon.HotspotPrefix, string(h.ID))
	n.fleet.Replay([]heartbeat.Beat{{Hotspot: raw, At: n.now.UnixMicro(), Heartbeat: beacon.Heartbeat{Boot: 1, Seq: uint64(n.count)}}})
}

// town has hotspots of all kinds, some online, some pending and, if wanted, homes.
func town(t testing.TB, homes bool) *network {
	t.Helper()
	n := newNetwork(api.Limits{}, "http://x")
	for i := range 40 {
		at := geo.Point{Lat: 40.7 + float64(i)/1000, Lng: -74 + float64(i%7)/500}
		kind := []beacon.Type{beacon.Business, beacon.Public}[i%2]
		h := n.add(t, kind, i, at, func(h *beacon.Hotspot) {
			if i%5 == 0 {
				h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC"} // never open
			}
		})
		if i%3 != 0 {
			n.beat(h)
		}
		if !homes {
			continue
		}
		n.beat(n.add(t, beacon.Home, 100+i, geo.Point{Lat: at.Lat + 0.0003, Lng: at.Lng}))
		n.add(t, beacon.Public, 200+i, geo.Point{Lat: 10, Lng: 10}, func(h *beacon.Hotspot) { h.Location.VerifiedAt = time.Time{} })
		n.add(t, "", 300+i, at)
	}
	return n
}

func (n *network) get(path string, header ...string) *httptest.ResponseRecorder {
	return n.call("GET", path, header...)
}

func (n *network) call(method, path string, header ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	n.feeds.ServeHTTP(connection{w}, r)
	return w
}

// connection is a recorder with deadlines, which it ignores.
type connection struct{ *httptest.ResponseRecorder }

func (connection) SetWriteDeadline(time.Time) error { return nil }

// files are the paths that need no parameter.
var files = []string{
	"/open", "/open/", "/open/api", "/open/conformance", "/open/collections", "/open/collections/hotspots", "/open/collections/hotspots/items",
	"/open/tiles.json", "/open/hotspots.geojson", "/open/meshviewer.json", "/open/nodelist.json", "/open/openstreetmap.geojson",
}

// paths are the files, and tiles of the town at all zooms.
func paths() []string {
	all := slices.Clone(files)
	for z := range fleet.MaxZoom + 1 {
		for i := range 40 {
			x, y := tileAt(z, 40.7+float64(i)/1000, -74+float64(i%7)/500)
			if path := fmt.Sprintf("/open/tiles/%d/%d/%d.mvt", z, x, y); !slices.Contains(all, path) {
				all = append(all, path)
			}
		}
	}
	return append(all, "/open/collections/hotspots/items?limit=7&bbox=-74,40.7,-73.99,40.72")
}

// Each response is one that the API definition promises, and each path of it is served.
func TestFeeds_Definition(t *testing.T) {
	document := openapi.Load(t, openfeeds.OpenAPI())
	openapi.CheckSchemas(t, openfeeds.OpenAPI())
	n := town(t, true)
	item := "/open/collections/hotspots/items/hs_01m7fh87h4ephbpxmpvwb00001"
	for _, path := range append(paths(), item, "/open/collections/hotspots/items?limit=0", item+"0", "/open/tiles/1/2/2.mvt", "/open?a=b") {
		w := n.get(path)
		inside := "/" + strings.TrimPrefix(strings.TrimPrefix(path, "/open"), "/")
		document.Check(t, httptest.NewRequest("GET", "http://x"+inside, nil), w.Result(), w.Body.Bytes())
	}
}

// The files are what other programs read, by schemas written from their documentation.
func TestFeeds_Schemas(t *testing.T) {
	n := town(t, true)
	for _, name := range []string{"tiles", "meshviewer", "nodelist"} {
		text, err := os.ReadFile("testdata/" + strings.Replace(name, "tiles", "tilejson", 1) + ".schema.json")
		if err != nil {
			t.Fatal(err)
		}
		var schema openapi3.Schema
		var value any
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		body := n.get("/open/" + name + ".json").Body.Bytes()
		if err := json.Unmarshal(body, &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.VisitJSON(value, openapi3.MultiErrors()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name != "tiles" && len(value.(map[string]any)["nodes"].([]any)) != 40 {
			t.Errorf("%s has not 40 nodes", name)
		}
	}
}

// Homes, and hotspots that are not in service, leave no trace: not in any byte of any
// response, nor in a header.
func TestFeeds_NoHomes(t *testing.T) {
	with, without := town(t, true), town(t, false)
	for _, path := range paths() {
		a, b := with.get(path), without.get(path)
		if a.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, a.Code, a.Body)
		}
		if a.Body.String() != b.Body.String() {
			t.Errorf("%s differs with homes", path)
		}
		if diff := cmp.Diff(b.Header(), a.Header()); diff != "" {
			t.Errorf("%s: headers differ with homes:\n%s", path, diff)
		}
	}
	for number := 100; number < 400; number++ {
		path := fmt.Sprintf("/open/collections/hotspots/items/hs_01m7fh87h4ephbpxmpvwb%05d", number)
		if w := with.get(path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// The table of audiences decides what feeds show: exactly the public details, and none
// that it takes back.
func TestFeeds_Audience(t *testing.T) {
	var everyone []beacon.Detail
	for _, d := range beacon.Details() {
		if d.Audience() == beacon.Everyone && d != beacon.ShownUptime { // which pages show
			everyone = append(everyone, d)
		}
	}
	shown := openfeeds.Shown()
	slices.Sort(shown)
	slices.Sort(everyone)
	if diff := cmp.Diff(everyone, shown); diff != "" {
		t.Errorf("the table (-) and the feeds (+) differ:\n%s", diff)
	}
	values := map[beacon.Detail]string{ // by which each is known in a body
		beacon.ShownName: `business 0`, beacon.ShownSSID: `ssid-business-0`, beacon.ShownAddress: "0 business street",
		beacon.ShownRadius: `"coverage_radius_m":75`, beacon.ShownCreated: createdAt(t), beacon.ShownSeen: `"lastcontact":"2026-11-16T12:00`,
		beacon.ShownOpen: `"open_now":false`, beacon.ShownUntil: `"open_until":"2026`, beacon.ShownOpens: `"opens_at":"2026`,
	}
	for _, detail := range shown {
		n := town(t, false)
		n.add(t, beacon.Business, 90, geo.Point{Lat: 1, Lng: 1}, hours(10, 14))
		n.add(t, beacon.Business, 91, geo.Point{Lat: 1, Lng: 1}, hours(14, 16))
		before := n.all()
		n.now = n.now.Add(time.Minute)
		n.feeds.Hide(detail)
		after := n.all()
		value, other := values[detail]
		switch {
		case other && !strings.Contains(before, value):
			t.Errorf("%s: %q is not shown", detail, value)
		case other && strings.Contains(after, value):
			t.Errorf("%s: %q is still shown", detail, value)
		case !other && strings.Contains(after, "hs_"):
			t.Errorf("without %s there are hotspots", detail)
		}
	}
	for _, secret := range []string{"usr_secret", "02:00:5e", "uptime", "load", "max_connections"} {
		if text := town(t, false).all(); strings.Contains(strings.ReplaceAll(text, "/open/api", ""), secret) {
			t.Errorf("%s is shown", secret)
		}
	}
}

func createdAt(t testing.TB) string {
	raw, ok := id.Parse(beacon.HotspotPrefix, "hs_01m7fh87h4ephbpxmpvwb00000")
	if !ok {
		t.Fatal("not an id")
	}
	return raw.Time().UTC().Format("2006-01-02T15:04:05.000Z")
}

// hours opens a hotspot on Mondays.
func hours(open, closing int) func(*beacon.Hotspot) {
	return func(h *beacon.Hotspot) {
		h.Settings.OperatingHours = &beacon.OperatingHours{
			Timezone: "UTC", Weekly: []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon"}, Open: open * 60, Close: closing * 60}},
		}
	}
}

// all returns the bodies of all files but the API definition.
func (n *network) all() string {
	var text strings.Builder
	for _, path := range files {
		if path != "/open/api" {
			text.Write(n.get(path).Body.Bytes())
		}
	}
	return text.String()
}

// tileAt returns the tile of a place, by the formula of web maps.
func tileAt(z int, lat, lng float64) (x, y int) {
	count, phi := math.Exp2(float64(z)), lat*math.Pi/180
	return int((lng + 180) / 360 * count), int((1 - math.Asinh(math.Tan(phi))/math.Pi) / 2 * count)
}

// A response may be kept, and says when it has changed: in the next edition, if something
// has.
func TestFeeds_Caching(t *testing.T) {
	n := town(t, true)
	untimed := []string{"/open/hotspots.geojson", "/open/openstreetmap.geojson", "/open/tiles/10/301/385.mvt", "/open/tiles.json"}
	tags := map[string]string{}
	for _, path := range paths() {
		w := n.get(path)
		h := w.Header()
		tags[path] = h.Get("Etag")
		if h.Get("Cache-Control") != "public, max-age=60" || tags[path] == "" || h.Get("Vary") != "Accept-Encoding" || h.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %v", path, h)
		}
		again := n.get(path, "If-None-Match", tags[path])
		if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s: again %d", path, again.Code)
		}
		packed := n.get(path, "Accept-Encoding", "gzip")
		if packed.Header().Get("Content-Encoding") == "" {
			continue
		}
		plain, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(plain); err != nil || string(text) != w.Body.String() {
			t.Errorf("%s is another one when compressed: %v", path, err)
		}
		if packed.Header().Get("Etag") == tags[path] {
			t.Errorf("%s has the same tag when compressed", path)
		}
	}
	n.now = n.now.Add(time.Minute) // nothing has changed
	for _, path := range untimed {
		if tag := n.get(path).Header().Get("Etag"); tag != tags[path] {
			t.Errorf("%s has another tag after a minute", path)
		}
	}
	n.beat(n.add(t, beacon.Public, 0, geo.Point{Lat: 40.7, Lng: -74}, func(h *beacon.Hotspot) { h.Version = 2 }))
	for _, path := range untimed { // still the same edition
		if tag := n.get(path).Header().Get("Etag"); tag != tags[path] {
			t.Errorf("%s has another tag within a minute", path)
		}
	}
	n.now = n.now.Add(time.Minute)
	for _, path := range untimed[:3] {
		if tag := n.get(path).Header().Get("Etag"); tag == tags[path] {
			t.Errorf("%s has the same tag after a change", path)
		}
	}
	n.now = n.now.Add(time.Hour) // everything is silent
	if text := n.get("/open/hotspots.geojson").Body.String(); strings.Contains(text, `"online"`) {
		t.Error("hotspots are online without heartbeats")
	}
}

// A hotspot that is deleted, moved or registered is so on the map of the next edition.
func TestFeeds_TilesFollow(t *testing.T) {
	n := town(t, false)
	count := func() int { return strings.Count(n.all(), `"node_id"`) }
	world := func() string { return n.get("/open/tiles/0/0/0.mvt").Body.String() }
	first, before := count(), world()
	h := n.add(t, beacon.Public, 60, geo.Point{Lat: -30, Lng: 20})
	n.now = n.now.Add(time.Minute)
	if count() != first+1 || world() == before {
		t.Error("a new hotspot is not shown")
	}
	h.Version, h.DeletedAt = 2, n.now
	n.put(t, h)
	n.now = n.now.Add(time.Second * 40)
	if count() != first || world() != before {
		t.Error("a deleted hotspot is still shown")
	}
}

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

// An address that asks too often is refused; others are not.
func TestFeeds_Limit(t *testing.T) {
	n := newNetwork(api.Limits{Feeds: ratelimit.Limit{Every: time.Hour, Burst: 3}}, "http://x")
	ask := func(from string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/open/hotspots.geojson", nil)
		r.RemoteAddr = from
		n.feeds.ServeHTTP(connection{w}, r)
		return w
	}
	for i, want := range []int{200, 200, 200, 429} {
		if w := ask("192.0.2.1:1"); w.Code != want || !strings.Contains(fmt.Sprint(w.Header()), `"open-feeds";r=`) || (want == 429) != (w.Header().Get("Retry-After") != "") {
			t.Errorf("request %d: %d %v", i, w.Code, w.Header())
		}
	}
	if w := ask("192.0.2.2:1"); w.Code != http.StatusOK {
		t.Errorf("another address: %d", w.Code)
	}
}

// Readers that do not read cannot take all places from one address, and what they take is
// given back.
func TestFeeds_Readers(t *testing.T) {
	n := town(t, false)
	var blocked []*slowWriter
	ended := make(chan int, openfeeds.MaxReaders)
	start := func(from string) {
		w := &slowWriter{connection: connection{httptest.NewRecorder()}, began: make(chan bool), resume: make(chan bool)}
		r := httptest.NewRequest("GET", "/open/hotspots.geojson", nil)
		r.RemoteAddr = from
		go func() {
			n.feeds.ServeHTTP(w, r)
			ended <- w.Code
		}()
		<-w.began
		blocked = append(blocked, w)
	}
	ask := func(from string) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("HEAD", "/open/hotspots.geojson", nil)
		r.RemoteAddr = from
		n.feeds.ServeHTTP(w, r)
		return w.Code
	}
	for range openfeeds.MaxReadersAnAddress {
		start("192.0.2.1:1")
	}
	if got := ask("192.0.2.1:2"); got != http.StatusTooManyRequests {
		t.Errorf("one more from the address: %d", got)
	}
	for i := len(blocked); i < openfeeds.MaxReaders; i++ {
		start(fmt.Sprintf("192.0.2.%d:1", 10+i))
	}
	if got := ask("192.0.2.2:1"); got != http.StatusServiceUnavailable {
		t.Errorf("one more than there are places: %d", got)
	}
	for _, w := range blocked {
		close(w.resume)
	}
	for range blocked {
		if got := <-ended; got != http.StatusOK {
			t.Errorf("a download ended with %d", got)
		}
	}
	if got := ask("192.0.2.1:1"); got != http.StatusOK {
		t.Errorf("after all have ended: %d", got)
	}
}

// slowWriter blocks at the first piece of a body.
type slowWriter struct {
	connection
	began, resume chan bool
	seen          bool
}

func (w *slowWriter) Write(text []byte) (int, error) {
	if !w.seen {
		w.seen = true
		close(w.began)
		<-w.resume
	}
	return w.connection.Write(text)
}

// The memory that a feed takes does not depend on how many hotspots it has.
func TestFeeds_Memory(t *testing.T) {
	allocations := func(hotspots int) float64 {
		n := newNetwork(api.Limits{}, "http://x")
		for i := range hotspots {
			n.add(t, beacon.Public, i, geo.Point{Lat: 1, Lng: float64(i) / 1e4})
		}
		return testing.AllocsPerRun(3, func() {
			if err := n.feeds.WriteGeoJSON(io.Discard); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(100), allocations(5000); many > few+5 {
		t.Errorf("100 hotspots take %v allocations, 5000 take %v", few, many)
	}
}

// GDAL opens the feeds by URL, as QGIS does, and finds what is in them.
func TestFeeds_GDAL(t *testing.T) {
	level.Tool(t, "ogr2ogr", "gdal-bin")
	server := httptest.NewUnstartedServer(nil)
	n := newNetwork(api.Limits{}, "http://"+server.Listener.Addr().String())
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
