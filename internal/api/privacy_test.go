package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/test/harness"
)

// follow takes over what was written, and shows homes by the setting.
func (s *server) follow(t testing.TB) {
	t.Helper()
	harness.Eventually(t, "the server follows", func() bool { // a step gives up after some seconds
		err := s.Follower.Step(t.Context())
		if err != nil {
			t.Log(err)
		}
		return err == nil
	})
}

// blur hides homes, as staff do.
func (s *server) blur(t testing.TB, privacy string) {
	t.Helper()
	a := s.anyone(t, "admin").patch(t, "/v1/settings", at(`{"home_privacy":%q}`, privacy))
	if got := data[map[string]any](t, a, http.StatusOK); got["home_privacy"] != privacy {
		t.Errorf("set to %s, the settings are %v", privacy, got)
	}
	s.follow(t)
}

func TestSettings(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		admin := s.anyone(t, "admin")
		want := func(privacy string) {
			t.Helper()
			if got := data[map[string]any](t, s.anyone(t).get(t, "/v1/settings"), http.StatusOK); got["home_privacy"] != privacy || len(got) != 13 {
				t.Errorf("the settings are %v; want %s", got, privacy)
			}
		}
		want("off")
		for _, bad := range []string{`{"home_privacy":"on"}`, `{"home_privacy":""}`, `{"home_privacy":null}`, `{"home_privacy":1}`} {
			wantFault(t, admin.patch(t, "/v1/settings", bad), http.StatusBadRequest, "invalid_request", "home_privacy")
		}
		wantFault(t, admin.patch(t, "/v1/settings", `{"home_secret":"x"}`), http.StatusBadRequest, "invalid_request", "home_secret")
		wantFault(t, s.anyone(t, "hotspots:verify").patch(t, "/v1/settings", `{"home_privacy":"blur"}`), http.StatusForbidden, "forbidden")
		want("off")
		s.blur(t, "blur")
		want("blur")
		admin.patch(t, "/v1/settings", `{}`).want(t, http.StatusOK)
		want("blur")
		s.blur(t, "off")
		want("off")
	})
}

// What maps show at first can be set, changed in part, and taken back.
func TestSettings_Map(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		admin := s.anyone(t, "admin")
		for _, tc := range []struct{ patch, start, language string }{
			{`{}`, "", ""},
			{`{"start_view":{"lat":52.52,"lng":13.405,"zoom":11.5}}`, "{52.52 13.405 11.5}", ""},
			{`{"language":"de"}`, "{52.52 13.405 11.5}", "de"},
			{`{"start_view":null}`, "", "de"},
			{`{"start_view":{"lat":-90,"lng":180,"zoom":0},"language":null}`, "{-90 180 0}", ""},
		} {
			admin.patch(t, "/v1/settings", tc.patch).want(t, http.StatusOK)
			body := s.anyone(t).get(t, "/v1/settings")
			got := data[struct {
				StartView *struct{ Lat, Lng, Zoom float64 } `json:"start_view"`
				Language  *string                           `json:"language"`
			}](t, body, http.StatusOK)
			start, language := "", ""
			if got.StartView != nil {
				start = fmt.Sprint(*got.StartView)
			}
			if got.Language != nil {
				language = *got.Language
			}
			if start != tc.start || language != tc.language {
				t.Errorf("%s: the start is %q, the language %q", tc.patch, start, language)
			}
		}
		for bad, field := range map[string]string{
			`{"start_view":{"lat":91,"lng":0,"zoom":1}}`:          "start_view.lat",
			`{"start_view":{"lat":0,"lng":-180.5,"zoom":1}}`:      "start_view.lng",
			`{"start_view":{"lat":0,"lng":0,"zoom":21}}`:          "start_view.zoom",
			`{"start_view":"Berlin"}`:                             "start_view",
			`{"start_view":{"lat":0,"lng":0,"zoom":1,"pitch":1}}`: "start_view.pitch",
			`{"language":"German"}`:                               "language",
			`{"language":""}`:                                     "language",
			`{"language":7}`:                                      "language",
		} {
			wantFault(t, admin.patch(t, "/v1/settings", bad), http.StatusBadRequest, "invalid_request", field)
		}
		wantFault(t, admin.patch(t, "/v1/settings", `{"start_view":{"lat":0,"lng":0}}`), http.StatusBadRequest, "missing_parameter", "start_view.zoom")
	})
}

// The place of a home in these tests has more digits than a public place, so that no public
// one has the same latitude or longitude by chance.
const (
	exactLat = "40.7000012"
	exactLng = "-74.0000012"
)

