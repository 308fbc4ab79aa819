package openfeeds_test

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
	"github.com/beacon-wifi/beacon/test/openapi"
)

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

// Meshviewer opens a node whose id has the form of its route, which was another before 2026, and
// maps of many communities lead from there to the network and to the page of a hotspot.
func TestFeeds_Freifunk(t *testing.T) {
	routes := []*regexp.Regexp{
		regexp.MustCompile(`^/?(\w{2})?/?(map|graph)?(?:/(?:([A-Za-z\d.]+)|([A-Za-z\d.]+-[A-Za-z\d.]+)|(?:(\d+)/(-?[\d.]+)/(-?[\d.]+))))?/?(?:\?.*)?$`),
		regexp.MustCompile(`^/?#?!?/(\w{2})?/?(map|graph)?/?([a-f\d]{12})?([a-f\d\-]{25})?/?(?:(\d+)/(-?[\d.]+)/(-?[\d.]+))?$`),
	}
	n := town(t, true)
	n.who.Name = `Free "Wi-Fi"`
	var mesh struct {
		Nodes []struct {
			ID string `json:"node_id"`
		}
	}
	var list struct {
		Community struct{ Name, Href string }
		Nodes     []struct{ ID, Href string }
	}
	decode := func(path string, to any) {
		t.Helper()
		if err := json.Unmarshal(n.get(path).Body.Bytes(), to); err != nil {
			t.Fatal(err)
		}
	}
	decode("/open/meshviewer.json", &mesh)
	decode("/open/nodelist.json", &list)
	ids := map[string]bool{}
	for i, node := range mesh.Nodes {
		ids[node.ID] = true
		for _, route := range routes {
			if parts := route.FindStringSubmatch("/de/map/" + node.ID); parts == nil || parts[3] != node.ID {
				t.Errorf("%s opens %q", node.ID, parts)
			}
		}
		if mac, err := hex.DecodeString(node.ID); err != nil || mac[0]&3 != 2 {
			t.Errorf("%s could be the MAC address of a device", node.ID)
		}
		if want := "http://x/h/" + list.Nodes[i].ID; list.Nodes[i].Href != want {
			t.Errorf("the page is %s; want %s", list.Nodes[i].Href, want)
		}
	}
	if len(ids) != 40 {
		t.Errorf("40 nodes have %d ids", len(ids))
	}
	if list.Community.Name != n.who.Name || list.Community.Href != "http://x" {
		t.Errorf("the community is %+v", list.Community)
	}
	const first = "2667f9990307" // of hs_01m7fh87h4ephbpxmpvwb00000: links to it stay
	if mesh.Nodes[0].ID != first {
		t.Errorf("the first node is %s; want %s", mesh.Nodes[0].ID, first)
	}
}

// How many clients a hotspot has is in the files for Freifunk maps if the network says so, from
// five on and in fives: fewer are none, so that nobody can tell from a file that somebody is there.
func TestFeeds_Clients(t *testing.T) {
	var n *network
	shown := func() (all []string) {
		var mesh struct {
			Nodes []struct {
				Name  string `json:"hostname"`
				Of    int    `json:"clients"`
				Other int    `json:"clients_other"`
			}
		}
		var list struct {
			Nodes []struct{ Status struct{ Clients *int } }
		}
		for path, to := range map[string]any{"/open/meshviewer.json": &mesh, "/open/nodelist.json": &list} {
			if err := json.Unmarshal(n.get(path).Body.Bytes(), to); err != nil {
				t.Fatal(err)
			}
		}
		for i, node := range mesh.Nodes {
			listed := "none"
			if c := list.Nodes[i].Status.Clients; c != nil {
				listed = fmt.Sprint(*c)
			}
			if node.Of != node.Other || strings.HasPrefix(node.Name, "home") {
				t.Errorf("a node is %+v", node)
			}
			all = append(all, fmt.Sprintf("%d %s", node.Of, listed))
		}
		return all
	}
	serve := func(show bool, clients ...int) *network {
		n = newNetwork(edge.Limits{}, "http://x")
		n.who.ShowClients = show
		for i, c := range clients {
			at := geo.Point{Lat: 40 + float64(i), Lng: -74}
			n.serving(n.add(t, beacon.Public, i, at), c)
			n.serving(n.add(t, beacon.Home, 100+i, at), c+50)
		}
		return n
	}
	serve(false, 0, 4, 5, 99)
	if got := shown(); !slices.Equal(got, []string{"0 none", "0 none", "0 none", "0 none"}) {
		t.Errorf("off: %v", got)
	}
	off := n.all()
	serve(true, 0, 1, 4, 5, 9, 10, 37, 10_000)
	if got := shown(); !slices.Equal(got, []string{"0 0", "0 0", "0 0", "5 5", "5 5", "10 10", "35 35", "10000 10000"}) {
		t.Errorf("on: %v", got)
	}
	for _, path := range files { // no other feed has them
		if body := n.get(path).Body.String(); strings.Contains(body, "clients") && path != "/open/meshviewer.json" && path != "/open/nodelist.json" && path != "/open/api" {
			t.Errorf("%s has clients", path)
		}
	}
	n.now = n.now.Add(time.Hour)
	if got := shown(); got[7] != "0 0" {
		t.Errorf("of one that is offline: %v", got)
	}
	serve(true, 0, 4, 5, 99).who.ShowClients = false
	if n.all() != off {
		t.Error("switched off, it leaves a trace")
	}
	if few, none := serve(true, 1, 2, 3, 4).all(), serve(true, 0, 0, 0, 0).all(); few != none {
		t.Error("fewer than five can be told from none")
	}
}

