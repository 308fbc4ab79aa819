package api_test

import (
	"encoding/json"
	"math"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"
)

// What is asked after an answer knows what the answer said: from registration to
// deletion.
func TestCoverage_IsLive(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		const here = "north=40.71&south=40.69&east=-73.99&west=-74.01&zoom=16"
		see := func(when string, count int, status string, radius, covering float64) {
			t.Helper()
			got := c.coverage(t, here)
			if *got.Count != count || len(got.Hotspots) != count || *got.Aggregated {
				t.Fatalf("%s: %+v; want %d hotspots", when, got, count)
			}
			if count > 0 && (got.Hotspots[0].Status != status || got.Hotspots[0].RadiusM != radius) {
				t.Errorf("%s: %+v; want it %s, %v m", when, got.Hotspots[0], status, radius)
			}
			want := math.Pi * covering * covering / 1e6
			if area := number(t, got.AreaKm2); math.Abs(area-want) > 1e-3*want {
				t.Errorf("%s: %v km²; want %v", when, area, want)
			}
			if share := number(t, got.Share); math.Abs(share-want/3.7493) > 1e-3*share { // 2.2239 km by 1.6859 km
				t.Errorf("%s: a share of %v", when, share)
			}
		}
		see("before", 0, "", 0, 0)
		m := c.install(t, 1)
		see("registered and linked", 1, "pending", 50, 0)
		s.verify(t, m.hotspot)
		see("verified", 1, "offline", 50, 0)
		beat := func(seq int) {
			t.Helper()
			m.beat(t, at(`{"boot_id":"a","seq":%d,"clients":1,"rx_bytes":1,"tx_bytes":1}`, seq)).want(t, http.StatusOK)
		}
		beat(1)
		see("heard of", 1, "online", 50, 50)
		c.patch(t, m.hotspot, `{"settings":{"coverage_radius_m":120.5}}`).want(t, http.StatusOK)
		see("with a radius of its own", 1, "online", 120.5, 120.5)
		s.advance(240 * time.Second)
		see("silent for as long as it may be", 1, "online", 120.5, 120.5)
		s.advance(time.Millisecond)
		see("silent for longer", 1, "offline", 120.5, 0)
		beat(2)
		see("heard of again", 1, "online", 120.5, 120.5)
		second := c.install(t, 2) // at the same place, and smaller: it adds nothing
		s.verify(t, second.hotspot)
		second.beat(t, `{"boot_id":"a","seq":1,"clients":1,"rx_bytes":1,"tx_bytes":1}`).want(t, http.StatusOK)
		got := c.coverage(t, here)
		if want := discArea(120.5); *got.Count != 2 || math.Abs(number(t, got.AreaKm2)-want) > 1e-9*want {
			t.Errorf("with one more at the same place: %+v", got)
		}
		c.delete(t, m.hotspot).want(t, http.StatusNoContent)
		see("the first deleted", 1, "online", 50, 50)
		c.delete(t, second.hotspot+"/device").want(t, http.StatusNoContent)
		see("unlinked", 1, "pending", 50, 0)
	})
}

type gained struct {
	Bounds bounds      `json:"bounds"`
	Before json.Number `json:"before_km2"`
	After  json.Number `json:"after_km2"`
	Added  json.Number `json:"added_km2"`
}

// wantSum checks that the numbers add up as they are written.
func (g gained) wantSum(t testing.TB) {
	t.Helper()
	var n [3]big.Rat
	for i, text := range []json.Number{g.Before, g.Added, g.After} {
		if _, ok := n[i].SetString(text.String()); !ok || n[i].Sign() < 0 {
			t.Fatalf("%q is no area", text)
		}
	}
	if new(big.Rat).Add(&n[0], &n[1]).Cmp(&n[2]) != 0 {
		t.Errorf("%s + %s is not %s", g.Before, g.Added, g.After)
	}
}

