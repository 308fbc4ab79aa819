package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Whatever is wrong is named, and no store sees it.
func TestRewards_Refused(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "rewards:read")
		other := s.anyone(t, "hotspots:write", "rewards:read")
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID + "/rewards/explain"
		foreign := "/v1/hotspots/" + other.register(t, 2).ID + "/rewards/explain"
		for path, fields := range map[string][]string{
			"/rewards?period=CURRENT": {"period"}, "/rewards?period=": {"period"}, "/rewards?period=2026-10": {"period"}, "/rewards?period=all%00": {"period"},
			"/rewards?period=last&period=last":                                 {"period"},
			"/rewards/history?start_date=2026-02-30":                           {"start_date"},
			"/rewards/history?start_date=2026-2-1":                             {"start_date"},
			"/rewards/history?start_date=2026-02-01T00:00:00Z":                 {"start_date"},
			"/rewards/history?start_date=1969-12-32":                           {"start_date"},
			"/rewards/history?end_date=10000-01-01":                            {"end_date"},
			"/rewards/history?end_date=%EF%BC%92026-01-01":                     {"end_date"},
			"/rewards/history?start_date=&end_date=":                           {"start_date", "end_date"},
			"/rewards/history?start_date=2026-01-01&start_date=2026-01-01":     {"start_date"},
			"/rewards/history?start_date=2026-05-01&end_date=2026-04-01":       {"start_date"},
			"/rewards/history?start_date=2026-11-17":                           {"start_date"}, // today is the 15th
			"/rewards/history?page=0":                                          {"page"},
			"/rewards/history?per_page=101":                                    {"per_page"},
			"/rewards/history?page=9223372036854775808":                        {"page"},
			"/rewards/history?page=1.5&per_page=0&start_date=x&end_date=%2000": {"page", "per_page", "start_date", "end_date"},
		} {
			wantFault(t, c.get(t, "/v1/users/me"+path), http.StatusBadRequest, "invalid_request", fields...)
			// The request comes before whose it is (decision N3).
			wantFault(t, c.get(t, "/v1/users/"+string(other.user)+path), http.StatusBadRequest, "invalid_request", fields...)
		}
		for _, date := range []string{"2026-11-16", "9999-12-31", "today", "", "2026-11-15%00", "2026-11-15&date=2026-11-15", "15.11.2026"} {
			wantFault(t, c.get(t, hotspot+"?date="+date), http.StatusBadRequest, "invalid_request", "date")
			wantFault(t, c.get(t, foreign+"?date="+date), http.StatusBadRequest, "invalid_request", "date")
		}
		// A day before 1970 is a day.
		for _, query := range []string{"start_date=1969-12-31", "start_date=0001-01-01&end_date=1969-12-31"} {
			c.get(t, "/v1/users/me/rewards/history?"+query).want(t, http.StatusOK)
		}
		for _, query := range []string{"?period=%zz", "?a;b", "/history?start_date=%"} {
			wantFault(t, c.get(t, "/v1/users/me/rewards"+query), http.StatusBadRequest, "invalid_request")
		}
		wantFault(t, c.get(t, foreign), http.StatusForbidden, "forbidden")
		for _, id := range []string{"hs_nope", "hs_01kb3gzk00e9x8q6s5t4v3w2y1", "%00", "%FF", "me", "..%2f"} {
			wantFault(t, c.get(t, "/v1/hotspots/"+id+"/rewards/explain"), http.StatusNotFound, "not_found")
		}
		for _, month := range []string{"2026-13", "2026-00", "2026-1", "202610", "2026-10-01", "current", "%00", "%FF", "-026-10", "2026-10%20", "１０-10"} {
			wantFault(t, c.get(t, "/v1/users/me/rewards/statements/"+month), http.StatusNotFound, "not_found")
		}
		// What a table would have been asked for is refused in JSON all the same.
		wantFault(t, c.get(t, "/v1/users/me/rewards?period=x", "Accept", "text/csv"), http.StatusBadRequest, "invalid_request", "period")
		wantFault(t, c.get(t, "/v1/users/me/rewards/statements/2026-10", "Accept", "text/csv"), http.StatusNotFound, "not_found")
	})
}

