package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

type changed struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Settings  settings `json:"settings"`
	UpdatedAt string   `json:"updated_at"`
}

// Decision N11: a merge patch changes what it names, and nothing else.
func TestPatch(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		want := c.register(t, 1, "location.address", `"1 Main St"`)
		spot := "/v1/hotspots/" + want.ID
		saturdays := `{"timezone":"Europe/Berlin","weekly":[{"days":["sat"],"open":"10:00","close":"18:00"}],"exceptions":[]}`
		version := 1
		for i, tc := range []struct {
			body    string
			changes bool
			edit    func(*hotspot)
		}{
			{`{"name":" Café \u0041 "}`, true, func(h *hotspot) { h.Name = "Café A" }},
			{`{"settings":{"max_connections":20}}`, true, func(h *hotspot) { h.Settings.MaxConnections = 20 }},
			{`{"settings":{"bandwidth_limit_mbps":0.5}}`, true, func(h *hotspot) { h.Settings.BandwidthLimitMbps = 0.5 }},
			{`{"settings":{"coverage_radius_m":99.5}}`, true, func(h *hotspot) { h.Settings.CoverageRadiusM, h.RadiusM = 99.5, 99.5 }},
			{`{"settings":{"operating_hours":` + saturdays + `}}`, true, func(h *hotspot) { h.Settings.OperatingHours = []byte(saturdays) }},
			{`{}`, false, nil},
			{`{"settings":{}}`, false, nil},
			{`{"name":"Café A"}`, false, nil},
			{`{"name":"Café A  ","settings":{"max_connections":20.0,"operating_hours":` + saturdays + `}}`, false, nil},
			{`{"name":"Third","settings":{"max_connections":1,"bandwidth_limit_mbps":100000}}`, true, func(h *hotspot) {
				h.Name, h.Settings.MaxConnections, h.Settings.BandwidthLimitMbps = "Third", 1, 100000
			}},
			{`{"settings":{"operating_hours":null}}`, true, func(h *hotspot) { h.Settings.OperatingHours = []byte("null") }},
			{`{"settings":{"operating_hours":null}}`, false, nil},
			{`{"type":"public"}`, true, func(h *hotspot) { h.Type = "public" }},
			{`{"type":"public","location":{"address":"2 Main St"},"device":{"ssid":"Other"}}`, true, func(h *hotspot) {
				h.Location.Address, h.Device.SSID = new("2 Main St"), "Other"
			}},
			{`{"type":"public"}`, false, nil},
		} {
			s.advance(time.Second)
			a := c.patch(t, spot, tc.body)
			got := data[changed](t, a, http.StatusOK)
			if tc.changes {
				version++
				tc.edit(&want)
				want.UpdatedAt = fmt.Sprintf("2026-11-15T12:00:%02d.000Z", i+1)
			}
			wantEqual(t, tc.body, got, changed{want.ID, want.Name, want.Settings, want.UpdatedAt})
			read := c.get(t, spot)
			wantEqual(t, "read back after "+tc.body, data[hotspot](t, read, http.StatusOK), want)
			if tag := fmt.Sprintf(`"v%d"`, version); a.Header.Get("ETag") != tag || read.Header.Get("ETag") != tag {
				t.Errorf("%s: ETag %s, then %s; want %s", tc.body, a.Header.Get("ETag"), read.Header.Get("ETag"), tag)
			}
		}
	})
}

func TestPatch_Refused(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		made := c.register(t, 1)
		spot := "/v1/hotspots/" + made.ID
		rows := []struct {
			body   string
			fields []string
		}{
			{`{"name":null}`, []string{"name"}},
			{`{"name":"ab"}`, []string{"name"}},
			{`{"name":5}`, []string{"name"}},
			{`{"settings":null}`, []string{"settings"}},
			{`{"settings":[]}`, []string{"settings"}},
			{
				`{"settings":{"max_connections":null,"bandwidth_limit_mbps":null,"coverage_radius_m":null}}`,
				[]string{"settings.max_connections", "settings.bandwidth_limit_mbps"},
			},
			{`{"settings":{"max_connections":5},"name":"x"}`, []string{"name"}},
			{`{"name":"Good name","settings":{"max_connections":"5","nope":1},"status":"online","type":"shop"}`, []string{"settings.max_connections", "settings.nope", "status", "type"}},
		}
		for _, readOnly := range []string{
			"id", "status", "type", "location", "device", "metrics", "operator_id", "created_at", "updated_at", "version", "deleted_at", "Name",
		} {
			rows = append(rows, struct {
				body   string
				fields []string
			}{`{"` + readOnly + `":null}`, []string{readOnly}})
		}
		for _, value := range []string{"1.5", "0", "-1", `"5"`, "1e9", "10001", "1e400", "true", "[]", "{}"} {
			rows = append(rows, struct {
				body   string
				fields []string
			}{`{"settings":{"max_connections":` + value + `}}`, []string{"settings.max_connections"}})
		}
		for _, tc := range rows {
			wantFault(t, c.patch(t, spot, tc.body), http.StatusBadRequest, "invalid_request", tc.fields...)
		}
		wantEqual(t, "the hotspot", data[hotspot](t, c.get(t, spot), http.StatusOK), made)
	})
}

