package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/api/edge"
)

const (
	app   = "https://app.example.org"
	other = "https://other.example.org"
)

// wantOpen checks that a browser shows a response to a page.
func wantOpen(t testing.TB, a answer, origin string) {
	t.Helper()
	if got := a.Header.Values("Access-Control-Allow-Origin"); len(got) != 1 || got[0] != origin {
		t.Errorf("%s: Access-Control-Allow-Origin %q; want %q", a, got, origin)
	}
	for _, name := range []string{"ETag", "Retry-After", "RateLimit", "X-Request-Id", "Location"} {
		if got := a.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(", "+got+",", ", "+name+",") {
			t.Errorf("%s: Access-Control-Expose-Headers %q lacks %s", a, got, name)
		}
	}
	if a.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%s allows credentials", a)
	}
}

func wantClosed(t testing.TB, a answer) {
	t.Helper()
	for name := range a.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s carries %s", a, name)
		}
	}
}

func (s *server) preflight(t testing.TB, path, origin string) answer {
	t.Helper()
	return s.call(t, http.MethodOptions, path, "", "Origin", origin, "Access-Control-Request-Method", "PATCH", "Access-Control-Request-Headers", "authorization,if-match")
}

// Decision D107: pages of the origins that staff allow see every response, errors too.
func TestCORS(t *testing.T) {
	limits := hourly(6, 100)
	s := onSQLite(t, options{limits: limits, origins: []string{app, "http://localhost:5173"}})
	c := s.operator(t)
	for _, origin := range []string{app, "http://localhost:5173"} {
		for _, path := range []string{"/v1/hotspots/nearby", "/v1/hotspots/hs_1", "/v1/nope", "/v1/keys"} {
			a := s.preflight(t, path, origin).want(t, http.StatusNoContent)
			wantOpen(t, a, origin)
			for name, want := range map[string]string{
				"Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE", "Access-Control-Max-Age": "86400", "Vary": "Origin",
			} {
				if got := a.Header.Get(name); got != want {
					t.Errorf("%s: %s %q; want %q", a, name, got, want)
				}
			}
			for _, name := range []string{"Authorization", "If-Match", "Idempotency-Key", "Content-Type", "Last-Event-ID", "traceparent"} {
				if got := a.Header.Get("Access-Control-Allow-Headers"); !strings.Contains(got, name) {
					t.Errorf("%s: Access-Control-Allow-Headers %q lacks %s", a, got, name)
				}
			}
		}
	}
	for _, a := range []answer{
		c.get(t, "/v1/hotspots/nearby?lat=1&lng=1", "Origin", app).want(t, 200),
		c.get(t, "/v1/hotspots/nearby", "Origin", app).want(t, 400),
		c.post(t, "/v1/hotspots", registration(1), "Origin", app).want(t, 201),
		c.get(t, "/v1/keys", "Origin", app).want(t, 403),
		c.get(t, "/v1/nope", "Origin", app).want(t, 404),
		c.do(t, "PUT", "/v1/hotspots", "", "Origin", app).want(t, 405),
		c.do(t, "OPTIONS", "/v1/hotspots", "", "Origin", app).want(t, 405), // not a preflight
		s.call(t, "GET", "/v1/keys/self", "", "Origin", app).want(t, 401),
		s.call(t, "GET", "/v1/openapi.json", "", "Origin", app).want(t, 200),
		c.get(t, "/v1/keys/self", "Origin", app).want(t, 200),
		c.get(t, "/v1/keys/self", "Origin", app).want(t, 200),
		c.get(t, "/v1/keys/self", "Origin", app).want(t, 429),
		c.get(t, "/v1/"+strings.Repeat("a", 8<<10), "Origin", app).want(t, 400), // too long for any route
	} {
		wantOpen(t, a, app)
		if got := strings.Join(a.Header.Values("Vary"), ", "); !strings.Contains(got, "Origin") {
			t.Errorf("%s: Vary %q", a, got)
		}
	}
	for _, origin := range []string{other, "null", "https://app.example.org.evil.example", "http://app.example.org", "https://app.example.org:444", "HTTPS://APP.EXAMPLE.ORG", app + ", " + other} {
		for _, a := range []answer{s.call(t, "GET", "/v1/nope", "", "Origin", origin), s.preflight(t, "/v1/nope", origin)} {
			wantClosed(t, a)
			if got := strings.Join(a.Header.Values("Vary"), ", "); !strings.Contains(got, "Origin") {
				t.Errorf("%s: Vary %q: a cache would give it to a page that is allowed", a, got)
			}
		}
	}
	wantClosed(t, s.call(t, "GET", "/v1/nope", ""))
}

func TestCORS_AllOrigins(t *testing.T) {
	s := onSQLite(t, options{limits: ample, origins: []string{edge.AllOrigins}})
	c := s.anyone(t)
	for _, origin := range []string{app, other, "null"} {
		wantOpen(t, s.preflight(t, "/v1/keys/self", origin).want(t, http.StatusNoContent), "*")
		wantOpen(t, c.get(t, "/v1/keys/self", "Origin", origin).want(t, http.StatusOK), "*")
	}
	refused := onSQLite(t, options{limits: ample, origins: []string{edge.AllOrigins}, refusing: http.StatusServiceUnavailable})
	wantOpen(t, refused.call(t, "GET", "/v1/keys/self", "", "Origin", app).want(t, http.StatusServiceUnavailable), "*")
}

// Nothing without the flag.
func TestCORS_Off(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	wantFault(t, s.preflight(t, "/v1/hotspots", app), http.StatusMethodNotAllowed, "method_not_allowed")
	a := s.anyone(t).get(t, "/v1/keys/self", "Origin", app).want(t, http.StatusOK)
	if wantClosed(t, a); strings.Contains(a.Header.Get("Vary"), "Origin") {
		t.Errorf("%s: Vary %q", a, a.Header.Get("Vary"))
	}
}

func TestParseOrigins(t *testing.T) {
	if got, err := edge.ParseOrigins([]string{"HTTPS://App.example.org:443", "*"}); err != nil || strings.Join(got, " ") != app+" *" {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "null", "app.example.org", app + "/", "https://*.example.org"} {
		if _, err := edge.ParseOrigins([]string{bad}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
