package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

type queue struct {
	Total int `json:"total"`
	Flags []struct {
		HotspotID  string `json:"hotspot_id"`
		OperatorID string `json:"operator_id"`
		Kind       string `json:"kind"`
		Weight     int    `json:"weight"`
		Facts      []struct {
			Name  string `json:"name"`
			Value int64  `json:"value"`
		} `json:"facts"`
		FirstDay string `json:"first_day"`
		LastDay  string `json:"last_day"`
	} `json:"flags"`
}

// flag puts a flag into the queue.
func (s *server) flag(t *testing.T, f beacon.Flag) {
	t.Helper()
	held, taken, err := s.db.Leases.TakeLease(t.Context(), "flags", "test", time.Now(), time.Hour)
	if err != nil || !taken {
		t.Fatalf("lease: %v, %v", taken, err)
	}
	if err := s.db.Flags.PutFlags(t.Context(), held, []beacon.Flag{f}); err != nil {
		t.Fatal(err)
	}
}

// Staff see the flags that weigh most first, and dismiss one with a reason, which is in
// the audit.
func TestReview(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		if empty := data[queue](t, staff.get(t, "/v1/review"), http.StatusOK); empty.Total != 0 || empty.Flags == nil {
			t.Errorf("a queue of nothing is %+v", empty)
		}
		one, two := c.register(t, 1).ID, c.register(t, 2).ID
		day := beacon.DayOf(noon)
		s.flag(t, beacon.Flag{Hotspot: beacon.HotspotID(one), Operator: c.user, Kind: beacon.RadiusGrown, Weight: 20, Facts: map[string]int64{"coverage_radius_m": 500}, First: day, Last: day})
		s.flag(t, beacon.Flag{Hotspot: beacon.HotspotID(two), Operator: c.user, Kind: beacon.TooRegular, Weight: 65, Facts: map[string]int64{"equal_speed_tests": 6}, First: day - 1, Last: day})
		is := data[queue](t, staff.get(t, "/v1/review?limit=1"), http.StatusOK)
		if is.Total != 2 || len(is.Flags) != 1 || is.Flags[0].HotspotID != two || is.Flags[0].OperatorID != string(c.user) || is.Flags[0].Kind != "too_regular" ||
			is.Flags[0].Weight != 65 || len(is.Flags[0].Facts) != 1 || is.Flags[0].Facts[0].Name != "equal_speed_tests" || is.Flags[0].Facts[0].Value != 6 || is.Flags[0].FirstDay != (day-1).String() || is.Flags[0].LastDay != day.String() {
			t.Errorf("the first of the queue is %+v", is)
		}

		path := "/v1/review/" + two + "/too_regular"
		wantFault(t, staff.delete(t, path), http.StatusBadRequest, "missing_parameter", "reason")
		wantFault(t, staff.delete(t, path+"?reason=%20"), http.StatusBadRequest, "invalid_request", "reason")
		for _, limit := range []string{"0", "101", "1.5", "x"} {
			wantFault(t, staff.get(t, "/v1/review?limit="+limit), http.StatusBadRequest, "invalid_request", "limit")
		}
		for _, other := range []string{"/v1/review/" + two + "/radius_grown", "/v1/review/" + two + "/nonsense", "/v1/review/hs_nope/too_regular"} {
			wantFault(t, staff.delete(t, other+"?reason=seen"), http.StatusNotFound, "not_found")
		}
		staff.delete(t, path+"?reason=an+old+router").want(t, http.StatusNoContent)
		wantFault(t, staff.delete(t, path+"?reason=again"), http.StatusNotFound, "not_found")
		wantEqual(t, "the audit", s.notes(t, beacon.FlagDismissed), []string{"too_regular: an old router"})
		if left := data[queue](t, staff.get(t, "/v1/review"), http.StatusOK); left.Total != 1 || left.Flags[0].HotspotID != one {
			t.Errorf("left is %+v", left)
		}
	})
}

// Nobody decides about their own hotspots.
func TestReview_OwnFlag(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		operator, other := s.anyone(t, "hotspots:write", "hotspots:verify"), s.anyone(t, "hotspots:verify")
		h, today := operator.register(t, 1), beacon.DayOf(s.now())
		s.flag(t, beacon.Flag{Hotspot: beacon.HotspotID(h.ID), Operator: operator.user, Kind: beacon.TooRegular, Weight: 90, First: today, Last: today})
		path := "/v1/review/" + h.ID + "/too_regular?reason=it+is+mine"
		wantFault(t, operator.delete(t, path), http.StatusForbidden, "forbidden")
		wantEqual(t, "the audit", len(s.notes(t, beacon.FlagDismissed)), 0)
		other.delete(t, path).want(t, http.StatusNoContent)
		wantFault(t, operator.delete(t, path), http.StatusNotFound, "not_found")
	})
}
