package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// Decision D104: a patch is merged into the operating hours, too.
func TestPatch_MergesHours(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		const (
			saturdays = `[{"days":["sat"],"open":"10:00","close":"18:00"}]`
			sundays   = `[{"days":["sun"],"open":"22:00","close":"02:00"}]`
			christmas = `[{"date":"2026-12-25","closed":true}]`
		)
		hours := func(zone, weekly, exceptions string) string {
			return `{"timezone":"` + zone + `","weekly":` + weekly + `,"exceptions":` + exceptions + `}`
		}
		for _, tc := range []struct{ patch, want string }{
			{`{"timezone":"UTC","weekly":` + saturdays + `}`, hours("UTC", saturdays, "[]")},
			{`{"exceptions":` + christmas + `}`, hours("UTC", saturdays, christmas)},
			{`{"timezone":"Europe/Berlin"}`, hours("Europe/Berlin", saturdays, christmas)},
			{`{"weekly":` + sundays + `}`, hours("Europe/Berlin", sundays, christmas)},
			{`{"timezone":"UTC","weekly":[]}`, hours("UTC", "[]", christmas)},
			{`{}`, hours("UTC", "[]", christmas)},
			{`{"exceptions":null}`, hours("UTC", "[]", "[]")},
			{`{"exceptions":` + christmas + `}`, hours("UTC", "[]", christmas)},
			{`{"exceptions":[]}`, hours("UTC", "[]", "[]")},
		} {
			s.advance(time.Hour)
			got := data[changed](t, c.patch(t, spot, `{"settings":{"operating_hours":`+tc.patch+`}}`), http.StatusOK)
			wantEqual(t, tc.patch, string(got.Settings.OperatingHours), tc.want)
			wantEqual(t, "read back after "+tc.patch, string(data[hotspot](t, c.get(t, spot), http.StatusOK).Settings.OperatingHours), tc.want)
		}
		before := data[hotspot](t, c.get(t, spot), http.StatusOK)
		for _, bad := range []string{`{"timezone":null}`, `{"weekly":null}`, `{"timezone":"Mars/Olympus"}`, `{"weekly":[{"days":["sat"],"open":"10:00"}],"timezone":7}`} {
			if a := c.patch(t, spot, `{"settings":{"operating_hours":`+bad+`}}`); a.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %s", bad, a)
			}
		}
		wantEqual(t, "after what was refused", data[hotspot](t, c.get(t, spot), http.StatusOK), before)
	})
}

// Hours that a hotspot does not have cannot be changed in part.
func TestPatch_PartOfNoHours(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, stranger := s.operator(t), s.operator(t)
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID
		for patch, missing := range map[string][]string{
			`{"weekly":[]}`: {"timezone"}, `{"timezone":"UTC"}`: {"weekly"}, `{"exceptions":[]}`: {"timezone", "weekly"}, `{}`: {"timezone", "weekly"},
		} {
			body := `{"settings":{"operating_hours":` + patch + `}}`
			var fields []string
			for _, name := range missing {
				fields = append(fields, "settings.operating_hours."+name)
			}
			wantFault(t, c.patch(t, hotspot, body), http.StatusBadRequest, "missing_parameter", fields...)
			// Whether it has hours is not for a stranger to learn this way.
			wantFault(t, stranger.patch(t, hotspot, body), http.StatusForbidden, "forbidden")
			wantFault(t, stranger.patch(t, "/v1/hotspots/hs_01kb3gzk00e9x8q6s5t4v3w2y1", body), http.StatusNotFound, "not_found")
			wantFault(t, c.post(t, "/v1/hotspots", registration(2, "settings", `{"operating_hours":`+patch+`}`)), http.StatusBadRequest, "missing_parameter", fields...)
		}
	})
}

// Decision D104: null restores the radius of the type.
func TestPatch_RestoresRadius(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		made := c.register(t, 1, "settings", `{"coverage_radius_m":123.5}`)
		spot := "/v1/hotspots/" + made.ID
		wantEqual(t, "as measured", made.RadiusM, 123.5)
		a := c.patch(t, spot, `{"settings":{"coverage_radius_m":null}}`).want(t, http.StatusOK)
		if strings.Contains(string(a.body), "coverage_radius_m") {
			t.Errorf("it is still set: %s", a)
		}
		got := c.get(t, spot)
		if h := data[hotspot](t, got, http.StatusOK); h.RadiusM != 50 || h.Settings.CoverageRadiusM != 0 {
			t.Errorf("%s", got)
		}
		if tag := c.patch(t, spot, `{"settings":{"coverage_radius_m":null}}`).Header.Get("ETag"); tag != got.Header.Get("ETag") {
			t.Errorf("to restore it again is a change: %s, then %s", got.Header.Get("ETag"), tag)
		}
		if h := c.register(t, 2, "settings", `{"coverage_radius_m":null}`); h.RadiusM != 50 {
			t.Errorf("registered with null: %v", h.RadiusM)
		}
	})
}

// RFC 7396 has its own media type, for PATCH alone.
func TestPatch_MediaType(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID
		for i, media := range []string{"application/merge-patch+json", "Application/Merge-Patch+JSON; charset=utf-8", "application/json"} {
			name := at("Name %d", i)
			wantEqual(t, media, data[changed](t, c.patch(t, hotspot, `{"name":"`+name+`"}`, "Content-Type", media), http.StatusOK).Name, name)
		}
		for _, media := range []string{"application/json-patch+json", "text/plain", absent} {
			a := c.patch(t, hotspot, `{"name":"Name"}`, "Content-Type", media)
			wantFault(t, a, http.StatusUnsupportedMediaType, "unsupported_media_type")
		}
		wantFault(t, c.post(t, "/v1/hotspots", `{}`, "Content-Type", "application/merge-patch+json"), http.StatusUnsupportedMediaType, "unsupported_media_type")
	})
}
