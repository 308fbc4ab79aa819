package api_test

import (
	"net/http"
	"testing"
	"time"
)

// Who is involved in a hold is not decided by what people register or delete meanwhile
// (decision D148).
func TestHolds_Involved(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		spot := data[hotspot](t, c.post(t, "/v1/hotspots", registration(1)), http.StatusCreated).ID
		s.verify(t, "/v1/hotspots/"+spot)
		rival, judge := s.anyone(t, "hotspots:write", "hotspots:verify"), s.anyone(t, "hotspots:write", "hotspots:verify")
		place := func(by client, whom string) answer {
			return by.post(t, "/v1/holds", at(`{%s,"reason":"r","evidence":"e","until":%q}`, whom, s.now().Add(20*24*time.Hour).Format(time.RFC3339)))
		}
		release := func(by client, hold answer) answer {
			id := data[heldBack](t, hold, http.StatusCreated).ID
			return by.post(t, "/v1/holds/"+id+"/decisions", `{"action":"release","reason":"r"}`)
		}

		// A neighbour who deletes the own hotspot is still one for 30 days.
		own := data[hotspot](t, rival.post(t, "/v1/hotspots", registration(2, "location.lat", "40.701")), http.StatusCreated).ID
		wantFault(t, place(rival, `"hotspot_id":"`+spot+`"`), http.StatusForbidden, "forbidden")
		rival.delete(t, "/v1/hotspots/"+own).want(t, http.StatusNoContent)
		s.advance(29 * 24 * time.Hour)
		wantFault(t, place(rival, `"hotspot_id":"`+spot+`"`), http.StatusForbidden, "forbidden")
		s.advance(2 * 24 * time.Hour)
		release(rival, place(rival, `"hotspot_id":"`+spot+`"`)).want(t, http.StatusOK)

		// Nobody makes others involved by what they register, or by a move.
		judge.post(t, "/v1/hotspots", registration(3, "location.lat", "40.9")).want(t, http.StatusCreated)
		hold := place(judge, `"operator_id":"`+string(c.user)+`"`)
		c.post(t, "/v1/hotspots", registration(4, "location.lat", "40.9")).want(t, http.StatusCreated)
		release(judge, hold).want(t, http.StatusOK)
		hold = place(rival, `"hotspot_id":"`+spot+`"`)
		c.patch(t, "/v1/hotspots/"+spot, `{"location":{"lat":40.9,"lng":-74}}`).want(t, http.StatusOK)
		release(judge, hold).want(t, http.StatusOK)
	})
}
