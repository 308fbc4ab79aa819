package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The shapes of the wire, written down once more: the tests share no types with
// the code.
type envelope[T any] struct {
	Data       T           `json:"data"`
	Meta       meta        `json:"meta"`
	Pagination *pagination `json:"pagination"`
}

type meta struct {
	RequestID string `json:"request_id"`
	Timestamp string `json:"timestamp"`
}

type pagination struct {
	Page       int `json:"page"`
	PerPage    int `json:"per_page"`
	Total      int `json:"total"`
	TotalPages int `json:"total_pages"`
}

type hotspot struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Type       string         `json:"type"`
	Status     string         `json:"status"`
	Location   place          `json:"location"`
	Device     device         `json:"device"`
	Settings   settings       `json:"settings"`
	RadiusM    float64        `json:"coverage_radius_m"`
	Metrics    map[string]any `json:"metrics"`
	OperatorID string         `json:"operator_id"`
	CreatedAt  string         `json:"created_at"`
	UpdatedAt  string         `json:"updated_at"`
}

type place struct {
	Lat        float64 `json:"lat"`
	Lng        float64 `json:"lng"`
	Address    *string `json:"address"`
	Verified   bool    `json:"verified"`
	VerifiedAt string  `json:"verified_at"`

	UnverifiedReason string `json:"unverified_reason"`
	ProvenUntil      string `json:"proven_until"`
}

type device struct {
	SSID     string `json:"ssid"`
	MAC      string `json:"mac_address"`
	Linked   bool   `json:"linked"`
	LinkedAt string `json:"linked_at"`
}

type settings struct {
	MaxConnections     int             `json:"max_connections"`
	BandwidthLimitMbps float64         `json:"bandwidth_limit_mbps"`
	OperatingHours     json.RawMessage `json:"operating_hours"`
	CoverageRadiusM    float64         `json:"coverage_radius_m"`
}

type summary struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	Location struct {
		Lat, Lng float64
		Address  string
	} `json:"location"`
	Distance        json.Number `json:"distance_m"`
	Status          string      `json:"status"`
	CoverageRadiusM float64     `json:"coverage_radius_m"`
	Tier            string      `json:"performance_tier"`
	Signal          string      `json:"signal_quality"`
	Load            json.Number `json:"current_load"`
}

type apiKey struct {
	ID         string   `json:"id"`
	Key        string   `json:"key"`
	UserID     string   `json:"user_id"`
	Name       string   `json:"name"`
	Scopes     []string `json:"scopes"`
	CreatedAt  string   `json:"created_at"`
	ExpiresAt  *string  `json:"expires_at"`
	LastUsedAt *string  `json:"last_used_at"`
	RevokedAt  *string  `json:"revoked_at"`
}

type failure struct {
	Error struct {
		Code    string   `json:"code"`
		Message string   `json:"message"`
		Details []detail `json:"details"`
	} `json:"error"`
	Meta meta `json:"meta"`
}

type detail struct{ Field, Message string }

// checkCommon holds an answer to what is true of every one.
func (s *server) checkCommon(t testing.TB, a answer) {
	t.Helper()
	if got := a.Header.Get("X-Content-Type-Options"); got != "nosniff" {
		t.Errorf("%s: X-Content-Type-Options %q", a, got)
	}
	if got := a.Header.Values("Content-Security-Policy"); len(got) != 1 || got[0] != "default-src 'none'; frame-ancestors 'none'" {
		t.Errorf("%s: Content-Security-Policy %q", a, got)
	}
	cache := "no-store"
	if strings.HasPrefix(a.Request.URL.Path, "/v1/openapi.") && a.StatusCode == http.StatusOK {
		cache = "public, max-age=3600"
	}
	if strings.HasSuffix(a.Request.URL.Path, ".mvt") && (a.StatusCode == http.StatusOK || a.StatusCode == http.StatusNotModified) {
		cache = "private, no-cache"
	}
	if got := a.Header.Values("Cache-Control"); len(got) != 1 || got[0] != cache {
		t.Errorf("%s: Cache-Control %q; want %q", a, got, cache)
	}
	for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		if got := a.Header.Values(name); len(got) != 1 && s.limited || len(got) != 0 && !s.limited {
			t.Errorf("%s: %s %q; limits are on: %t", a, name, got, s.limited)
		}
	}
	for name := range a.Header {
		if strings.HasPrefix(name, "Access-Control-") && !s.crossOrigin || name == "Server" {
			t.Errorf("%s carries %s", a, name)
		}
	}
	if len(a.body) == 0 || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") || strings.HasPrefix(a.Request.URL.Path, "/v1/openapi.") {
		return
	}
	var body struct {
		Error struct{ Code string }
		Meta  meta
	}
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	if id := a.Header.Values("X-Request-Id"); len(id) != 1 || id[0] != body.Meta.RequestID {
		t.Errorf("X-Request-Id %q, and in the body: %s", id, a)
	}
	if !slices.Contains(codes[a.StatusCode], body.Error.Code) {
		t.Errorf("%s: code %q; want one of %q", a, body.Error.Code, codes[a.StatusCode])
	}
}

