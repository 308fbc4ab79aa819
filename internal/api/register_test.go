package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// A registration is answered with everything that it said and what the server
// added, and reads back the same.
func TestRegister(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		for i, tc := range []struct {
			kind      string
			max       int
			bandwidth float64
			radius    float64
		}{{"home", 16, 50, 50}, {"business", 64, 200, 75}, {"public", 128, 300, 100}} { // decisions N9 and N14
			a := c.post(t, "/v1/hotspots", registration(i, "type", `"`+tc.kind+`"`))
			got := data[hotspot](t, a, http.StatusCreated)
			want := hotspot{
				ID: got.ID, Name: fmt.Sprintf("Hotspot %d", i), Type: tc.kind, Status: "pending",
				Location: place{Lat: 40.7, Lng: -74},
				Device:   device{SSID: "guest", MAC: mac(i)},
				Settings: settings{MaxConnections: tc.max, BandwidthLimitMbps: tc.bandwidth, OperatingHours: []byte("null")},
				RadiusM:  tc.radius,
				Metrics: map[string]any{
					"uptime_30d": 0., "connections_24h": 0., "bandwidth_used_24h_gb": 0., "performance_tier": "standard",
					"signal_quality": "unknown", "current_load": 0., "last_seen_at": nil,
				},
				OperatorID: string(c.user), CreatedAt: "2026-11-15T12:00:00.000Z", UpdatedAt: "2026-11-15T12:00:00.000Z",
			}
			wantEqual(t, "the answer", got, want)
			if a.Header.Get("Location") != "/v1/hotspots/"+got.ID || a.Header.Get("ETag") != `"v1"` || a.Header["Idempotency-Replayed"] != nil {
				t.Errorf("answered %v", a.Header)
			}
			read := s.anyone(t).get(t, a.Header.Get("Location")) // by anyone with a key
			wantEqual(t, "what is read back", data[hotspot](t, read, http.StatusOK), want)
			if read.Header.Get("ETag") != `"v1"` {
				t.Errorf("read back with the ETag %s", read.Header.Get("ETag"))
			}
		}
	})
}

// row is a value of one field in a registration: whether it is accepted and, if
// so, what it reads back as.
type row struct {
	field, value string
	want         any // nil: refused
}

func quoted(s string) string { return `"` + s + `"` }

func registrationRows() []row {
	return slices.Concat(wordRows(), numberRows(), deviceRows(), unknownRows())
}

// A letter as one code point and as two, which mean the same.
const (
	composed   = "\u00e9"
	decomposed = "e\u0301"
)