// Of a home that is hidden, the table decides who sees the truth: of each detail that
// is not for strangers, they see something else than its operator, staff and admin, and of
// each that is, the same. Other hotspots stay as they are.
func TestHomePrivacy_Audience(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		operator := s.operator(t)
		readers := map[string]client{
			"staff": s.anyone(t, "hotspots:verify"), "admin": s.anyone(t, "admin"), "stranger": s.anyone(t), "another operator": s.operator(t),
		}
		for n, kind := range map[int]string{1: "home", 2: "business"} {
			m := operator.install(t, n, "type", `"`+kind+`"`, "location.lat", exactLat, "location.lng", exactLng, "location.address", `"1 Main Street"`)
			s.verify(t, m.hotspot)
			m.beat(t, `{"boot_id":"b","seq":4,"clients":3,"rx_bytes":0,"tx_bytes":0}`).want(t, http.StatusOK)
			s.advance(time.Minute)
			m.beat(t, `{"boot_id":"b","seq":5,"clients":3,"rx_bytes":5000000000,"tx_bytes":0}`).want(t, http.StatusOK)
			operator.patch(t, m.hotspot, `{"settings":{"max_connections":17}}`).want(t, http.StatusOK)
			for _, privacy := range []string{"off", "blur"} {
				s.blur(t, privacy)
				truth := flat("Hotspot", data[any](t, operator.get(t, m.hotspot), http.StatusOK))
				for who, reader := range readers {
					hidden := kind == "home" && privacy == "blur" && strings.Contains("stranger, another operator", who)
					seen := flat("Hotspot", data[any](t, reader.get(t, m.hotspot), http.StatusOK))
					if got := seen["Hotspot.location.approximate"]; (got == "true") != hidden {
						t.Errorf("%s, %s: the place of a %s is approximate: %s", privacy, who, kind, got)
					}
					for _, d := range beacon.Details() {
						name := string(d)
						if _, told := truth[name]; !told || d.Audience() == beacon.OwnerAndStaff {
							continue
						}
						if want := hidden && d.HiddenOfHomes(); (seen[name] != truth[name]) != want {
							t.Errorf("%s, %s: %s of a %s is %q; its operator sees %q", privacy, who, name, kind, seen[name], truth[name])
						}
						if _, told := seen[name]; !told {
							t.Errorf("%s, %s: %s is absent", privacy, who, name)
						}
					}
				}
			}
			s.blur(t, "off")
		}
	})
}

// flat returns the values of an answer by the names of their fields.
func flat(name string, v any) map[string]string {
	all := map[string]string{}
	if object, ok := v.(map[string]any); ok {
		for field, of := range object {
			maps.Copy(all, flat(name+"."+field, of))
		}
		return all
	}
	text, _ := json.Marshal(v)
	all[name] = string(text)
	return all
}

// Every route that shows places shows the public one, to everyone; the list of staff and
// that of the operator show the truth.
func TestHomePrivacy_Routes(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		operator, staff, stranger := s.operator(t), s.anyone(t, "hotspots:verify"), s.anyone(t)
		m := operator.install(t, 1, "location.lat", exactLat, "location.lng", exactLng, "location.address", `"1 Main Street"`)
		s.verify(t, m.hotspot)
		m.beat(t, `{"boot_id":"b","seq":4,"clients":3,"rx_bytes":0,"tx_bytes":0}`).want(t, http.StatusOK)
		s.blur(t, "blur")
		shown := data[hotspot](t, stranger.get(t, m.hotspot), http.StatusOK)
		public := geo.Point{Lat: shown.Location.Lat, Lng: shown.Location.Lng}
		if at("%v", public.Lat) == exactLat || at("%v", public.Lng) == exactLng || geo.Distance(public, geo.Point{Lat: 40.7, Lng: -74}) > 430 {
			t.Fatalf("a stranger sees the home at %v", public)
		}
		for who, c := range map[string]client{"operator": operator, "staff": staff, "stranger": stranger} {
			found := c.nearby(t, 40.7, -74, "&radius=1000")
			if len(found) != 1 {
				t.Fatalf("%s finds %d hotspots", who, len(found))
			}
			got := found[0]
			if got.Location.Lat != public.Lat || got.Location.Lng != public.Lng || got.Location.Address != "" || got.Load != "0" ||
				math.Abs(number(t, got.Distance)-geo.Distance(public, geo.Point{Lat: 40.7, Lng: -74})) > 0.06 {
				t.Errorf("%s finds %+v; want it at %v", who, got, public)
			}
			if n := len(c.nearby(t, public.Lat, public.Lng, "&radius=0.1")); n != 1 {
				t.Errorf("%s finds %d hotspots at the public place", who, n)
			}
			covers := c.coverage(t, box(public.Lat+1e-6, public.Lat-1e-6, public.Lng+1e-6, public.Lng-1e-6))
			if len(covers.Hotspots) != 1 || covers.Hotspots[0].Lat != public.Lat || covers.Hotspots[0].Lng != public.Lng || covers.Share != "1" {
				t.Errorf("%s sees the coverage %+v at the public place", who, covers)
			}
			for path, accept := range map[string]string{
				"/v1/hotspots/nearby?lat=40.7&lng=-74":                       "application/json",
				"/v1/hotspots/nearby?lat=40.7&lng=-74&":                      "application/geo+json",
				"/v1/coverage?" + box(40.71, 40.69, -73.99, -74.01):          "application/json",
				"/v1/coverage?" + box(40.71, 40.69, -73.99, -74.01) + "&z=1": "application/geo+json",
			} {
				a := c.get(t, path, "Accept", accept).want(t, http.StatusOK)
				if text := string(a.body); !strings.Contains(text, `"approximate":true`) || strings.Contains(text, "Main Street") || strings.Contains(text, "guest") ||
					strings.Contains(text, exactLat) || strings.Contains(text, exactLng) {
					t.Errorf("%s gets from %s as %s: %s", who, path, accept, text)
				}
			}
		}
		if list := string(staff.get(t, "/v1/hotspots").want(t, http.StatusOK).body); !strings.Contains(list, `"lat":`+exactLat+`,"lng":`+exactLng+`,"address":"1 Main Street"`) {
			t.Errorf("staff get the list %s", list)
		}
		if list := string(operator.get(t, "/v1/users/me/hotspots").want(t, http.StatusOK).body); !strings.Contains(list, `"lat":`+exactLat+`,"lng":`+exactLng+`,"address":"1 Main Street"`) {
			t.Errorf("the operator gets the list %s", list)
		}
	})
}