func TestWhatIf(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	s.populate(t, 100, grid(3, 40.7, -74, 0.01)...) // the first is online
	const here = `"bounds":{"north":40.8,"south":40.6,"east":-73.9,"west":-74.1}`
	disc := discArea(100)
	for _, tc := range []struct {
		what, add   string
		added, some float64
	}{
		{"nothing", ``, 0, 0},
		{"one elsewhere", `{"lat":40.75,"lng":-74,"radius_m":100}`, disc, 1e-9},
		{"one at the same place", `{"lat":40.7,"lng":-74,"radius_m":100}`, 0, 0},
		{"a smaller one there", `{"lat":40.7,"lng":-74,"radius_m":10}`, 0, 0},
		{"a larger one there", `{"lat":40.7,"lng":-74,"radius_m":500}`, discArea(500) - disc, 1e-9},
		{"one where another is offline", `{"lat":40.7,"lng":-73.99,"radius_m":100}`, disc, 1e-9},
		{"two at one place", `{"lat":40.75,"lng":-74,"radius_m":100},{"lat":40.75,"lng":-74,"radius_m":60.5}`, disc, 1e-9},
		{"one out of the box", `{"lat":41,"lng":-74,"radius_m":100}`, 0, 0},
		{"one on its border", `{"lat":40.8,"lng":-74,"radius_m":100}`, disc / 2, 1e-4},
	} {
		a := c.post(t, "/v1/coverage/simulate", `{`+here+`,"add":[`+tc.add+`]}`)
		got := data[gained](t, a, http.StatusOK)
		got.wantSum(t)
		if added := number(t, got.Added); math.Abs(added-tc.added) > tc.some*tc.added || math.Abs(number(t, got.Before)-disc) > 1e-9*disc {
			t.Errorf("%s: %s; want %v added to %v", tc.what, a, tc.added, disc)
		}
		if got.Bounds != (bounds{40.8, 40.6, -73.9, -74.1}) {
			t.Errorf("%s: %+v", tc.what, got.Bounds)
		}
	}
	now := c.coverage(t, "north=40.8&south=40.6&east=-73.9&west=-74.1")
	if got := data[gained](t, c.post(t, "/v1/coverage/simulate", `{`+here+`,"add":[]}`), http.StatusOK); got.Before != now.AreaKm2 || *now.Count != 3 {
		t.Errorf("before: %s; coverage says %s of %d hotspots", got.Before, now.AreaKm2, *now.Count)
	}
	all := `{"bounds":{"north":90,"south":-90,"east":180,"west":-180},"add":[` + strings.Repeat(`{"lat":-90,"lng":7,"radius_m":500},`, 50) + strings.Repeat(`{"lat":1,"lng":180,"radius_m":10.5},`, 49) + `{"lat":0,"lng":0,"radius_m":10}]}`
	got := data[gained](t, c.post(t, "/v1/coverage/simulate", all), http.StatusOK)
	got.wantSum(t)
	if want := discArea(500) + discArea(10.5) + discArea(10); math.Abs(number(t, got.Added)-want) > 1e-9*want {
		t.Errorf("100 around the world add %s; want %v", got.Added, want)
	}
}

// Decisions N2, N7 and X8.
func TestWhatIf_Faults(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	const good = `"bounds":{"north":1,"south":0,"east":1,"west":0}`
	for body, fields := range map[string][]string{
		`{}`: {"bounds.north", "bounds.south", "bounds.east", "bounds.west", "add"}, `{` + good + `}`: {"add"}, `{"bounds":{"north":1,"south":0},"add":[]}`: {"bounds.east", "bounds.west"},
		`{` + good + `,"add":[{},{"lat":0,"lng":0,"radius_m":50},{"lat":0}]}`: {"add[0].lat", "add[0].lng", "add[0].radius_m", "add[2].lng", "add[2].radius_m"},
	} {
		wantFault(t, c.post(t, "/v1/coverage/simulate", body), http.StatusBadRequest, "missing_parameter", fields...)
	}
	one := func(addition string) string {
		return `{` + good + `,"add":[{"lat":0,"lng":0,"radius_m":50},` + addition + `]}`
	}
	for body, fields := range map[string][]string{
		`{"bounds":null,"add":null}`: {"bounds", "add"}, `{"bounds":[],"add":{}}`: {"bounds", "add"}, `{"bounds":7,"add":[]}`: {"bounds"},
		`{"bounds":{"north":0,"south":0,"east":180,"west":-180,"zoom":3},"add":[]}`:                                      {"bounds.north", "bounds.zoom"},
		`{"bounds":{"north":"1","south":null,"east":-180,"west":180},"add":[],"hotspots":[]}`:                            {"bounds.north", "bounds.south", "bounds.east", "hotspots"},
		`{"bounds":{"north":-91,"south":90.1,"east":180.5,"west":1e300},"add":[{"lat":91,"lng":-181,"radius_m":9.999}]}`: {"bounds.north", "bounds.south", "bounds.east", "bounds.west", "add[0].lat", "add[0].lng", "add[0].radius_m"},
		one(`7`): {"add[1]"}, one(`null`): {"add[1]"}, one(`{"lat":0,"lng":0,"radius_m":500.001}`): {"add[1].radius_m"}, one(`{"lat":0,"lng":0,"radius_m":1e999}`): {"add[1].radius_m"},
		one(`{"lat":0,"lng":0,"radius_m":50,"id":"x"}`): {"add[1].id"}, one(`{"lat":"0","lng":0,"radius_m":0}`): {"add[1].lat", "add[1].radius_m"},
		`{` + good + `,"add":[` + strings.Repeat(`{"lat":0,"lng":0,"radius_m":50},`, 100) + `{}]}`: {"add"},
		`{` + good + `,"add":[` + strings.Repeat(`{},`, 600) + `{}]}`:                              {"add"},
	} {
		wantFault(t, c.post(t, "/v1/coverage/simulate", body), http.StatusBadRequest, "invalid_request", fields...)
	}
	for _, broken := range []string{`null`, `[]`, `{`, `{"add":[],"add":[]}`, `{}{}`, ``} {
		if a := c.post(t, "/v1/coverage/simulate", broken); a.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %s", broken, a)
		}
	}
	wantFault(t, c.post(t, "/v1/coverage/simulate", `{}`, "Content-Type", "text/plain"), http.StatusUnsupportedMediaType, "unsupported_media_type")
	wantFault(t, c.post(t, "/v1/coverage/simulate", strings.Repeat(" ", 70_000)), http.StatusRequestEntityTooLarge, "payload_too_large")
}