// Decision N6: whether another user exists is not told.
func TestRewards_OfOthers(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, other, admin := s.anyone(t, "rewards:read"), s.anyone(t, "rewards:read"), s.anyone(t, "admin")
		bodies := map[string]bool{}
		for _, user := range []string{
			string(other.user), "usr_01kb3gzk00a1b2c3d4e5f6g7h8", "ME", "Me", "nobody", "%00", "%FF", "new", "me%20", "m%65%00", string(c.key), strings.ToUpper(string(c.user)),
		} {
			for _, path := range []string{"/rewards", "/rewards?period=all", "/rewards/history", "/rewards/statements/2026-10"} {
				a := c.get(t, "/v1/users/"+user+path)
				wantFault(t, a, http.StatusForbidden, "forbidden")
				bodies[anyID.ReplaceAllString(string(a.body), "")] = true
			}
		}
		if len(bodies) != 1 {
			t.Errorf("users are told apart: %v", bodies)
		}
		for _, user := range []string{string(other.user), "usr_01kb3gzk00a1b2c3d4e5f6g7h8"} {
			for _, period := range []string{"current", "last", "all"} {
				got := data[rewardsOf](t, admin.get(t, "/v1/users/"+user+"/rewards?period="+period), http.StatusOK).addsUp(t)
				if got.UserID != user || got.Summary.Total != 0 || got.Hotspots == nil || len(got.Hotspots) != 0 {
					t.Errorf("the rewards of someone without any are %+v", got)
				}
			}
			got := whole[[]any](t, admin.get(t, "/v1/users/"+user+"/rewards/history"), http.StatusOK)
			wantEqual(t, "the history of someone without any", *got.Pagination, pagination{1, 20, 0, 0})
		}
		for _, user := range []string{"ME", "%00", "%FF"} { // no user's ids
			for _, path := range []string{"/rewards", "/rewards/history", "/rewards/statements/2026-10"} {
				wantFault(t, admin.get(t, "/v1/users/"+user+path), http.StatusNotFound, "not_found")
			}
		}
	})
}

// A hotspot is listed from when it is in service, and so it is when a month begins.
func TestRewards_HotspotsFromTheFirstMinute(t *testing.T) {
	places := policy.Newest() // under which no minute counts before it is decided
	places.Version, places.From = 2, beacon.DayOf(noon)
	eachStoreWith(t, options{limits: ample, live: true, policies: append(policy.Devices(), places)}, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "rewards:read")
		listed := func(period string) (names []string) {
			got := data[rewardsOf](t, c.get(t, "/v1/users/me/rewards?period="+period), http.StatusOK).addsUp(t)
			for _, h := range got.Hotspots {
				names = append(names, h.ID)
				wantEqual(t, "what it earned at once", h.Earned, micros(0))
			}
			return names
		}
		m := c.install(t, 1)
		c.register(t, 2) // stays pending
		wantEqual(t, "those of a pending hotspot", listed("current"), []string(nil))
		s.verify(t, m.hotspot)
		for _, period := range []string{"current", "all"} {
			wantEqual(t, period, listed(period), []string{strings.TrimPrefix(m.hotspot, "/v1/hotspots/")})
		}
		wantEqual(t, "the month before", listed("last"), []string(nil))
	})
}

// Pages of a history that has one month.
func TestRewards_HistoryPages(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "rewards:read")
		m := c.install(t, 1)
		s.verify(t, m.hotspot)
		for i := range 10 {
			m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":0,"tx_bytes":0}`, i)).want(t, http.StatusOK)
			s.advance(time.Minute)
		}
		for query, want := range map[string]struct {
			items int
			pagination
		}{
			"":                       {1, pagination{1, 20, 1, 1}},
			"?start_date=2026-11-15": {1, pagination{1, 20, 1, 1}},
			"?start_date=2026-11-01&end_date=2026-11-01": {1, pagination{1, 20, 1, 1}},
			"?end_date=9999-12-31":                       {1, pagination{1, 20, 1, 1}},
			"?start_date=2026-11-16":                     {1, pagination{1, 20, 1, 1}}, // today, east of Greenwich
			"?start_date=1970-01-01":                     {1, pagination{1, 20, 1, 1}},
			"?end_date=2026-10-31":                       {0, pagination{1, 20, 0, 0}},
			"?page=2":                                    {0, pagination{2, 20, 1, 1}},
			"?page=9223372036854775807&per_page=100":     {0, pagination{9223372036854775807, 100, 1, 1}},
			"?page=4611686018427387905&per_page=100":     {0, pagination{4611686018427387905, 100, 1, 1}},
			"?unknown=1&unknown=2":                       {1, pagination{1, 20, 1, 1}},
		} {
			got := whole[[]map[string]any](t, c.get(t, "/v1/users/me/rewards/history"+query), http.StatusOK)
			wantEqual(t, query, *got.Pagination, want.pagination)
			if len(got.Data) != want.items {
				t.Errorf("%s: %v", query, got.Data)
			}
		}
	})
}