// A stranger gets the history of a home by days that are over, whatever is asked.
func TestHomePrivacy_History(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		operator, stranger := s.operator(t), s.anyone(t)
		m := operator.install(t, 1)
		s.verify(t, m.hotspot)
		m.beat(t, `{"boot_id":"b","seq":4,"clients":3,"rx_bytes":0,"tx_bytes":0}`).want(t, http.StatusOK)
		s.blur(t, "blur")
		s.advance(30 * time.Hour) // now 2026-11-16T18:00
		for query, want := range map[string][4]string{
			"": {"2026-11-15T00:00:00.000Z", "2026-11-16T00:00:00.000Z", "1d"},
			"?step=1h&from=2026-11-15T11:00:00Z&to=2026-11-15T13:00:00Z": {"2026-11-15T00:00:00.000Z", "2026-11-16T00:00:00.000Z", "1d"},
			"?step=6h&from=2026-11-16T01:00:00Z":                         {"2026-11-16T00:00:00.000Z", "2026-11-16T00:00:00.000Z", "1d"},
			"?step=1d&from=2026-11-14T01:00:00Z":                         {"2026-11-14T00:00:00.000Z", "2026-11-16T00:00:00.000Z", "1d"},
		} {
			got := data[struct {
				From, To, Step string
				Points         []struct{ Clients *int }
			}](t, stranger.get(t, m.hotspot+"/history"+query), http.StatusOK)
			from, _ := time.Parse(time.RFC3339, got.From)
			to, _ := time.Parse(time.RFC3339, got.To)
			if got.From != want[0] || got.To != want[1] || got.Step != want[2] || len(got.Points) != int(to.Sub(from)/(24*time.Hour)) {
				t.Errorf("%q gives a stranger %+v; want %v", query, got, want)
			}
		}
		wantFault(t, stranger.get(t, m.hotspot+"/history?step=1m"), http.StatusBadRequest, "invalid_request", "step")
		own := data[struct {
			Step   string
			Points []struct{ Clients *int }
		}](t, operator.get(t, m.hotspot+"/history"), http.StatusOK)
		if own.Step != "1h" || len(own.Points) < 24 || own.Points[0].Clients == nil {
			t.Errorf("the operator gets %+v", own)
		}
	})
}

// An operator may show the SSID of a hidden home, from the start or later.
func TestHomePrivacy_SSID(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		operator, stranger := s.operator(t), s.anyone(t)
		hidden, open := operator.install(t, 1, "device.ssid", `"hidden net"`), operator.install(t, 2, "device.ssid", `"open net"`, "settings", `{"show_ssid":true}`)
		s.blur(t, "blur")
		seen := func(want ...string) {
			t.Helper()
			for i, m := range []machine{hidden, open} {
				got := data[hotspot](t, stranger.get(t, m.hotspot), http.StatusOK)
				if got.Device.SSID != want[i] || got.Device.MAC != "00:00:00:00:00:00" {
					t.Errorf("a stranger sees %+v; want %q", got.Device, want[i])
				}
			}
			list := string(stranger.get(t, "/v1/hotspots/nearby?lat=40.7&lng=-74&radius=1000&status=all").want(t, http.StatusOK).body)
			for i, name := range []string{"hidden net", "open net"} {
				if strings.Contains(list, name) != (want[i] != "") {
					t.Errorf("a stranger finds %s; want %q", list, want)
				}
			}
		}
		seen("", "open net")
		operator.patch(t, hidden.hotspot, `{"settings":{"show_ssid":true}}`).want(t, http.StatusOK)
		a := operator.patch(t, open.hotspot, `{"settings":{"show_ssid":false}}`).want(t, http.StatusOK)
		if strings.Contains(string(a.body), "show_ssid") {
			t.Errorf("a choice that is not made is shown: %s", a.body)
		}
		seen("hidden net", "")
		wantFault(t, operator.patch(t, open.hotspot, `{"settings":{"show_ssid":null}}`), http.StatusBadRequest, "invalid_request", "settings.show_ssid")
		wantFault(t, operator.patch(t, open.hotspot, `{"settings":{"show_ssid":"yes"}}`), http.StatusBadRequest, "invalid_request", "settings.show_ssid")
	})
}