// Each response says under which license the data are, as a header, and what has room for it
// names the network and whom to credit. What is not set leaves no trace.
func TestFeeds_Terms(t *testing.T) {
	n := town(t, true)
	for _, path := range paths() {
		w := n.get(path)
		if body := w.Body.String(); path != "/open/api" && (w.Header()["Link"] != nil || strings.Contains(body, `"network":`) || strings.Contains(body, `"attribution":`) || strings.Contains(body, `"license":`)) {
			t.Errorf("%s has terms: %.200s", path, body)
		}
	}
	before := map[string]string{}
	for _, path := range paths() {
		before[path] = n.get(path).Header().Get("Etag")
	}
	n.who = beacon.Identity{Name: "Freie Netze", License: "https://example.org/by?a=1&b=2", Attribution: "© <b>Freie Netze</b>"}
	document := openapi.Load(t, openfeeds.OpenAPI())
	for _, path := range paths() {
		w := n.get(path)
		document.Check(t, httptest.NewRequest("GET", "http://x/"+strings.TrimPrefix(strings.TrimPrefix(path, "/open"), "/"), nil), w.Result(), w.Body.Bytes())
		if got := w.Header().Get("Link"); got != `<https://example.org/by?a=1&b=2>; rel="license"` {
			t.Errorf("%s has the link %s", path, got)
		}
		var is map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &is); err != nil { // a tile
			continue
		}
		features, meshviewer, nodelist := is["features"] != nil, is["timestamp"] != nil, is["community"] != nil
		if features || meshviewer || nodelist || path == "/open/network.json" {
			if is["network"] != n.who.Name || is["license"] != n.who.License || is["attribution"] != n.who.Attribution || before[path] == w.Header().Get("Etag") {
				t.Errorf("%s does not say whose it is, or has the tag of before: %.200s", path, w.Body)
			}
		}
		switch path {
		case "/open/tiles.json":
			if is["name"] != n.who.Name || is["attribution"] != `<a href="https://example.org/by?a=1&amp;b=2">© &lt;b&gt;Freie Netze&lt;/b&gt;</a>` {
				t.Errorf("the tiles are of %v, %v", is["name"], is["attribution"])
			}
		case "/open", "/open/collections/hotspots":
			links, _ := json.Marshal(is["links"])
			if !strings.Contains(string(links), `"rel":"license"`) || path == "/open" && is["attribution"] != n.who.Attribution {
				t.Errorf("%s has no license: %s", path, links)
			}
		}
	}
	page := n.get("/open", "Accept", browser).Body.String()
	if !strings.Contains(page, `<a rel="license" href="https://example.org/by?a=1&amp;b=2">`) || strings.Contains(page, "<b>Freie") {
		t.Errorf("the page is %s", page)
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
		if a := d.Audience(); (a == beacon.Everyone || a == beacon.EveryoneIfShown) && d != beacon.ShownUptime { // which pages show
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
		beacon.ShownOpen: `"open_now":false`, beacon.ShownUntil: `"open_until":"2026`, beacon.ShownOpens: `"opens_at":"2026`, beacon.ShownHours: "10:00–14:00",
		beacon.ShownClients: `"clients":5`,
	}
	for _, detail := range shown {
		n := town(t, false)
		page := string(n.add(t, beacon.Business, 90, geo.Point{Lat: 1, Lng: 1}, hours(10, 14)).ID)
		n.serving(n.add(t, beacon.Business, 91, geo.Point{Lat: 1, Lng: 1}, hours(14, 16)), 7)
		n.who.ShowClients = true
		all := func() string { return n.all() + readPage(pagesOf(n, mostlyUp), "GET", "/h/"+page).Body.String() }
		before := all()
		n.now = n.now.Add(time.Minute)
		n.feeds.Hide(detail)
		after := all()
		value, other := values[detail]
		switch {
		case other && !strings.Contains(before, value):
			t.Errorf("%s: %q is not shown", detail, value)
		case other && strings.Contains(after, value):
			t.Errorf("%s: %q is still shown", detail, value)
		case !other && strings.Contains(after, "hs_"):
			t.Errorf("without %s there are hotspots", detail)
		}
		const zone = `"timezone":"UTC"`
		if detail == beacon.ShownHours && (!strings.Contains(before, zone) || strings.Contains(after, zone)) {
			t.Error("the zone is not shown with the hours, or without them")
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
		vary := "Accept-Encoding"
		if strings.TrimSuffix(path, "/") == "/open" { // of which browsers get another form
			vary = "Accept, Accept-Encoding, Accept-Language"
		}
		if h.Get("Cache-Control") != "public, max-age=60" || tags[path] == "" || h.Get("Vary") != vary || h.Get("Access-Control-Allow-Origin") != "*" {
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

// An address that asks too often is refused; others are not.
func TestFeeds_Limit(t *testing.T) {
	n := newNetwork(edge.Limits{Feeds: ratelimit.Limit{Every: time.Hour, Burst: 3}}, "http://x")
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
