package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Staff with a hotspot near another take neither its place nor its verification away: they
// would be paid for its ground (decision D149).
func TestVerification_ByNeighbour(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		rival, far := s.anyone(t, "hotspots:write", "hotspots:verify"), s.anyone(t, "hotspots:write", "hotspots:verify")
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		own := "/v1/hotspots/" + data[hotspot](t, rival.post(t, "/v1/hotspots", registration(2, "location.lat", "40.7020")), http.StatusCreated).ID
		far.post(t, "/v1/hotspots", registration(3, "location.lat", "40.7030")).want(t, http.StatusCreated)
		const (
			there    = `{"lat":40.7005,"lng":-74,"accuracy_m":5,"method":"gps"}`
			near     = `{"lat":40.7006,"lng":-74,"accuracy_m":5,"method":"gps"}`
			vague    = `{"lat":40.7000,"lng":-74,"accuracy_m":60,"method":"gps"}`
			another  = `{"lat":40.7000,"lng":-74,"accuracy_m":5,"method":"gps","moved":true}` // 56 m from there
			anywhere = `{"lat":48.8566,"lng":2.3522,"accuracy_m":12,"method":"gps"}`
			slow     = `{"lat":40.7005,"lng":-74,"accuracy_m":5,"method":"gps","speedtest":{"down_mbps":1,"up_mbps":1,"latency_ms":99}}`
			fast     = `{"lat":40.7005,"lng":-74,"accuracy_m":5,"method":"gps","speedtest":{"down_mbps":500,"up_mbps":500,"latency_ms":2}}`
		)
		version := func() int64 {
			h, err := s.db.Hotspots.Hotspot(t.Context(), beacon.HotspotID(spot[len("/v1/hotspots/"):]))
			if err != nil {
				t.Fatal(err)
			}
			return h.Version
		}
		refused := func() {
			t.Helper()
			was := version()
			wantFault(t, rival.post(t, spot+"/verification", another), http.StatusForbidden, "forbidden")
			wantFault(t, rival.post(t, spot+"/verification", slow), http.StatusForbidden, "forbidden")
			wantFault(t, rival.post(t, spot+"/verification", anywhere), http.StatusForbidden, "forbidden")
			wantFault(t, rival.delete(t, spot+"/verification?reason=gone"), http.StatusForbidden, "forbidden")
			if is := version(); is != was {
				t.Errorf("the hotspot has changed: version %d; want %d", is, was)
			}
		}
		rival.post(t, spot+"/verification", there).want(t, http.StatusOK) // what helps a neighbour, everyone may do
		refused()
		s.advance(24 * time.Hour)
		rival.post(t, spot+"/verification", near).want(t, http.StatusOK)
		rival.post(t, spot+"/verification", vague).want(t, http.StatusOK)
		rival.post(t, spot+"/verification", fast).want(t, http.StatusOK)
		wantEqual(t, "the refusals", s.notes(t, beacon.VerificationRefused),
			[]string{"gps, 0 m away, accuracy 5 m, said to have moved", "gps, 56 m away, accuracy 5 m, 1 Mbps down, 1 up, 99 ms", "gps, 5837684 m away, accuracy 12 m", "gone"})

		// Who deletes the own hotspot is a neighbour for 30 days.
		rival.delete(t, own).want(t, http.StatusNoContent)
		s.advance(29 * 24 * time.Hour)
		refused()
		s.advance(2 * 24 * time.Hour)
		rival.delete(t, spot+"/verification?reason=gone").want(t, http.StatusNoContent)

		for _, by := range []client{far, staff} {
			by.post(t, spot+"/verification", strings.Replace(slow, `"gps"`, `"gps","moved":true`, 1)).want(t, http.StatusOK)
			s.advance(24 * time.Hour)
			by.post(t, spot+"/verification", another).want(t, http.StatusOK)
			wantFault(t, by.post(t, spot+"/verification", anywhere), http.StatusConflict, "conflict")
		}
	})
}

