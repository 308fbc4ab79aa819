package api_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
)

// Limits count real time, so these come back after an hour: never in a test.
func hourly(perKey, failures int) edge.Limits {
	return edge.Limits{
		PerKey:   ratelimit.Limit{Every: time.Hour, Burst: perKey},
		Failures: ratelimit.Limit{Every: time.Hour, Burst: failures},
	}
}

func wantRate(t testing.TB, a answer, limit, remaining int) {
	t.Helper()
	if a.Header.Get("RateLimit-Limit") != strconv.Itoa(limit) || a.Header.Get("RateLimit-Remaining") != strconv.Itoa(remaining) {
		t.Errorf("%s: RateLimit-Limit %s, -Remaining %s; want %d, %d", a,
			a.Header.Get("RateLimit-Limit"), a.Header.Get("RateLimit-Remaining"), limit, remaining)
	}
	reset, err := strconv.Atoi(a.Header.Get("RateLimit-Reset"))
	if want := 3600 * (limit - remaining); err != nil || reset > want || reset < want-60 {
		t.Errorf("%s: RateLimit-Reset %s; want about %d", a, a.Header.Get("RateLimit-Reset"), want)
	}
}

func wantLimited(t testing.TB, a answer, limit int) {
	t.Helper()
	wantFault(t, a, http.StatusTooManyRequests, "rate_limit_exceeded")
	wantRate(t, a, limit, 0)
	if after, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || after > 3600 || after < 3540 {
		t.Errorf("%s: Retry-After %s; want about 3600", a, a.Header.Get("Retry-After"))
	}
}

// Decision N21: so many requests to a key, whatever they ask; another key has
// its own.
func TestLimits_PerKey(t *testing.T) {
	eachStoreWith(t, options{limits: hourly(6, 100)}, func(t *testing.T, s *server) {
		c, other := s.operator(t), s.anyone(t)
		second := s.keyOf(t, c.user, accessCreation("hotspots:write"))
		hotspot := "/v1/hotspots/hs_01kb3gzk00e9x8q6s5t4v3w2y1"
		for i, a := range []answer{ // each is counted: good, bad, forbidden, unknown
			c.get(t, "/v1/keys/self"), c.get(t, "/v1/hotspots/nearby"), c.get(t, "/v1/keys"), c.get(t, hotspot), c.post(t, "/v1/hotspots", "garbage"),
			c.post(t, "/v1/hotspots", registration(1)),
		} {
			wantRate(t, a, 6, 5-i)
			if a.StatusCode == http.StatusTooManyRequests || a.Header.Get("Retry-After") != "" {
				t.Errorf("request %d: %s", i, a)
			}
		}
		for _, a := range []answer{
			c.get(t, "/v1/keys/self"), c.get(t, "/v1/hotspots/nearby?lat=1&lng=1"), c.get(t, "/v1/hotspots/"+"hs_"), c.get(t, "/v1/keys"), // 429 before 403
			c.post(t, "/v1/hotspots", registration(2)), c.delete(t, hotspot), // 429 before 400 and 404
		} {
			wantLimited(t, a, 6)
		}
		wantRate(t, other.get(t, "/v1/keys/self"), 6, 5)
		wantRate(t, second.get(t, "/v1/keys/self"), 6, 5) // the limit is of a key, not of a user
		wantFault(t, c.do(t, "PUT", hotspot, ""), http.StatusMethodNotAllowed, "method_not_allowed")
		wantFault(t, c.get(t, "/v1/nope"), http.StatusNotFound, "not_found")
		if n := len(s.changes(t, beacon.HotspotRegistered)); n != 1 {
			t.Errorf("%d were registered; want 1", n)
		}
	})
}

func accessCreation(scopes ...string) access.Creation {
	return access.Creation{Scopes: beacon.Some(scopes)}
}

// Wrong keys are counted by address, and a flood of them is refused before any
// is looked up. A key that is in memory needs no look, so its holder is not made
// to suffer for others behind the same address; one that is not, has to wait.
func TestLimits_WrongKeys(t *testing.T) {
	eachStoreWith(t, options{limits: hourly(100, 3)}, func(t *testing.T, s *server) {
		c, fresh := s.anyone(t), s.anyone(t)
		_, unknown := access.Mint(noon, beacon.Key{})
		unheard, unheardOf := access.Mint(noon, beacon.Key{User: c.user}) // created elsewhere, and not used here
		if err := s.db.Keys.InsertKey(t.Context(), unheard, beacon.Actor{}, nil); err != nil {
			t.Fatal(err)
		}
		c.get(t, "/v1/keys/self").want(t, http.StatusOK)
		for i, header := range [][]string{nil, {"Authorization", "Bearer garbage"}, {"Authorization", "Bearer " + unknown}} {
			a := s.call(t, "GET", "/v1/keys/self", "", header...)
			wantFault(t, a, http.StatusUnauthorized, "unauthorized")
			wantRate(t, a, 3, 2-i)
		}
		for _, header := range [][]string{nil, {"Authorization", "Bearer garbage"}, {"Authorization", "Bearer " + unknown}, {"Authorization", "Bearer " + unheardOf}} {
			// No header that a client makes up gives it another address.
			header = append(header, "X-Forwarded-For", "192.0.2.1", "Forwarded", "for=192.0.2.2", "X-Real-Ip", "192.0.2.3")
			wantLimited(t, s.call(t, "GET", "/v1/keys/self", "", header...), 3)
		}
		fresh.get(t, "/v1/keys/self").want(t, http.StatusOK)
		wantRate(t, c.get(t, "/v1/keys/self").want(t, http.StatusOK), 100, 98)
		a := s.call(t, "GET", "/v1/nope", "") // no key is needed to hear that
		wantFault(t, a, http.StatusNotFound, "not_found")
		wantRate(t, a, 3, 0)
		wantRate(t, s.call(t, "GET", "/v1/openapi.json", ""), 3, 0)
	})
}

