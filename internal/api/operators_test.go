package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
)

type operatorPage struct {
	Month     string
	Operators []struct {
		UserID                  string `json:"user_id"`
		Hotspots, Waiting, Keys int
		Earned                  json.Number
	}
	Next *string
}

// Admins see who has hotspots, and what they earned on closed days.
func TestOperators(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		admin, first, second, without := s.anyone(t, "admin"), s.anyone(t, "hotspots:write", "keys:manage"), s.operator(t), s.operator(t)
		page := data[operatorPage](t, admin.get(t, "/v1/operators"), http.StatusOK)
		if len(page.Operators) != 0 || page.Next != nil || page.Month != "2026-11" {
			t.Errorf("nobody has hotspots, and the operators are %+v", page)
		}
		s.verify(t, "/v1/hotspots/"+first.register(t, 1).ID)
		first.register(t, 2)
		second.register(t, 3)
		without.delete(t, "/v1/hotspots/"+without.register(t, 4).ID).want(t, http.StatusNoContent)
		first.post(t, "/v1/keys", `{"scopes":[]}`).want(t, http.StatusOK)
		revoked := data[apiKey](t, first.post(t, "/v1/keys", `{"scopes":[]}`), http.StatusOK).ID
		first.delete(t, "/v1/keys/"+revoked).want(t, http.StatusNoContent)

		got := map[string][3]int{}
		for path := "/v1/operators?limit=1"; path != ""; {
			page := data[operatorPage](t, admin.get(t, path), http.StatusOK)
			for _, o := range page.Operators {
				got[o.UserID] = [3]int{o.Hotspots, o.Waiting, o.Keys}
				if o.Earned != "0" {
					t.Errorf("earned %s before any day is closed", o.Earned)
				}
			}
			path = ""
			if page.Next != nil {
				path = "/v1/operators?limit=1&after=" + *page.Next
			}
		}
		wantEqual(t, "the operators", got, map[string][3]int{string(first.user): {2, 1, 2}, string(second.user): {1, 1, 1}})
		for query, field := range map[string]string{"limit=0": "limit", "limit=101": "limit", "after=me": "after"} {
			wantFault(t, admin.get(t, "/v1/operators?"+query), http.StatusBadRequest, "invalid_request", field)
		}
		wantFault(t, s.anyone(t, "hotspots:verify").get(t, "/v1/operators"), http.StatusForbidden, "forbidden")
	})
}