func wordRows() []row {
	return []row{
		{"name", `"abc"`, "abc"},
		{"name", `"  abc\t "`, "abc"},
		{"name", `"日本語"`, "日本語"},
		{"name", quoted(strings.Repeat(composed, 50)), strings.Repeat(composed, 50)},
		{"name", quoted(strings.Repeat(decomposed, 50)), strings.Repeat(composed, 50)},
		{"name", `"👨‍👩‍👧‍👦"`, "👨‍👩‍👧‍👦"},
		{"name", `"<b>&amp;\"\\"`, `<b>&amp;"\`},
		{"name", `"O'Brien'; DROP TABLE hotspots; --"`, "O'Brien'; DROP TABLE hotspots; --"},
		{"name", `"x\",\"distance_m\":0,\"y"`, `x","distance_m":0,"y`},
		{"name", quoted(strings.Repeat(composed, 51)), nil},
		{"name", `"ab"`, nil},
		{"name", `"日本"`, nil},
		{"name", `""`, nil},
		{"name", `"     "`, nil},
		{"name", `" ab "`, nil},
		{"name", `"\u200b\u200b\u200b"`, nil},
		{"name", `"Corner\u200b Caf\u00e9"`, nil},
		{"name", `"\ufeffCorner"`, nil},
		{"name", `"Cor\u00adner"`, nil},
		{"name", `"Cor\u2060ner"`, nil},
		{"name", `"Cor\u034fner"`, nil},
		{"name", `"Corner\udb40\udc41"`, nil}, // U+E0041, a tag
		{"name", `"a\u0000bc"`, nil},
		{"name", `"abc\u202edef"`, nil},
		{"name", `"abc\ndef"`, nil},
		{"name", `"abc\u0007"`, nil},
		{"name", `null`, nil},
		{"name", `5`, nil},
		{"name", `["abc"]`, nil},
		{"name", `{"abc":1}`, nil},
		{"name", `true`, nil},

		{"type", `"home"`, "home"},
		{"type", `"business"`, "business"},
		{"type", `"public"`, "public"},
		{"type", `"Home"`, nil},
		{"type", `"cafe"`, nil},
		{"type", `""`, nil},
		{"type", `null`, nil},
		{"type", `1`, nil},
		{"location.address", `"1 Main St"`, "1 Main St"},
		{"location.address", `""`, absent},
		{"location.address", `"  "`, absent},
		{"location.address", quoted(strings.Repeat(composed, 200)), strings.Repeat(composed, 200)},
		{"location.address", quoted(strings.Repeat(composed, 201)), nil},
		{"location.address", `"a\u0000b"`, nil},
		{"location.address", `null`, nil},
		{"location.address", `7`, nil},
	}
}

func numberRows() []row {
	return []row{
		{"location.lat", `0`, 0.},
		{"location.lat", `-0`, 0.},
		{"location.lat", `-0.0`, 0.},
		{"location.lat", `90`, 90.},
		{"location.lat", `-90.0`, -90.},
		{"location.lat", `1e-400`, 0.},
		{"location.lat", `4.07E1`, 40.7},
		{"location.lat", `40.712345678901234`, 40.712345678901234},
		{"location.lat", `90.0000001`, nil},
		{"location.lat", `-90.0000001`, nil},
		{"location.lat", `1e400`, nil},
		{"location.lat", `"40.7"`, nil},
		{"location.lat", `null`, nil},
		{"location.lat", `true`, nil},
		{"location.lat", `[1]`, nil},
		{"location.lng", `0`, 0.},
		{"location.lng", `180`, 180.},
		{"location.lng", `-180`, -180.},
		{"location.lng", `180.0000001`, nil},
		{"location.lng", `-180.0000001`, nil},
		{"location.lng", `-1e400`, nil},
		{"location.lng", `"NaN"`, nil},
		{"location.lng", `null`, nil},
		{"location", `null`, nil},
		{"location", `"here"`, nil},
		{"location", `[40.7,-74]`, nil},

		{"settings.max_connections", `1`, 1},
		{"settings.max_connections", `10000`, 10000},
		{"settings.max_connections", `2.0e1`, 20},
		{"settings.max_connections", `0`, nil},
		{"settings.max_connections", `-1`, nil},
		{"settings.max_connections", `1.5`, nil},
		{"settings.max_connections", `10001`, nil},
		{"settings.max_connections", `1e9`, nil},
		{"settings.max_connections", `1e400`, nil},
		{"settings.max_connections", `"5"`, nil},
		{"settings.max_connections", `null`, nil},
		{"settings.max_connections", `true`, nil},
		{"settings.bandwidth_limit_mbps", `0.125`, 0.125},
		{"settings.bandwidth_limit_mbps", `100000`, 100000.},
		{"settings.bandwidth_limit_mbps", `0`, nil},
		{"settings.bandwidth_limit_mbps", `-1`, nil},
		{"settings.bandwidth_limit_mbps", `100000.1`, nil},
		{"settings.bandwidth_limit_mbps", `1e-400`, nil},
		{"settings.bandwidth_limit_mbps", `null`, nil},
		{"settings.bandwidth_limit_mbps", `"5"`, nil},
		{"settings.coverage_radius_m", `10`, 10.},
		{"settings.coverage_radius_m", `500`, 500.},
		{"settings.coverage_radius_m", `9.99`, nil},
		{"settings.coverage_radius_m", `500.1`, nil},
		{"settings.coverage_radius_m", `0`, nil},
		{"settings.coverage_radius_m", `null`, 0.},
		{"settings", `{}`, "{}"},
		{"settings", `null`, nil},
		{"settings", `"x"`, nil},
		{"settings", `[]`, nil},
	}
}

func deviceRows() []row {
	return []row{
		{"device.ssid", `" guest "`, " guest "},
		{"device.ssid", quoted(strings.Repeat("x", 32)), strings.Repeat("x", 32)},
		{"device.ssid", quoted(strings.Repeat(composed, 16)), strings.Repeat(composed, 16)}, // 32 bytes
		{"device.ssid", quoted(strings.Repeat(composed, 16) + "x"), nil},
		{"device.ssid", quoted(strings.Repeat("x", 33)), nil},
		{"device.ssid", `""`, nil},
		{"device.ssid", `"a\u0000"`, nil},
		{"device.ssid", `null`, nil},
		{"device.ssid", `5`, nil},
		{"device", `null`, nil},
		{"device", `"x"`, nil},
		{"device", `[]`, nil},
		{"device.mac_address", `"AA:BB:CC:DD:EE:01"`, "AA:BB:CC:DD:EE:01"},
		{"device.mac_address", `"aa-bb-cc-dd-ee-02"`, "aa-bb-cc-dd-ee-02"},
		{"device.mac_address", `"aa.bb.cc.dd.ee.03"`, "aa.bb.cc.dd.ee.03"},
		{"device.mac_address", `"AABB.ccdd.ee04"`, "AABB.ccdd.ee04"},
		{"device.mac_address", `"aAbBcCdDeE05"`, "aAbBcCdDeE05"},
		{"device.mac_address", `""`, nil},
		{"device.mac_address", `"aa:bb:cc:dd:ee"`, nil},
		{"device.mac_address", `"aa:bb:cc:dd:ee:ff:00:11"`, nil},
		{"device.mac_address", `"aa:bb:cc-dd:ee:ff"`, nil},
		{"device.mac_address", `"zz:bb:cc:dd:ee:ff"`, nil},
		{"device.mac_address", `" aa:bb:cc:dd:ee:f"`, nil},
		{"device.mac_address", `"aa:bb:cc:dd:ee:ff "`, nil},
		{"device.mac_address", `"00:00:00:00:00:00"`, nil},
		{"device.mac_address", `"ff:ff:ff:ff:ff:ff"`, nil},
		{"device.mac_address", `"01:00:5e:00:00:01"`, nil},
		{"device.mac_address", `null`, nil},
		{"device.mac_address", `12`, nil},
	}
}

// What the server sets is as unknown as anything (decision N7), and case counts.
func unknownRows() []row {
	return []row{
		{"id", `"hs_01kb3gzk00e9x8q6s5t4v3w2y1"`, nil},
		{"status", `"online"`, nil},
		{"operator_id", `"usr_1"`, nil},
		{"metrics", `{}`, nil},
		{"created_at", `"2026-11-15T12:00:00Z"`, nil},
		{"updated_at", `null`, nil},
		{"location.verified", `true`, nil},
		{"location.verified_at", `null`, nil},
		{"device.linked", `true`, nil},
		{"device.linked_at", `""`, nil},
		{"settings.extra", `1`, nil},
		{"NAME", `"Another"`, nil},
		{"Location", `{}`, nil},
		{"location.Lat", `1`, nil},
		{"", `1`, nil},
		{"__proto__", `{}`, nil},
	}
}

func TestRegister_Fields(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		refused, made := 0, map[string]hotspot{}
		for n, tc := range registrationRows() {
			a := c.post(t, "/v1/hotspots", registration(n, tc.field, tc.value))
			if tc.want == nil {
				refused++
				if messages := wantFault(t, a, http.StatusBadRequest, "invalid_request", tc.field); messages[tc.field] == "" {
					t.Errorf("%s %s: no message", tc.field, tc.value)
				}
				continue
			}
			h := data[hotspot](t, a, http.StatusCreated)
			read := data[hotspot](t, c.get(t, "/v1/hotspots/"+h.ID), http.StatusOK)
			wantEqual(t, tc.field+" "+tc.value, valueOf(h, tc.field), tc.want)
			wantEqual(t, tc.field+" "+tc.value+" read back", valueOf(read, tc.field), tc.want)
			near := c.nearby(t, h.Location.Lat, h.Location.Lng, "&status=all&limit=100&radius=1")
			if !slices.ContainsFunc(near, func(found summary) bool { return found.shows(h) }) {
				t.Errorf("%s %s: nearby shows it otherwise: %+v", tc.field, tc.value, near)
			}
			made[h.ID] = h
		}
		page := whole[[]hotspot](t, c.get(t, "/v1/users/me/hotspots?per_page=1"), http.StatusOK)
		if page.Pagination.Total != len(made) || len(made) < 35 || refused < 90 {
			t.Errorf("%d are listed, %d were registered, %d refused", page.Pagination.Total, len(made), refused)
		}
	})
}

// shows reports whether a summary says of a hotspot what the whole of it says.
func (found summary) shows(h hotspot) bool {
	address := ""
	if h.Location.Address != nil {
		address = *h.Location.Address
	}
	radius := h.Settings.CoverageRadiusM
	if radius == 0 {
		radius = map[string]float64{"home": 50, "business": 75, "public": 100}[h.Type] // decision N14
	}
	return found.ID == h.ID && found.Name == h.Name && found.Type == h.Type && found.Status == h.Status && found.CoverageRadiusM == radius && h.RadiusM == radius &&
		found.Location.Lat == h.Location.Lat && found.Location.Lng == h.Location.Lng && found.Location.Address == address
}

func valueOf(h hotspot, field string) any {
	address := absent
	if h.Location.Address != nil {
		address = *h.Location.Address
	}
	return map[string]any{
		"name": h.Name, "type": h.Type, "location.lat": h.Location.Lat, "location.lng": h.Location.Lng, "location.address": address,
		"device.ssid": h.Device.SSID, "device.mac_address": h.Device.MAC, "settings.max_connections": h.Settings.MaxConnections,
		"settings.bandwidth_limit_mbps": h.Settings.BandwidthLimitMbps, "settings.coverage_radius_m": h.Settings.CoverageRadiusM,
		"settings": "{}",
	}[field]
}

// Decision N1: all faulty fields at once. Decision N2: missing_parameter when
// every fault is an absent field.
func TestRegister_ManyFaults(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		required := []string{"name", "type", "location.lat", "location.lng", "device.ssid", "device.mac_address"}
		for _, tc := range []struct {
			body, code string
			fields     []string
		}{
			{`{}`, "missing_parameter", required},
			{`{"location":{},"device":{}}`, "missing_parameter", required},
			{`{"settings":{}}`, "missing_parameter", required},
			{registration(1, "name", ""), "missing_parameter", []string{"name"}},
			{registration(1, "location", ""), "missing_parameter", []string{"location.lat", "location.lng"}},
			{registration(1, "location.lng", ""), "missing_parameter", []string{"location.lng"}},
			{registration(1, "device", ""), "missing_parameter", []string{"device.ssid", "device.mac_address"}},
			{registration(1, "name", "", "type", `"cafe"`), "invalid_request", []string{"name", "type"}},
			{registration(1, "name", "", "type", `7`), "invalid_request", []string{"name", "type"}},
			{registration(1, "name", "", "extra", `7`), "invalid_request", []string{"name", "extra"}},
			{registration(1, "location", `5`, "device.ssid", ""), "invalid_request", []string{"location", "device.ssid"}},
			{registration(1, "location", `null`, "device", `null`), "invalid_request", []string{"location", "device"}},
			{
				registration(1, "name", `"x"`, "type", `null`, "location.lat", `91`, "location.lng", `"a"`, "location.address", `1`,
					"device.ssid", `""`, "device.mac_address", `"x"`, "settings.max_connections", `0`, "settings.bandwidth_limit_mbps", `0`,
					"settings.coverage_radius_m", `1`, "settings.operating_hours", `1`, "status", `1`, "device.linked", `1`),
				"invalid_request",
				[]string{
					"name", "type", "location.lat", "location.lng", "location.address", "device.ssid", "device.mac_address",
					"settings.max_connections", "settings.bandwidth_limit_mbps", "settings.coverage_radius_m", "settings.operating_hours",
					"status", "device.linked",
				},
			},
		} {
			wantFault(t, c.post(t, "/v1/hotspots", tc.body), http.StatusBadRequest, tc.code, tc.fields...)
		}
	})
}

// Decision N8: one device, however its address is spelled; whose it is, is not
// told.
func TestRegister_MACTaken(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		first := s.operator(t)
		made := first.register(t, 1, "device.mac_address", `"aa:bb:cc:dd:ee:ff"`)
		for _, c := range []client{first, s.operator(t)} {
			for _, same := range []string{"aa:bb:cc:dd:ee:ff", "AA-BB-CC-DD-EE-FF", "aabb.ccDD.eeff", "AABBCCDDEEFF", "aa.bb.cc.dd.ee.ff"} {
				a := c.post(t, "/v1/hotspots", registration(2, "device.mac_address", quoted(same)))
				wantFault(t, a, http.StatusConflict, "conflict")
				if strings.Contains(string(a.body), string(first.user)) || strings.Contains(string(a.body), made.ID) {
					t.Errorf("%s tells whose it is", a)
				}
			}
		}
		if made.Device.MAC != "aa:bb:cc:dd:ee:ff" {
			t.Errorf("echoed as %s", made.Device.MAC)
		}
	})
}

// Torture 4.6: fifty at once, one wins.
func TestRegister_MACRace(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		spellings := []string{"aa:bb:cc:dd:ee:ff", "AA-BB-CC-DD-EE-FF", "aabb.ccdd.eeff", "AABBCCDDEEFF"}
		statuses := inParallel(50, func(i int) int {
			c := s.operator(t)
			return c.post(t, "/v1/hotspots", registration(i, "device.mac_address", quoted(spellings[i%4]))).StatusCode
		})
		if tally := tally(statuses); tally[http.StatusCreated] != 1 || tally[http.StatusConflict] != 49 {
			t.Errorf("answered %v; want one 201 and 49 times 409", tally)
		}
		if n := len(s.changes(t, beacon.HotspotRegistered)); n != 1 {
			t.Errorf("%d changes were recorded; want 1", n)
		}
	})
}

// inParallel calls fn n times at once and gives what it returned, by i.
func inParallel[T any](n int, fn func(i int) T) []T {
	results := make([]T, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { results[i] = fn(i) })
	}
	wg.Wait()
	return results
}

func tally(statuses []int) map[int]int {
	counts := map[int]int{}
	for _, status := range statuses {
		counts[status]++
	}
	return counts
}