// Limits that are off tell nothing and refuse nobody.
func TestLimits_Off(t *testing.T) {
	s := onSQLite(t, options{})
	c := s.anyone(t)
	for range 110 { // more than the smaller burst by default
		c.get(t, "/v1/keys/self").want(t, http.StatusOK)
		s.call(t, "GET", "/v1/keys/self", "").want(t, http.StatusUnauthorized)
	}
}

func TestDefaultLimits(t *testing.T) {
	got := edge.DefaultLimits()
	want := edge.Limits{
		PerKey:    ratelimit.Limit{Every: 10 * time.Millisecond, Burst: 200},
		Failures:  ratelimit.Limit{Every: 50 * time.Millisecond, Burst: 100},
		Devices:   ratelimit.Limit{Every: time.Second, Burst: 10},
		LinkTries: ratelimit.Limit{Every: 6 * time.Second, Burst: 10},
		Enrolling: ratelimit.Limit{Every: 50 * time.Millisecond, Burst: 200},
		SignUps:   ratelimit.Limit{Every: 12 * time.Second, Burst: 10},
		Doors:     ratelimit.Limit{Every: time.Second, Burst: 60},
		Feeds:     ratelimit.Limit{Every: 20 * time.Millisecond, Burst: 500},
	}
	if got != want {
		t.Errorf("DefaultLimits() = %+v; want those of decision N21, %+v", got, want)
	}
}

// simulating asks what hotspots would add.
func simulating(t *testing.T, c client, hotspots int) answer {
	t.Helper()
	add := strings.Repeat(`,{"lat":40.7,"lng":-74,"radius_m":50}`, hotspots)
	return c.post(t, "/v1/coverage/simulate", `{"bounds":{"north":41,"south":40,"east":-73,"west":-75},"add":[`+strings.TrimPrefix(add, ",")+`]}`)
}

// Many hotspots are as much work as some requests. A request that is refused for that
// counts as one.
func TestLimits_WhatIf(t *testing.T) {
	eachStoreWith(t, options{limits: hourly(20, 100)}, func(t *testing.T, s *server) {
		c := s.anyone(t)
		wantRate(t, simulating(t, c, 9), 20, 19)
		wantRate(t, simulating(t, c, 100), 20, 8)
		refused := simulating(t, c, 100)
		wantFault(t, refused, http.StatusTooManyRequests, "rate_limit_exceeded")
		wantRate(t, refused, 20, 7)
		wantRate(t, simulating(t, c, 60), 20, 0)
		wantLimited(t, simulating(t, c, 1), 20)
	})
}

// No request counts as more than a key may send at once: it could never succeed.
func TestLimits_WholeBurst(t *testing.T) {
	const burst = 5
	limits := hourly(burst, 100)
	limits.Feeds = ratelimit.Limit{Every: time.Hour, Burst: burst}
	s := onSQLite(t, options{limits: limits})
	wantRate(t, simulating(t, s.anyone(t), 100).want(t, http.StatusOK), burst, 0)
	places := strings.TrimPrefix(strings.Repeat(`,{"lat":40.7,"lng":-74}`, 20), ",")
	wantRate(t, s.anyone(t).post(t, "/v1/rewards/estimate", `{"places":[`+places+`]}`).want(t, http.StatusOK), burst, 0)

	// A download of an open feed is counted as a request, and then for its size.
	h, r := http.Header{}, httptest.NewRequest("GET", "/open/hotspots.geojson", nil)
	for _, requests := range []int{1, 1000} {
		if err := s.api.SpendFeed(h, r, requests, time.Now()); err != nil {
			t.Errorf("a large feed: %v", err)
		}
	}
	if left := map[string][]string(h)["RateLimit-Remaining"]; !slices.Equal(left, []string{"0"}) {
		t.Errorf("a large feed leaves %q requests; want 0", left)
	}
}
