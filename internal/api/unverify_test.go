package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	visitHere  = `{"lat":40.7005,"lng":-74,"accuracy_m":5,"method":"gps"}`
	visitParis = `{"lat":48.8566,"lng":2.3522,"accuracy_m":12,"method":"gps"}`
)

// A visit that finds a verified hotspot elsewhere takes its verification away: it is
// pending, says why, and the audit has who found it.
func TestVerification_FailedRevisit(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		device := c.install(t, 1)
		staff.post(t, device.hotspot+"/verification", visitHere).want(t, http.StatusOK)
		device.beat(t, `{"boot_id":"a","seq":0,"clients":1,"rx_bytes":1,"tx_bytes":1}`).want(t, http.StatusOK)
		wantStatus(t, c, device.hotspot, "online")

		s.advance(time.Minute)
		before := len(s.changes(t))
		a := staff.post(t, device.hotspot+"/verification", visitParis)
		wantFault(t, a, http.StatusConflict, "conflict")
		if !strings.Contains(string(a.body), "pending again") {
			t.Errorf("%s; want what became of the hotspot", a)
		}
		wantStatus(t, c, device.hotspot, "pending")
		got := data[hotspot](t, c.get(t, device.hotspot), http.StatusOK)
		if got.Location.Verified || got.Location.VerifiedAt != "" || !got.Device.Linked || !strings.Contains(got.Location.UnverifiedReason, "5837684 m") {
			t.Errorf("found elsewhere: %+v", got)
		}
		left := s.changes(t)[before:]
		if len(left) != 1 || left[0].Kind != beacon.HotspotUnverified || left[0].Actor.User != staff.user || left[0].Actor.Note != "gps, 5837684 m away, accuracy 12 m" {
			t.Errorf("the visit left %+v; want one row that says what was found", left)
		}

		wantFault(t, staff.post(t, device.hotspot+"/verification", visitParis), http.StatusConflict, "conflict") // as of any pending hotspot
		s.advance(time.Minute)
		again := data[hotspot](t, staff.post(t, device.hotspot+"/verification", visitHere), http.StatusOK)
		if !again.Location.Verified || again.Location.VerifiedAt != "2026-11-15T12:02:00.000Z" || again.Location.UnverifiedReason != "" {
			t.Errorf("verified anew: %+v", again.Location)
		}
		wantStatus(t, c, device.hotspot, "online")
	})
}

// A measurement that may be as far off as what it measured proves nothing.
func TestVerification_VagueRevisit(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		staff.post(t, spot+"/verification", visitHere).want(t, http.StatusOK)
		wantFault(t, staff.post(t, spot+"/verification", `{"lat":40.7031567,"lng":-74,"accuracy_m":400,"method":"cell"}`), http.StatusConflict, "conflict")
		if got := data[hotspot](t, c.get(t, spot), http.StatusOK); !got.Location.Verified {
			t.Errorf("%+v; want it verified still", got.Location)
		}
		wantEqual(t, "the refusals", s.notes(t, beacon.VerificationRefused), []string{"cell, 352 m away, accuracy 400 m"})
	})
}

// Staff withdraw a verification, with a reason or without.
func TestVerification_Withdrawn(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		staff.post(t, spot+"/verification", visitHere).want(t, http.StatusOK)
		wantFault(t, c.delete(t, spot+"/verification"), http.StatusForbidden, "forbidden")
		wantFault(t, staff.delete(t, "/v1/hotspots/hs_nope/verification"), http.StatusNotFound, "not_found")
		wantFault(t, staff.delete(t, spot+"/verification?reason="), http.StatusBadRequest, "invalid_request", "reason")
		wantFault(t, staff.delete(t, spot+"/verification?reason="+strings.Repeat("x", 201)), http.StatusBadRequest, "invalid_request", "reason")

		staff.delete(t, spot+"/verification?reason=the%20caf%C3%A9%20has%20closed").want(t, http.StatusNoContent)
		got := data[hotspot](t, c.get(t, spot), http.StatusOK)
		if got.Location.Verified || got.Location.UnverifiedReason != "the café has closed" {
			t.Errorf("withdrawn: %+v", got.Location)
		}
		staff.delete(t, spot+"/verification").want(t, http.StatusNoContent) // there is none: nothing changes
		wantEqual(t, "the audit", s.notes(t, beacon.HotspotUnverified), []string{"the café has closed"})

		staff.post(t, spot+"/verification", visitHere).want(t, http.StatusOK)
		staff.delete(t, spot+"/verification").want(t, http.StatusNoContent)
		if got := data[hotspot](t, c.get(t, spot), http.StatusOK); got.Location.UnverifiedReason != "withdrawn by staff" {
			t.Errorf("withdrawn: %+v", got.Location)
		}
	})
}