// codes are those of each status (decision N1). The OpenAPI document has one schema for
// all errors, so that clients generated from it have one type for them.
var codes = map[int][]string{
	http.StatusOK:                          {""},
	http.StatusCreated:                     {""},
	http.StatusBadRequest:                  {"invalid_request", "missing_parameter"},
	http.StatusUnauthorized:                {"unauthorized"},
	http.StatusForbidden:                   {"forbidden", "enrolments_used_up"},
	http.StatusNotFound:                    {"not_found"},
	http.StatusMethodNotAllowed:            {"method_not_allowed"},
	http.StatusRequestTimeout:              {"request_timeout"},
	http.StatusConflict:                    {"conflict"},
	http.StatusRequestEntityTooLarge:       {"payload_too_large"},
	http.StatusUnsupportedMediaType:        {"unsupported_media_type"},
	http.StatusTooManyRequests:             {"rate_limit_exceeded"},
	http.StatusRequestHeaderFieldsTooLarge: {"headers_too_large"},
	http.StatusInternalServerError:         {"internal_error"},
	http.StatusServiceUnavailable:          {"overloaded"},
}

// want checks the status.
func (a answer) want(t testing.TB, status int) answer {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("%s; want %d", a, status)
	}
	return a
}

// data reads what a successful answer says.
func data[T any](t testing.TB, a answer, status int) T {
	t.Helper()
	return whole[T](t, a, status).Data
}

func whole[T any](t testing.TB, a answer, status int) envelope[T] {
	t.Helper()
	a.want(t, status)
	return decode[envelope[T]](t, a)
}

func decode[T any](t testing.TB, a answer) T {
	t.Helper()
	var value T
	if got := a.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("%s has the Content-Type %q", a, got)
	}
	if err := json.Unmarshal(a.body, &value); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	return value
}

// wantFault checks an error: its status, its code, and the fields at fault, in
// any order. It gives what the fields' messages are.
func wantFault(t testing.TB, a answer, status int, code string, fields ...string) map[string]string {
	t.Helper()
	if a.StatusCode != status {
		t.Errorf("%s; want %d %s %q", a, status, code, fields)
		return nil
	}
	got := decode[failure](t, a)
	messages := map[string]string{}
	named := []string{}
	for _, d := range got.Error.Details {
		messages[d.Field] = d.Message
		named = append(named, d.Field)
	}
	slices.Sort(named)
	want := slices.Sorted(slices.Values(fields))
	if got.Error.Code != code || got.Error.Message == "" || !slices.Equal(named, want) {
		t.Errorf("%s; want %s %q", a, code, want)
	}
	return messages
}

// wantEqual compares whole values.
func wantEqual(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// registration is a body for POST /v1/hotspots; each n has a MAC of its own. The
// edits are pairs of a member's path and its value in JSON: "location.lat",
// "7.5"; the value "" takes the member out.
func registration(n int, edits ...string) string {
	text := func(s string) json.RawMessage { return json.RawMessage(`"` + s + `"`) }
	body := map[string]any{
		"name":     text(fmt.Sprintf("Hotspot %d", n)),
		"type":     text("home"),
		"location": map[string]any{"lat": json.RawMessage("40.7"), "lng": json.RawMessage("-74")},
		"device":   map[string]any{"ssid": text("guest"), "mac_address": text(mac(n))},
	}
	for i := 0; i < len(edits); i += 2 {
		at := body
		path := strings.Split(edits[i], ".")
		for _, name := range path[:len(path)-1] {
			if at[name] == nil {
				at[name] = map[string]any{}
			}
			at = at[name].(map[string]any)
		}
		last := path[len(path)-1]
		at[last] = json.RawMessage(edits[i+1])
		if edits[i+1] == "" {
			delete(at, last)
		}
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("%q: %v", edits, err))
	}
	return string(encoded)
}

func mac(n int) string { return fmt.Sprintf("02:00:5e:%02x:%02x:%02x", n>>16&255, n>>8&255, n&255) }

// register adds a hotspot that must be accepted.
func (c client) register(t testing.TB, n int, edits ...string) hotspot {
	t.Helper()
	return data[hotspot](t, c.post(t, "/v1/hotspots", registration(n, edits...)), http.StatusCreated)
}