// Nor do they while it is pending: it has its place until a visit finds it elsewhere, and
// one that they reject would wait for a visit in vain.
func TestVerification_ByNeighbourOfPending(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		rival := s.anyone(t, "hotspots:write", "hotspots:verify")
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		rival.post(t, "/v1/hotspots", registration(2, "location.lat", "40.7010")).want(t, http.StatusCreated)
		const (
			there   = `{"lat":40.7000,"lng":-74,"accuracy_m":5,"method":"gps"}`
			another = `{"lat":40.7006,"lng":-74,"accuracy_m":5,"method":"gps","moved":true}` // 67 m from there
			slow    = `{"lat":40.7000,"lng":-74,"accuracy_m":5,"method":"gps","speedtest":{"down_mbps":1,"up_mbps":1,"latency_ms":99}}`
			reject  = "/verification?reason=gone"
		)
		wantFault(t, rival.delete(t, spot+reject), http.StatusForbidden, "forbidden") // it was never visited
		rival.delete(t, spot+"/verification").want(t, http.StatusNoContent)           // that changes nothing

		staff.post(t, spot+"/verification", there).want(t, http.StatusOK)
		s.advance(24 * time.Hour)
		c.patch(t, spot, `{"location":{"lat":40.70001,"lng":-74}}`).want(t, http.StatusOK)
		if data[hotspot](t, c.get(t, spot), http.StatusOK).Location.Verified {
			t.Fatal("it was moved by a metre, and is verified")
		}
		wantFault(t, rival.post(t, spot+"/verification", another), http.StatusForbidden, "forbidden")
		wantFault(t, rival.post(t, spot+"/verification", slow), http.StatusForbidden, "forbidden")
		wantFault(t, rival.delete(t, spot+reject), http.StatusForbidden, "forbidden")
		rival.post(t, spot+"/verification", there).want(t, http.StatusOK)
	})
}

// Nor do they on the day on which it moves next to theirs.
func TestVerification_ByNeighbourOfNewcomer(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		rival := s.anyone(t, "hotspots:write", "hotspots:verify")
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		rival.post(t, "/v1/hotspots", registration(2, "location.lat", "40.9000")).want(t, http.StatusCreated)
		const (
			first = `{"lat":40.7000,"lng":-74,"accuracy_m":5,"method":"gps"}`
			there = `{"lat":40.9006,"lng":-74,"accuracy_m":5,"method":"gps"}`
			slow  = `{"lat":40.9006,"lng":-74,"accuracy_m":5,"method":"gps","speedtest":{"down_mbps":1,"up_mbps":1,"latency_ms":99}}`
			door  = `{"lat":40.9000,"lng":-74,"accuracy_m":5,"method":"gps","moved":true}` // 67 m from there
		)
		staff.post(t, spot+"/verification", first).want(t, http.StatusOK)
		s.advance(24 * time.Hour)
		refused := func(when string) {
			t.Helper()
			for what, got := range map[string]answer{
				"at the own door": rival.post(t, spot+"/verification", door),
				"slow":            rival.post(t, spot+"/verification", slow),
				"withdrawn":       rival.delete(t, spot+"/verification?reason=gone"),
				"held": rival.post(t, "/v1/holds", at(`{"hotspot_id":%q,"reason":"r","evidence":"e","until":%q}`, spot[len("/v1/hotspots/"):],
					s.now().Add(20*24*time.Hour).Format(time.RFC3339))),
			} {
				if got.StatusCode != http.StatusForbidden {
					t.Errorf("%s, %s: %s %s", when, what, got.Status, got.body)
				}
			}
		}
		c.patch(t, spot, `{"location":{"lat":40.9006,"lng":-74}}`).want(t, http.StatusOK)
		refused("when it is registered there")
		staff.post(t, spot+"/verification", there).want(t, http.StatusOK)
		refused("when it was visited there") // it is paid for there from tomorrow on
	})
}