// How the network presents itself can be set, changed in part, and taken back. Of a logo the
// settings tell the type alone, and the audit what it was.
func TestSettings_Identity(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		admin := s.anyone(t, "admin")
		logo := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`))
		for _, tc := range []struct{ patch, want string }{
			{`{}`, `[null null null null null null null false null]`},
			{`{"name":"</script>\"","color":"#DC0067"}`, `["</script>\"" null null "#dc0067" null null null false null]`},
			{at(`{"logo":%q,"description":"Free."}`, logo), `["</script>\"" "Free." null "#dc0067" "image/svg+xml" null null false null]`},
			{`{"name":null,"contact":"hello@example.org"}`, `[null "Free." "hello@example.org" "#dc0067" "image/svg+xml" null null false null]`},
			{`{"license":" https://example.org/by ","attribution":"© Freie Netze"}`, `[null "Free." "hello@example.org" "#dc0067" "image/svg+xml" "https://example.org/by" "© Freie Netze" false null]`},
			{`{"show_clients":true}`, `[null "Free." "hello@example.org" "#dc0067" "image/svg+xml" "https://example.org/by" "© Freie Netze" true null]`},
			{`{"description":null,"contact":null,"color":null,"logo":null,"license":null,"attribution":null}`, `[null null null null null null null true null]`},
			{`{"show_clients":false}`, `[null null null null null null null false null]`},
			{`{"timezone":"America/New_York"}`, `[null null null null null null null false "America/New_York"]`},
			{`{"timezone":null}`, `[null null null null null null null false null]`},
		} {
			admin.patch(t, "/v1/settings", tc.patch).want(t, http.StatusOK)
			got := data[map[string]json.RawMessage](t, s.anyone(t).get(t, "/v1/settings"), http.StatusOK)
			var shown []string
			for _, name := range []string{"name", "description", "contact", "color", "logo_type", "license", "attribution", "show_clients", "timezone"} {
				shown = append(shown, strings.ReplaceAll(strings.ReplaceAll(string(got[name]), `\u003c`, "<"), `\u003e`, ">"))
			}
			if fmt.Sprint(shown) != tc.want {
				t.Errorf("%.60s: the settings are %v; want %s", tc.patch, shown, tc.want)
			}
		}
		for bad, field := range map[string]string{
			`{"name":""}`:                              "name",
			`{"name":7}`:                               "name",
			`{"description":"a\nb"}`:                   "description",
			`{"contact":"javascript:alert(1)"}`:        "contact",
			`{"color":"red"}`:                          "color",
			`{"logo":"data:text/html;base64,PGI+"}`:    "logo",
			`{"logo":{"type":"image/png"}}`:            "logo",
			`{"license":"CC BY 4.0"}`:                  "license",
			`{"license":"https://example.org/ä"}`:      "license",
			`{"license":"https://example.org/>;a"}`:    "license",
			`{"license":"javascript:alert(1)"}`:        "license",
			`{"attribution":"a\u200bb"}`:               "attribution",
			`{"show_clients":null}`:                    "show_clients",
			`{"show_clients":"on"}`:                    "show_clients",
			`{"timezone":"Local"}`:                     "timezone",
			`{"timezone":"Harbour"}`:                   "timezone",
			`{"timezone":""}`:                          "timezone",
			`{"logo":"data:image/png;base64,PHN2Zy8"}`: "logo",
		} {
			wantFault(t, admin.patch(t, "/v1/settings", bad), http.StatusBadRequest, "invalid_request", field)
		}
		wantFault(t, s.anyone(t, "hotspots:verify").patch(t, "/v1/settings", `{"name":"Mine"}`), http.StatusForbidden, "forbidden")
		if audit := string(admin.get(t, "/v1/audit?kind=setting.").body); strings.Contains(audit, "base64") || !strings.Contains(audit, "image/svg+xml of 1 kB") {
			t.Errorf("the audit says %s", audit)
		}
	})
}
