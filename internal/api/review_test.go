package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
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
		FirstDay string  `json:"first_day"`
		LastDay  string  `json:"last_day"`
		Count    int     `json:"count"`
		AtStake  float64 `json:"at_stake"`
		Group    []struct {
			HotspotID  string `json:"hotspot_id"`
			OperatorID string `json:"operator_id"`
		} `json:"group"`
	} `json:"flags"`
}

// flag puts flags into the queue.
func (s *server) flag(t *testing.T, flags ...beacon.Flag) {
	t.Helper()
	held, taken, err := s.db.Leases.TakeLease(t.Context(), "flags", "test", time.Now(), time.Hour)
	if err != nil || !taken {
		t.Fatalf("lease: %v, %v", taken, err)
	}
	if err := s.db.Flags.PutFlags(t.Context(), held, flags); err != nil {
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

// Accounts come first that have the most at stake. All flags of one kind that an account has
// are one line, however many, and pages have each line once.
func TestReview_ByAccount(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		rich, poor, flood, staff := s.operator(t), s.operator(t), s.operator(t), s.anyone(t, "hotspots:verify")
		one, two, day := rich.register(t, 1).ID, poor.register(t, 2).ID, beacon.DayOf(noon)
		flag := func(hotspot string, operator beacon.UserID, kind beacon.FlagKind, weight int, stake beacon.Amount) beacon.Flag {
			return beacon.Flag{Hotspot: beacon.HotspotID(hotspot), Operator: operator, Kind: kind, Weight: weight, First: day, Last: day, Stake: stake}
		}
		across := flag(two, poor.user, beacon.AcrossAccounts, 82, 1_500_000)
		across.Group = []beacon.Owned{{User: poor.user, Hotspot: beacon.HotspotID(two)}, {User: rich.user, Hotspot: beacon.HotspotID(one)}}
		all := []beacon.Flag{across, flag(one, rich.user, beacon.RadiusGrown, 20, 9_000_000), flag(one, rich.user, beacon.TooRegular, 65, 9_000_000)}
		var ids []string
		for i := range 120 {
			ids = append(ids, fmt.Sprintf("hs_01kb3gzk00e9x8q6s5t4v3w%03d", i))
			all = append(all, flag(ids[i], flood.user, beacon.ManyBoots, 55, 0))
		}
		s.flag(t, all...)

		want := []string{one + " too_regular 1", one + " radius_grown 1", two + " across_accounts 1", ids[0] + " many_boots 120"}
		var lines []string
		for path := "/v1/review?per_page=3"; path != ""; {
			a := staff.get(t, path).want(t, http.StatusOK)
			page := data[queue](t, a, http.StatusOK)
			var listed struct{ Pagination onward }
			if err := json.Unmarshal(a.body, &listed); err != nil || page.Total != 123 {
				t.Fatalf("%d flags, %v", page.Total, err)
			}
			for _, f := range page.Flags {
				lines = append(lines, fmt.Sprintf("%s %s %d", f.HotspotID, f.Kind, f.Count))
				if f.Kind == "across_accounts" && (f.AtStake != 1.5 || len(f.Group) != 2 || f.Group[1].HotspotID != one || f.Group[1].OperatorID != string(rich.user)) {
					t.Errorf("a flag across accounts is %+v", f)
				}
			}
			if path = ""; listed.Pagination.Next != nil {
				path = "/v1/review?per_page=3&cursor=" + url.QueryEscape(*listed.Pagination.Next)
			}
		}
		wantEqual(t, "the lines", lines, want)
		of := "/v1/review?operator_id=" + string(flood.user)
		if each := data[queue](t, staff.get(t, of+"&kind=many_boots&per_page=100&page=2"), http.StatusOK); len(each.Flags) != 20 || each.Total != 120 || each.Flags[0].HotspotID != ids[100] {
			t.Errorf("the last flags of one account are %+v", each)
		}
		wantEqual(t, "another kind", len(data[queue](t, staff.get(t, of+"&kind=too_regular"), http.StatusOK).Flags), 0)

		path := "/v1/review/" + two + "/across_accounts?reason=neighbours"
		for _, involved := range []client{rich, poor} {
			verifier := s.keyOf(t, involved.user, access.Creation{Scopes: beacon.Some([]string{"hotspots:verify"})})
			wantFault(t, verifier.delete(t, path), http.StatusForbidden, "forbidden")
		}
		staff.delete(t, path).want(t, http.StatusNoContent)
		staff.delete(t, "/v1/review/"+string(flood.user)+"/many_boots?reason=a+power+line").want(t, http.StatusNoContent)
		wantFault(t, staff.delete(t, "/v1/review/"+string(flood.user)+"/many_boots?reason=again"), http.StatusNotFound, "not_found")
		wantEqual(t, "left", data[queue](t, staff.get(t, "/v1/review"), http.StatusOK).Total, 2)
	})
}

// A parameter that a list does not know is refused: who believes to page or to filter, and
// does not, would take a part for the whole.
func TestLists_UnknownParameters(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		admin := s.anyone(t, "admin")
		for _, path := range []string{
			"/v1/review", "/v1/hotspots", "/v1/users/me/hotspots", "/v1/keys", "/v1/holds", "/v1/users/me/holds", "/v1/operators", "/v1/audit", "/v1/rewards/months",
		} {
			admin.get(t, path).want(t, http.StatusOK)
			wantFault(t, admin.get(t, path+"?offset=20&after_id=x&offset=40"), http.StatusBadRequest, "invalid_request", "offset", "after_id")
		}
		for _, path := range []string{"/v1/review?cursor=x", "/v1/review?cursor=" + base64.RawURLEncoding.EncodeToString([]byte("f 2 1 usr_a 1 many_boots hs_a"))} {
			wantFault(t, admin.get(t, path), http.StatusBadRequest, "invalid_request", "cursor")
		}
		wantFault(t, admin.get(t, "/v1/review?kind=x&operator_id=y"), http.StatusBadRequest, "invalid_request", "operator_id", "kind")
		// Those of the document, as ever.
		admin.get(t, "/v1/hotspots/nearby?lat=1&lng=2&offset=20").want(t, http.StatusOK)
		admin.get(t, "/v1/users/me/rewards?offset=20").want(t, http.StatusOK)
		admin.get(t, "/v1/users/me/rewards/history?offset=20").want(t, http.StatusOK)
		admin.get(t, "/v1/coverage?north=1&south=0&east=1&west=0&offset=20").want(t, http.StatusOK)
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
