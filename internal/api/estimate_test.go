package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

type estimated struct {
	Unit   string
	Days   int
	Places []struct {
		Lat, Lng   float64
		FreeGround float64 `json:"free_ground"`
		Neighbours int
		Most       float64
		Expected   *struct{ Low, Middle, High float64 }
	}
}

// What a hotspot would earn follows from the hotspots in service around it, and from
// the places that are planned before it.
func TestEstimate(t *testing.T) {
	s := onSQLite(t, options{limits: ample, policies: policy.BuiltIn()})
	c := s.anyone(t)
	s.populate(t, 100, grid(9, 40.7, -74, 0.01)...) // eight are in service
	got := data[estimated](t, c.post(t, "/v1/rewards/estimate", `{"places":[{"lat":40.7,"lng":-74},{"lat":40.75,"lng":-74},{"lat":40.75,"lng":-74},{"lat":12,"lng":7}]}`), http.StatusOK)
	if got.Unit != "credit" || got.Days != 30 || len(got.Places) != 4 {
		t.Fatalf("%+v", got)
	}
	taken, free, second, away := got.Places[0], got.Places[1], got.Places[2], got.Places[3]
	if taken.FreeGround != 0 || taken.Most != 0 || taken.Neighbours < 5 || taken.Expected == nil {
		t.Errorf("where a hotspot stands: %+v", taken)
	}
	if free.FreeGround != 1 || free.Most != 45 || free.Lat != 40.75 || free.Lng != -74 {
		t.Errorf("where none stands: %+v", free)
	}
	if second.FreeGround != 0 || second.Most != 0 {
		t.Errorf("where one is planned: %+v", second)
	}
	if away.Neighbours != 0 || away.Expected != nil || away.Most != 45 {
		t.Errorf("without neighbours: %+v", away)
	}
	if none := data[estimated](t, c.post(t, "/v1/rewards/estimate", `{"places":[]}`), http.StatusOK); none.Places == nil || len(none.Places) != 0 {
		t.Errorf("no places: %+v", none)
	}
}

// Hotspots that wait, which anyone can register, do not hide those in service: with a hundred
// of them nearer by, taken ground would look free.
func TestEstimate_Crowd(t *testing.T) {
	s := onSQLite(t, options{limits: ample, policies: policy.BuiltIn()})
	c, staff := s.anyone(t), s.anyone(t, "hotspots:write", "hotspots:verify") // has no quota
	s.populate(t, 100, geo.Point{Lat: 40.7, Lng: -74})
	for n := range 100 {
		staff.post(t, "/v1/hotspots", registration(1+n, "location.lat", "40.70001")).want(t, http.StatusCreated)
	}
	got := data[estimated](t, c.post(t, "/v1/rewards/estimate", `{"places":[{"lat":40.70001,"lng":-74}]}`), http.StatusOK)
	if is := got.Places[0]; is.Neighbours != 1 || is.FreeGround > 0.1 {
		t.Errorf("a metre from a hotspot in service: %+v", is)
	}
}

func TestEstimate_Faults(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	for body, fields := range map[string][]string{`{}`: {"places"}, `{"places":[{},{"lat":1}]}`: {"places[0].lat", "places[0].lng", "places[1].lng"}} {
		wantFault(t, c.post(t, "/v1/rewards/estimate", body), http.StatusBadRequest, "missing_parameter", fields...)
	}
	for body, fields := range map[string][]string{
		`{"places":null}`: {"places"}, `{"places":[7]}`: {"places[0]"}, `{"places":[{"lat":91,"lng":-181}]}`: {"places[0].lat", "places[0].lng"},
		`{"places":[{"lat":1,"lng":1,"radius_m":5}],"days":3}`:            {"places[0].radius_m", "days"},
		`{"places":[` + strings.Repeat(`{"lat":1,"lng":1},`, 20) + `{}]}`: {"places"},
	} {
		wantFault(t, c.post(t, "/v1/rewards/estimate", body), http.StatusBadRequest, "invalid_request", fields...)
	}
}