// What staff withdrew no longer proves the place: a visit that is not exact verifies the
// hotspot, as a new one, and its pay is that of a place that nothing proves.
func TestVerification_WithdrawnProof(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		proven := func(want bool) {
			t.Helper()
			got := data[hotspot](t, c.get(t, spot), http.StatusOK).Location
			if !got.Verified || (got.ProvenUntil != "") != want {
				t.Errorf("%+v; want it verified, and proven: %t", got, want)
			}
		}
		const exact = `{"lat":40.7001,"lng":-74,"accuracy_m":5,"method":"gps"}` // 11 m from where it is registered
		staff.post(t, spot+"/verification", exact).want(t, http.StatusOK)
		proven(true)
		s.advance(time.Minute)
		wantFault(t, staff.post(t, spot+"/verification", visitParis), http.StatusConflict, "conflict")
		s.advance(time.Minute)
		staff.post(t, spot+"/verification", `{"lat":40.7005,"lng":-74,"accuracy_m":60,"method":"cell"}`).want(t, http.StatusOK)
		proven(false)
		staff.post(t, spot+"/verification", exact).want(t, http.StatusOK)
		proven(true)
	})
}

// Staff say why they do not verify a place: its operator reads it, and moves the hotspot.
func TestVerification_Rejected(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		reason := func(want, rejected string) {
			t.Helper()
			if got := data[hotspot](t, c.get(t, spot), http.StatusOK); got.Location.Verified || got.Location.UnverifiedReason != want || got.Status != "pending" {
				t.Errorf("%+v; want it pending, because %q", got, want)
			}
			if page := data[[]hotspot](t, staff.get(t, "/v1/hotspots?rejected="+rejected), http.StatusOK); len(page) != 1 {
				t.Errorf("%d hotspots with rejected=%s; want one", len(page), rejected)
			}
		}
		staff.delete(t, spot+"/verification").want(t, http.StatusNoContent) // without a reason, it says nothing
		reason("", "false")
		for range 2 { // the second time, nothing changes
			staff.delete(t, spot+"/verification?reason=no%20radio%20was%20found").want(t, http.StatusNoContent)
		}
		reason("no radio was found", "true")
		staff.delete(t, spot+"/verification").want(t, http.StatusNoContent)
		reason("no radio was found", "true")
		wantEqual(t, "the audit", s.notes(t, beacon.HotspotUnverified), []string{"no radio was found"})

		c.patch(t, spot, `{"location":{"lat":40.7105,"lng":-74}}`).want(t, http.StatusOK)
		reason("its operator has moved it", "false")
		staff.delete(t, spot+"/verification?reason=nor%20here").want(t, http.StatusNoContent)
		reason("nor here", "true")
		staff.post(t, spot+"/verification", `{"lat":40.7105,"lng":-74,"accuracy_m":5,"method":"gps"}`).want(t, http.StatusOK)
		if got := data[hotspot](t, c.get(t, spot), http.StatusOK); !got.Location.Verified || got.Location.UnverifiedReason != "" {
			t.Errorf("verified after all: %+v", got.Location)
		}
	})
}

// wantStatus compares a hotspot's status, as its operator and as lists see it.
func wantStatus(t testing.TB, c client, spot, want string) {
	t.Helper()
	got := data[hotspot](t, c.get(t, spot), http.StatusOK)
	if got.Status != want {
		t.Errorf("%s is %s; want %s", spot, got.Status, want)
	}
	path := at("/v1/hotspots/nearby?lat=%v&lng=%v&radius=1&status=all", got.Location.Lat, got.Location.Lng)
	for _, near := range data[[]hotspot](t, c.get(t, path), http.StatusOK) {
		if near.ID == got.ID && near.Status != want {
			t.Errorf("nearby, %s is %s; want %s", spot, near.Status, want)
		}
	}
}

// Its operator and staff read until when the place is proven: a year after the last visit of
// someone else that measured it. Strangers do not.
func TestHotspot_ProvenUntil(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff, stranger := s.operator(t), s.anyone(t, "hotspots:verify"), s.anyone(t)
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		until := func(who string, reader client, want string) {
			t.Helper()
			wantEqual(t, who, data[hotspot](t, reader.get(t, spot), http.StatusOK).Location.ProvenUntil, want)
		}
		visit := func(accuracy int) {
			t.Helper()
			here := data[hotspot](t, c.get(t, spot), http.StatusOK).Location
			staff.post(t, spot+"/verification", fmt.Sprintf(`{"lat":%v,"lng":%v,"accuracy_m":%d,"method":"gps"}`, here.Lat, here.Lng, accuracy)).want(t, http.StatusOK)
		}
		until("before a visit", c, "")
		visit(60)
		until("after a visit that measured nothing", c, "")
		visit(5)
		until("its operator", c, "2027-11-15T12:00:00.000Z")
		until("staff", staff, "2027-11-15T12:00:00.000Z")
		until("a stranger", stranger, "")
		wantEqual(t, "in the list of its operator", data[[]hotspot](t, c.get(t, "/v1/users/me/hotspots"), http.StatusOK)[0].Location.ProvenUntil, "2027-11-15T12:00:00.000Z")
		s.advance(48 * time.Hour)
		visit(5)
		until("after another visit", c, "2027-11-17T12:00:00.000Z")
		staff.delete(t, spot+"/verification").want(t, http.StatusNoContent)
		until("not verified", c, "")
	})
}
