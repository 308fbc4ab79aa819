package api_test

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"testing"
)

// Decision X4: one's own hotspots, in pages.
func TestOwned(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, other, admin := s.operator(t), s.operator(t), s.anyone(t, "admin")
		other.register(t, 99)
		var want []hotspot
		for n := range 5 {
			want = append(want, c.register(t, n))
		}
		slices.SortFunc(want, func(a, b hotspot) int { // the clock stands still: ids of one moment
			if a.ID < b.ID {
				return -1
			}
			return 1
		})
		for _, tc := range []struct {
			query       string
			page, per   int
			from, until int
			pages       int
		}{
			{"", 1, 20, 0, 5, 1},
			{"?per_page=2", 1, 2, 0, 2, 3},
			{"?per_page=2&page=2", 2, 2, 2, 4, 3},
			{"?per_page=2.0&page=20e-1", 2, 2, 2, 4, 3},
			{"?per_page=2&page=3", 3, 2, 4, 5, 3},
			{"?per_page=2&page=4", 4, 2, 5, 5, 3},
			{"?per_page=5", 1, 5, 0, 5, 1},
			{"?per_page=5&page=2", 2, 5, 5, 5, 1},
			{"?per_page=100", 1, 100, 0, 5, 1},
			{"?page=1000000", 1000000, 20, 5, 5, 1},
			{"?page=4611686018427387905&per_page=100", 4611686018427387905, 100, 5, 5, 1},
			{fmt.Sprintf("?page=%d&per_page=100", math.MaxInt), math.MaxInt, 100, 5, 5, 1},
			{"?page=1", 1, 20, 0, 5, 1},
		} {
			for _, asked := range []answer{
				c.get(t, "/v1/users/me/hotspots"+tc.query),
				c.get(t, "/v1/users/"+string(c.user)+"/hotspots"+tc.query),
				admin.get(t, "/v1/users/"+string(c.user)+"/hotspots"+tc.query),
			} {
				got := whole[[]hotspot](t, asked, http.StatusOK)
				wantEqual(t, tc.query, got.Data, append([]hotspot{}, want[tc.from:tc.until]...))
				wantEqual(t, tc.query, *got.Pagination, pagination{tc.page, tc.per, 5, tc.pages})
			}
		}
		empty := whole[[]hotspot](t, s.anyone(t).get(t, "/v1/users/me/hotspots"), http.StatusOK)
		wantEqual(t, "of a user without any", *empty.Pagination, pagination{1, 20, 0, 0})
		wantEqual(t, "of a user without any", empty.Data, []hotspot{})
	})
}

func TestOwned_Refused(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, other, admin := s.operator(t), s.operator(t), s.anyone(t, "admin")
		other.register(t, 1)
		for query, fields := range map[string][]string{
			"?page=0": {"page"}, "?page=-1": {"page"}, "?page=": {"page"}, "?page=1.5": {"page"}, "?page=1e99": {"page"}, "?page=abc": {"page"},
			"?page=9223372036854775808": {"page"}, "?page=1&page=1": {"page"}, "?per_page=0": {"per_page"}, "?per_page=101": {"per_page"},
			"?per_page=-5": {"per_page"}, "?per_page=": {"per_page"}, "?page=0&per_page=0": {"page", "per_page"},
		} {
			wantFault(t, c.get(t, "/v1/users/me/hotspots"+query), http.StatusBadRequest, "invalid_request", fields...)
			// The request comes before whose it is (decision N3).
			wantFault(t, c.get(t, "/v1/users/"+string(other.user)+"/hotspots"+query), http.StatusBadRequest, "invalid_request", fields...)
		}
		// Decision N6: whether another user exists is not told.
		bodies := map[string]bool{}
		for _, user := range []string{
			string(other.user), "usr_01kb3gzk00a1b2c3d4e5f6g7h8", "ME", "Me", "nobody", "%00", "new", "usr_", "..", "me%20", "m%65%00", string(c.key), "%2e",
		} {
			a := c.get(t, "/v1/users/"+user+"/hotspots")
			if user == ".." { // no clean path
				wantFault(t, a, http.StatusNotFound, "not_found")
				continue
			}
			wantFault(t, a, http.StatusForbidden, "forbidden")
			bodies[anyID.ReplaceAllString(string(a.body), "")] = true
		}
		if len(bodies) != 1 {
			t.Errorf("users are told apart: %v", bodies)
		}
		got := whole[[]hotspot](t, admin.get(t, "/v1/users/usr_01kb3gzk00a1b2c3d4e5f6g7h8/hotspots"), http.StatusOK)
		wantEqual(t, "nobody's, to an admin", *got.Pagination, pagination{1, 20, 0, 0})
		for _, user := range []string{"ME", "%00", "%FF"} { // PostgreSQL could not even store these
			admin.get(t, "/v1/users/"+user+"/hotspots").want(t, http.StatusOK)
		}
	})
}

