package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// visitAt is a visit at so many metres to the north of where registration places hotspots.
func visitAt(metres float64, at time.Time, more string) string {
	return `{"lat":` + fmt.Sprint(40.7+metres/111_195) + `,"lng":-74,"accuracy_m":5,"method":"gps","visited_at":"` + at.Format(time.RFC3339) + `"` + more + `}`
}

// A visit of a list says when it was made. It counts unless one was recorded since, so that
// the list can be sent again at any time, and does not undo what was found later.
func TestVerify_VisitedAt(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		staff := s.anyone(t, "hotspots:verify")
		h := s.operator(t).register(t, 1)
		path := "/v1/hotspots/" + h.ID + "/verification"
		verified := func(want bool) {
			t.Helper()
			if got := data[hotspot](t, staff.get(t, "/v1/hotspots/"+h.ID), http.StatusOK); got.Location.Verified != want {
				t.Errorf("verified: %t", got.Location.Verified)
			}
		}
		began := s.now()
		for _, at := range []time.Time{began.Add(6 * time.Minute), began.Add(-31*24*time.Hour - time.Second)} {
			wantFault(t, staff.post(t, path, visitAt(0, at, "")), http.StatusBadRequest, "invalid_request", "visited_at")
		}
		wantFault(t, staff.post(t, path, visitAt(0, began, `,"note":"a\nb"`)), http.StatusBadRequest, "invalid_request", "note")
		wantFault(t, staff.post(t, path, `{"lat":40.7,"lng":-74,"accuracy_m":5,"method":"gps","visited_at":"yesterday"}`), http.StatusBadRequest, "invalid_request", "visited_at")
		verified(false)

		visit := visitAt(0, began.Add(-time.Hour), `,"note":"Ada, with a ladder"`)
		staff.post(t, path, visit).want(t, http.StatusOK)
		verified(true)
		wantEqual(t, "the audit", s.notes(t, beacon.HotspotVerified), []string{"gps, 0 m away, accuracy 5 m, visited 2026-11-15 11:00: Ada, with a ladder"})
		s.advance(40 * time.Hour) // no Idempotency-Key is remembered for so long
		for _, again := range []string{visit, visitAt(500, began.Add(-time.Minute), ""), visitAt(0, began, "")} {
			wantFault(t, staff.post(t, path, again), http.StatusConflict, "conflict", "visited_at")
		}
		verified(true)
		staff.post(t, path, visitAt(0, began.Add(time.Hour), "")).want(t, http.StatusOK)
		wantFault(t, staff.post(t, path, visitAt(500, s.now(), "")), http.StatusConflict, "conflict", "visited_at") // the last was recorded just now
		s.advance(time.Hour)
		wantFault(t, staff.post(t, path, visitAt(500, s.now(), "")), http.StatusConflict, "conflict")
		verified(false)
	})
}

// Staff find the hotspot that has an address, however that is written.
func TestList_MACAddress(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		staff, c, other := s.anyone(t, "hotspots:verify"), s.operator(t), s.operator(t)
		first, second := c.register(t, 1), c.register(t, 2, "device.mac_address", `"0200.5E10.00AA"`)
		for query, want := range map[string][]string{
			"mac_address=" + mac(1):                                        {first.ID},
			"mac_address=02:00:5e:10:00:aa":                                {second.ID},
			"mac_address=" + mac(3):                                        {},
			"mac_address=" + mac(1) + "&operator_id=" + string(c.user):     {first.ID},
			"mac_address=" + mac(1) + "&operator_id=" + string(other.user): {},
			"mac_address=" + mac(1) + "&verified=true":                     {},
		} {
			got := []string{}
			for _, h := range data[[]hotspot](t, staff.get(t, "/v1/hotspots?"+query), http.StatusOK) {
				got = append(got, h.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s finds %v; want %v", query, got, want)
			}
		}
		wantFault(t, staff.get(t, "/v1/hotspots?mac_address=02"), http.StatusBadRequest, "invalid_request", "mac_address")
	})
}