// A change is made to the version that the client means, or not at all.
func TestPatch_IfMatch(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID
		version := 1
		for i, tc := range []struct {
			tags  []string
			stale bool
		}{
			{[]string{`"v1"`}, false}, // now v2
			{[]string{`"v1"`}, true},
			{[]string{`"v3"`}, true},
			{[]string{`"v1", "v2"`}, false}, // v3
			{[]string{`"v1"`, `"v3"`}, false},
			{[]string{`*`}, false},
			{[]string{`"v1", *`}, false},
			{nil, false}, // v7
			{[]string{`W/"v7"`}, true},
			{[]string{`v7`}, true},
			{[]string{`"7"`}, true},
			{[]string{`"v07"`}, true},
			{[]string{`"v+7"`}, true},
			{[]string{`"v7`}, true},
			{[]string{``}, true},
			{[]string{`,`}, true},
			{[]string{`"v-1"`}, true},
			{[]string{`"v99999999999999999999"`}, true},
			{[]string{`"v7" `}, false},
			{[]string{`"nonsense" ,"v8"`}, false},
		} {
			var header []string
			for _, tag := range tc.tags {
				header = append(header, "If-Match", tag)
			}
			a := c.patch(t, hotspot, fmt.Sprintf(`{"name":"Name %d"}`, i), header...)
			if tc.stale {
				wantFault(t, a, http.StatusConflict, "conflict")
				continue
			}
			version++
			if a.want(t, http.StatusOK); a.Header.Get("ETag") != fmt.Sprintf(`"v%d"`, version) {
				t.Errorf("%q: %s; want version %d", tc.tags, a.Header.Get("ETag"), version)
			}
		}
		// What is stale is stale even for a patch that would change nothing.
		wantFault(t, c.patch(t, hotspot, `{}`, "If-Match", `"v1"`), http.StatusConflict, "conflict")
	})
}

// Two clients who change different fields at once both get what they want; of
// many who hold the same version, one does.
func TestPatch_AtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		const rounds = 10
		inParallel(3, func(who int) error {
			for i := range rounds {
				body := []string{`{"name":"Name %d"}`, `{"settings":{"max_connections":%d}}`, `{"settings":{"bandwidth_limit_mbps":%d}}`}[who]
				c.patch(t, spot, fmt.Sprintf(body, 100+i)).want(t, http.StatusOK)
			}
			return nil
		})
		read := c.get(t, spot)
		got := data[hotspot](t, read, http.StatusOK)
		if got.Name != "Name 109" || got.Settings.MaxConnections != 109 || got.Settings.BandwidthLimitMbps != 109 {
			t.Errorf("a change was lost: %s", read)
		}
		if read.Header.Get("ETag") != `"v31"` {
			t.Errorf("30 changes lead to %s", read.Header.Get("ETag"))
		}
		statuses := tally(inParallel(20, func(i int) int {
			return c.patch(t, spot, fmt.Sprintf(`{"name":"Racer %d"}`, i), "If-Match", `"v31"`).StatusCode
		}))
		if statuses[http.StatusOK] != 1 || statuses[http.StatusConflict] != 19 {
			t.Errorf("of 20 with the same version: %v; want one 200 and 19 times 409", statuses)
		}
	})
}

// Decision N3: the request, then whether the hotspot exists, then whose it is,
// then the version.
func TestPatch_OrderOfChecks(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, stranger, reader, admin := s.operator(t), s.operator(t), s.anyone(t), s.anyone(t, "admin")
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID
		const unknown, bad, good, stale = "/v1/hotspots/hs_01kb3gzk00e9x8q6s5t4v3w2y1", `{"name":"x"}`, `{"name":"Good name"}`, `"v9"`
		wantFault(t, s.call(t, "PATCH", hotspot, bad), http.StatusUnauthorized, "unauthorized")
		wantFault(t, reader.patch(t, unknown, bad), http.StatusForbidden, "forbidden")
		wantFault(t, reader.patch(t, hotspot, "garbage"), http.StatusForbidden, "forbidden")
		wantFault(t, stranger.patch(t, unknown, bad, "If-Match", stale), http.StatusBadRequest, "invalid_request", "name")
		wantFault(t, stranger.patch(t, hotspot, bad, "If-Match", stale), http.StatusBadRequest, "invalid_request", "name")
		wantFault(t, stranger.patch(t, unknown, good, "If-Match", stale), http.StatusNotFound, "not_found")
		wantFault(t, stranger.patch(t, hotspot, good, "If-Match", stale), http.StatusForbidden, "forbidden")
		wantFault(t, stranger.patch(t, hotspot, `{}`), http.StatusForbidden, "forbidden")
		wantFault(t, c.patch(t, hotspot, good, "If-Match", stale), http.StatusConflict, "conflict")
		wantEqual(t, "an admin may", data[changed](t, admin.patch(t, hotspot, good), http.StatusOK).Name, "Good name")
		c.patch(t, hotspot, `{"name":"Another name"}`).want(t, http.StatusOK)
	})
}

// The time of a change never moves back, whatever the clock does.
func TestPatch_ClockGoesBack(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID
		s.advance(time.Hour)
		want := data[changed](t, c.patch(t, hotspot, `{"name":"Later"}`), http.StatusOK).UpdatedAt
		s.advance(-30 * time.Minute)
		got := data[changed](t, c.patch(t, hotspot, `{"name":"Earlier"}`), http.StatusOK)
		if got.UpdatedAt != want || want != "2026-11-15T13:00:00.000Z" || got.Name != "Earlier" {
			t.Errorf("updated at %s, then %+v", want, got)
		}
	})
}
