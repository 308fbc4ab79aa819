package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

type neighboursAnswer struct {
	Total      int `json:"total"`
	Neighbours []struct {
		ID         string  `json:"id"`
		Status     string  `json:"status"`
		Verified   bool    `json:"verified"`
		Operator   string  `json:"operator_id"`
		Same       bool    `json:"same_operator"`
		DistanceM  float64 `json:"distance_m"`
		DaysServed *int    `json:"days_served"`
		Standing   *int    `json:"standing_minutes"`
	} `json:"neighbours"`
}

// Staff see what stands within 200 m of a hotspot, where visits found it.
func TestNeighbours(t *testing.T) {
	eachStoreWith(t, options{policies: policy.BuiltIn(), live: true}, func(t *testing.T, s *server) {
		c, other, staff := s.operator(t), s.operator(t), s.anyone(t, "hotspots:verify")
		of := "/v1/hotspots/" + c.register(t, 1).ID // at 40.7, -74
		near := func(c client, n int, lat float64) string {
			id := c.register(t, n).ID
			c.patch(t, "/v1/hotspots/"+id, fmt.Sprintf(`{"location":{"lat":%v}}`, lat)).want(t, http.StatusOK)
			return id
		}
		const degree = 111_195.08 // metres
		own, far := near(c, 2, 40.7+150/degree), near(other, 3, 40.7+210/degree)
		found := near(other, 4, 40.7+230/degree) // and a visit finds it nearer
		gone := near(other, 5, 40.7)
		other.delete(t, "/v1/hotspots/"+gone).want(t, http.StatusNoContent)
		staff.post(t, "/v1/hotspots/"+found+"/verification", at(`{"lat":%v,"lng":-74,"accuracy_m":5,"method":"gps"}`, 40.7+140/degree)).want(t, http.StatusOK)

		for _, path := range []string{of, "/v1/hotspots/hs_nope"} {
			wantFault(t, s.call(t, "GET", path+"/neighbours", ""), http.StatusUnauthorized, "unauthorized")
			wantFault(t, c.get(t, path+"/neighbours"), http.StatusForbidden, "forbidden") // not even its operator
		}
		for _, id := range []string{"hs_nope", gone} {
			wantFault(t, staff.get(t, "/v1/hotspots/"+id+"/neighbours"), http.StatusNotFound, "not_found")
		}
		got := data[neighboursAnswer](t, staff.get(t, of+"/neighbours"), http.StatusOK)
		if got.Total != 2 || len(got.Neighbours) != 2 {
			t.Fatalf("the neighbours are %+v", got)
		}
		first, second := got.Neighbours[0], got.Neighbours[1]
		if first.ID != found || first.DistanceM != 140 || !first.Verified || first.Same || first.Operator == second.Operator {
			t.Errorf("the first is %+v; want %s, found 140 m away", first, found)
		}
		if second.ID != own || second.DistanceM != 150 || second.Verified || !second.Same || second.Status != string(beacon.Pending) {
			t.Errorf("the second is %+v; want %s", second, own)
		}
		if first.DaysServed != nil || first.Standing == nil || *first.Standing != 0 {
			t.Errorf("the standing is %v days, %v minutes; want 0 minutes", first.DaysServed, first.Standing)
		}
		if alone := data[neighboursAnswer](t, staff.get(t, "/v1/hotspots/"+far+"/neighbours"), http.StatusOK); alone.Total != 2 {
			t.Errorf("at 210 m the neighbours are %+v; want those at 140 and 150 m", alone)
		}
	})
}