// A neighbour who moves the own hotspot away is one for 30 days, as who deletes it is: else
// they would move, take what they want, and move back.
func TestVerification_ByNeighbourWhoMoved(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		rival := s.anyone(t, "hotspots:write", "hotspots:verify")
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		own := "/v1/hotspots/" + data[hotspot](t, rival.post(t, "/v1/hotspots", registration(2, "location.lat", "40.7010")), http.StatusCreated).ID
		const (
			there = `{"lat":40.7000,"lng":-74,"accuracy_m":5,"method":"gps"}`
			slow  = `{"lat":40.7000,"lng":-74,"accuracy_m":5,"method":"gps","speedtest":{"down_mbps":1,"up_mbps":1,"latency_ms":99}}`
			here  = `{"lat":40.7010,"lng":-74,"accuracy_m":5,"method":"gps"}`
			away  = `{"lat":40.9000,"lng":-74,"accuracy_m":5,"method":"gps"}`
			again = `{"lat":40.9500,"lng":-74,"accuracy_m":5,"method":"gps"}`
		)
		hold := func() answer {
			return rival.post(t, "/v1/holds", at(`{"hotspot_id":%q,"reason":"r","evidence":"e","until":%q}`, spot[len("/v1/hotspots/"):],
				s.now().Add(20*24*time.Hour).Format(time.RFC3339)))
		}
		refused := func() {
			t.Helper()
			wantFault(t, rival.post(t, spot+"/verification", slow), http.StatusForbidden, "forbidden")
			wantFault(t, rival.delete(t, spot+"/verification?reason=gone"), http.StatusForbidden, "forbidden")
			wantFault(t, hold(), http.StatusForbidden, "forbidden")
		}
		staff.post(t, spot+"/verification", there).want(t, http.StatusOK)
		staff.post(t, own+"/verification", here).want(t, http.StatusOK)
		s.advance(90 * 24 * time.Hour)
		rival.patch(t, own, `{"location":{"lat":40.9,"lng":-74}}`).want(t, http.StatusOK)
		rival.post(t, own+"/verification", away).want(t, http.StatusOK) // their own, so that it proves nothing
		refused()
		s.advance(24 * time.Hour) // the new place counts now
		refused()
		s.advance(14 * 24 * time.Hour)
		rival.patch(t, own, `{"location":{"lat":40.95,"lng":-74}}`).want(t, http.StatusOK)
		rival.post(t, own+"/verification", again).want(t, http.StatusOK) // another move hides nothing
		s.advance(14 * 24 * time.Hour)
		refused()
		s.advance(3 * 24 * time.Hour)
		rival.post(t, spot+"/verification", slow).want(t, http.StatusOK)
		hold().want(t, http.StatusCreated)
	})
}

// Nor do they measure a hotspot slow that nobody has visited: it would be paid for what its
// own speed tests say.
func TestVerification_ByNeighbourAtFirst(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, rival := s.operator(t), s.anyone(t, "hotspots:write", "hotspots:verify")
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		rival.post(t, "/v1/hotspots", registration(2, "location.lat", "40.7010")).want(t, http.StatusCreated)
		const visit = `{"lat":40.7000,"lng":-74,"accuracy_m":5,"method":"gps","speedtest":{"down_mbps":%d,"up_mbps":500,"latency_ms":2}}`
		wantFault(t, rival.post(t, spot+"/verification", at(visit, 1)), http.StatusForbidden, "forbidden")
		rival.post(t, spot+"/verification", at(visit, 500)).want(t, http.StatusOK)
	})
}

// Nor do they say that a rival's shop is a home, which hides it from the map, nor anything
// else of its type. They can visit it without a type, or with the one it has.
func TestVerification_ByNeighbourOfType(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		rival := s.anyone(t, "hotspots:write", "hotspots:verify")
		spot := "/v1/hotspots/" + data[hotspot](t, c.post(t, "/v1/hotspots", registration(1, "type", `"business"`)), http.StatusCreated).ID
		own := "/v1/hotspots/" + data[hotspot](t, rival.post(t, "/v1/hotspots", registration(2, "location.lat", "40.7010")), http.StatusCreated).ID
		const (
			plain = `{"lat":40.7000,"lng":-74,"accuracy_m":5,"method":"gps"}`
			as    = `{"lat":40.7000,"lng":-74,"accuracy_m":5,"method":"gps","type":%q}`
		)
		refused := func() {
			t.Helper()
			for _, other := range []string{"home", "public"} {
				got := rival.post(t, spot+"/verification", at(as, other))
				wantFault(t, got, http.StatusForbidden, "forbidden")
				if !strings.Contains(got.String(), "someone else must change its type: one of your hotspots is within 200 m of it") {
					t.Errorf("it says %s", got)
				}
			}
			if is := data[hotspot](t, c.get(t, spot), http.StatusOK); is.Type != "business" {
				t.Errorf("it is a %s now", is.Type)
			}
		}
		refused() // nor at the first visit
		rival.post(t, spot+"/verification", at(as, "business")).want(t, http.StatusOK)
		s.advance(24 * time.Hour)
		refused()
		rival.post(t, spot+"/verification", plain).want(t, http.StatusOK)
		rival.delete(t, own).want(t, http.StatusNoContent)
		refused()
		staff.post(t, spot+"/verification", at(as, "home")).want(t, http.StatusOK)
		wantEqual(t, "the first refusals", s.notes(t, beacon.VerificationRefused)[:2],
			[]string{"gps, 0 m away, accuracy 5 m, type home", "gps, 0 m away, accuracy 5 m, type public"})
	})
}
