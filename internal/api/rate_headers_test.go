package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
)

func wantRateLimit(t testing.TB, a answer, policy, left string) {
	t.Helper()
	if got := a.Header.Get("RateLimit-Policy"); got != policy {
		t.Errorf("%s: RateLimit-Policy %s; want %s", a, got, policy)
	}
	// RateLimit says the same as the older headers.
	want := fmt.Sprintf("%s;r=%s;t=%s", left, a.Header.Get("RateLimit-Remaining"), a.Header.Get("RateLimit-Reset"))
	if got := a.Header.Get("RateLimit"); got != want {
		t.Errorf("%s: RateLimit %s; want %s", a, got, want)
	}
}

// Decision D108: the quota is the burst, and the window the time in which it comes back.
func TestRateLimitHeaders(t *testing.T) {
	s := onSQLite(t, options{limits: edge.Limits{
		PerKey:    ratelimit.Limit{Every: time.Hour, Burst: 4},
		Failures:  ratelimit.Limit{Every: time.Hour, Burst: 3},
		LinkTries: ratelimit.Limit{Every: time.Minute, Burst: 2},
		Devices:   ratelimit.Limit{Every: time.Hour, Burst: 2},
	}})
	c := s.anyone(t)
	const policy = `"key";q=4;w=14400, "user";q=12;w=14400`
	for range 4 {
		wantRateLimit(t, c.get(t, "/v1/keys/self").want(t, http.StatusOK), policy, `"key"`)
	}
	wantRateLimit(t, c.get(t, "/v1/keys/self").want(t, http.StatusTooManyRequests), policy, `"key"`)
	for range 2 {
		more := s.keyOf(t, c.user, accessCreation())
		for range 4 {
			more.get(t, "/v1/keys/self").want(t, http.StatusOK)
		}
	}
	last := s.keyOf(t, c.user, accessCreation())
	wantRateLimit(t, last.get(t, "/v1/keys/self").want(t, http.StatusTooManyRequests), `"user";q=12;w=14400, "key";q=4;w=14400`, `"user"`)
	wantRateLimit(t, s.call(t, "GET", "/v1/keys/self", "").want(t, http.StatusUnauthorized), `"wrong-keys";q=3;w=10800`, `"wrong-keys"`)
	wantRateLimit(t, s.call(t, "POST", "/v1/devices/link", "{}").want(t, http.StatusBadRequest), `"link-attempts";q=2;w=120`, `"link-attempts"`)
}

// The default of 100 requests a second in bursts of 200.
func TestRateLimitHeaders_Default(t *testing.T) {
	s := onSQLite(t, options{limits: edge.DefaultLimits()})
	a := s.anyone(t).get(t, "/v1/keys/self").want(t, http.StatusOK)
	wantRateLimit(t, a, `"key";q=200;w=2, "user";q=600;w=2`, `"key"`)
	if a.Header.Get("RateLimit-Limit") != "200" {
		t.Errorf("RateLimit-Limit %s", a.Header.Get("RateLimit-Limit"))
	}
}

// What was made before is what would be made now.
func TestRateLimitHeaders_AreTheSame(t *testing.T) {
	for _, l := range []ratelimit.Limit{
		{Every: 10 * time.Millisecond, Burst: 200},
		{Every: time.Second, Burst: 10},
		{Every: 700 * time.Millisecond, Burst: 30},
		{Every: time.Hour, Burst: 3},
		{Every: time.Nanosecond, Burst: 500},
		{Every: 3 * time.Second, Burst: 1},
		{Every: time.Millisecond, Burst: 1_000_000},
	} {
		p := api.NewRatePolicy("x", l)
		start := time.Unix(1e9, 0)
		full := start
		for i := range 700 {
			now := start.Add(time.Duration(i) * l.Every / 3)
			d := l.Spend(now, full, 1)
			full = d.Full
			seconds := int((d.Reset + time.Second - 1) / time.Second)
			if got, want := p(d, seconds), fmt.Sprintf(`"x";r=%d;t=%d`, d.Remaining, seconds); got != want {
				t.Fatalf("%v, request %d: %s; want %s", l, i, got, want)
			}
		}
	}
}

// Where Accept asks for it, an error is a problem of RFC 9457.
func TestProblem(t *testing.T) {
	s := onSQLite(t, options{limits: hourly(4, 100)})
	c := s.anyone(t)
	const accept = "application/json;q=0.5, application/problem+json"
	ask := func(status int, a answer) answer {
		t.Helper()
		var got struct {
			Type, Title, Detail, Code string
			Status                    int
			Details                   []struct{ Field, Message string }
			Meta                      meta
			Error                     any
		}
		if err := json.Unmarshal(a.body, &got); err != nil {
			t.Fatalf("%s: %v", a, err)
		}
		if a.StatusCode != status || got.Status != status || a.Header.Get("Content-Type") != "application/problem+json" || got.Type != "about:blank" ||
			got.Title != http.StatusText(status) || got.Detail == "" || got.Code == "" || got.Error != nil ||
			got.Meta.RequestID != a.Header.Get("X-Request-Id") || !strings.Contains(a.Header.Get("Vary"), "Accept") {
			t.Errorf("%s, %v", a, a.Header)
		}
		if status == http.StatusBadRequest && len(got.Details) != 2 {
			t.Errorf("%s: details %v", a, got.Details)
		}
		return a
	}
	ask(400, c.get(t, "/v1/hotspots/nearby", "Accept", accept))
	ask(404, c.get(t, "/v1/nope", "Accept", "application/problem+json"))
	ask(405, c.do(t, "PUT", "/v1/hotspots", "", "Accept", accept))
	ask(401, s.call(t, "GET", "/v1/keys/self", "", "Accept", accept))
	ask(403, c.get(t, "/v1/keys", "Accept", accept))
	ask(404, c.get(t, "/v1/hotspots/hs_1", "Accept", accept))
	ask(403, c.get(t, "/v1/users/usr_1/rewards", "Accept", accept))
	if a := ask(429, c.get(t, "/v1/keys/self", "Accept", accept)); a.Header.Get("Retry-After") == "" {
		t.Errorf("%s has no Retry-After", a)
	}
	// All others get what they always got.
	for _, accept := range []string{"", "*/*", "application/json", "application/json, application/problem+json", "application/*", "text/csv", "application/problem+json;q=0.5, */*", "application/problem+xml"} {
		wantFault(t, c.get(t, "/v1/nope", "Accept", accept), http.StatusNotFound, "not_found")
	}
}

func BenchmarkRateHeaders(b *testing.B) {
	l := ratelimit.Limit{Every: 10 * time.Millisecond, Burst: 200}
	spend := api.NewSpend(l)
	h := httptest.NewRecorder().Header()
	p := beacon.Principal{Key: "key_1", User: "usr_1"}
	b.ReportAllocs()
	for b.Loop() {
		clear(h)
		spend(h, p)
	}
}