// One's own hotspots with a text in their name: nobody else's, and in pages.
func TestOwned_Search(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		first, second := s.settle(t)
		for query, want := range map[string]string{
			"?q=STRASSE":                    "Straße 1, CAFE STRASSE; 1 of 1, 2 in all",
			"?q=strasse&per_page=1":         "Straße 1; 1 of 2, 2 in all",
			"?q=strasse&per_page=1&page=2":  "CAFE STRASSE; 2 of 2, 2 in all",
			"?q=strasse&per_page=1&page=3":  "; 3 of 2, 2 in all",
			"?q=caf":                        "CAFE STRASSE; 1 of 1, 1 in all",
			"?q=zo%C3%8B":                   "; 1 of 0, 0 in all", // another's
			"?q=stra%C3%9Fe+2":              "; 1 of 0, 0 in all", // deleted
			"?q=%25":                        "; 1 of 0, 0 in all",
			"?q=1&page=9223372036854775807": "; 9223372036854775807 of 1, 1 in all",
		} {
			if got := names(t, first.get(t, "/v1/users/me/hotspots"+query)); got != want {
				t.Errorf("%s:\n got %s\nwant %s", query, got, want)
			}
		}
		all := data[[]hotspot](t, first.get(t, "/v1/users/me/hotspots"), http.StatusOK)
		found := data[[]hotspot](t, first.get(t, "/v1/users/me/hotspots?q=1"), http.StatusOK)
		wantEqual(t, "a hotspot that was searched for", found, all[:1])
		admin := s.anyone(t, "admin")
		wantEqual(t, "another's, to an admin", names(t, admin.get(t, "/v1/users/"+string(second.user)+"/hotspots?q=caf")), "Café Zoë; 1 of 1, 1 in all")
		wantEqual(t, "nobody's", names(t, admin.get(t, "/v1/users/%00/hotspots?q=caf")), "; 1 of 0, 0 in all")
		wantFault(t, first.get(t, "/v1/users/"+string(second.user)+"/hotspots?q=caf"), http.StatusForbidden, "forbidden")
		for _, text := range badSearches {
			wantFault(t, first.get(t, "/v1/users/me/hotspots?q="+url.QueryEscape(text)), http.StatusBadRequest, "invalid_request", "q")
		}
		wantFault(t, first.get(t, "/v1/users/me/hotspots?q=a&q=a"), http.StatusBadRequest, "invalid_request", "q")
	})
}

// To look at many names is as much work as some requests.
func TestLimits_OwnedSearch(t *testing.T) {
	eachStoreWith(t, options{limits: hourly(20, 100)}, func(t *testing.T, s *server) {
		s.api.SetNamesARequest(2)
		c := s.operator(t)
		for n := range 5 {
			c.register(t, n)
		}
		wantRate(t, c.get(t, "/v1/users/me/hotspots"), 20, 14)
		wantRate(t, c.get(t, "/v1/users/me/hotspots?q=a").want(t, http.StatusOK), 20, 11)
		wantRate(t, s.operator(t).get(t, "/v1/users/me/hotspots?q=a").want(t, http.StatusOK), 20, 19) // who has none
		for range 3 {                                                                                 // 9 are spent of the user's 60, and each search costs 3, with whatever key
			key := s.keyOf(t, c.user, accessCreation())
			for range 6 {
				if key.get(t, "/v1/users/me/hotspots?q=a").StatusCode == http.StatusTooManyRequests {
					break
				}
			}
		}
		a := s.keyOf(t, c.user, accessCreation()).get(t, "/v1/keys/self")
		wantFault(t, a, http.StatusTooManyRequests, "rate_limit_exceeded")
		if a.Header.Get("RateLimit-Limit") != "60" {
			t.Errorf("%s: %v; want what the user has left", a, a.Header)
		}
	})
}
