package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// beats sends a heartbeat a minute for some minutes from each device.
func (s *server) beats(t *testing.T, minutes int, from ...machine) {
	t.Helper()
	for range minutes {
		for _, m := range from {
			m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":0,"tx_bytes":0}`, s.now().Unix()/60)).want(t, http.StatusOK)
		}
		s.advance(time.Minute)
	}
}

// What an operator does with a held hotspot does not free what it earned: moved, unlinked,
// deleted and registered again it is held, and one release pays it once, however often it is
// sent.
func TestHolds_NoEscape(t *testing.T) {
	level.Repeats(t)
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, staff := s.anyone(t, "hotspots:write", "rewards:read"), s.anyone(t, "hotspots:verify")
		m := c.install(t, 1)
		s.verify(t, m.hotspot)
		s.beats(t, 10, m)
		hotspot := strings.TrimPrefix(m.hotspot, "/v1/hotspots/")
		hold := data[heldBack](t, staff.post(t, "/v1/holds", at(`{"hotspot_id":%q,"reason":"no radio","evidence":"photo 7","until":"2026-12-10T00:00:00Z"}`, hotspot)), http.StatusCreated)

		c.patch(t, m.hotspot, `{"location":{"lat":40.8,"lng":-74}}`).want(t, http.StatusOK)
		c.patch(t, m.hotspot, `{"location":{"lat":40.7,"lng":-74}}`).want(t, http.StatusOK)
		c.delete(t, m.hotspot+"/device").want(t, http.StatusNoContent)
		c.delete(t, m.hotspot).want(t, http.StatusNoContent)
		again := c.install(t, 1)
		s.verify(t, again.hotspot)

		s.time.Store(time.Date(2026, 12, 4, 0, 10, 0, 0, time.UTC).UnixMicro())
		settled := func(month string) {
			t.Helper()
			harness.Eventually(t, "the settlement", func() bool {
				s.advance(10 * time.Second)
				return c.get(t, "/v1/users/me/rewards/statements/"+month).StatusCode == http.StatusOK
			})
		}
		settled("2026-11")
		if got := c.rewards(t, "last").Summary; got.Held == 0 || got.Held != got.Total {
			t.Errorf("November is %+v; want all of it held", got)
		}
		decisions, release := "/v1/holds/"+hold.ID+"/decisions", `{"action":"release","reason":"it is on the roof"}`
		for range 3 {
			staff.post(t, decisions, release, "Idempotency-Key", "release 1").want(t, http.StatusOK)
		}
		wantFault(t, staff.post(t, decisions, release, "Idempotency-Key", "release 2"), http.StatusConflict, "conflict")
		s.time.Store(time.Date(2027, 1, 4, 0, 10, 0, 0, time.UTC).UnixMicro())
		settled("2026-12")
		staff.post(t, decisions, release, "Idempotency-Key", "release 3").want(t, http.StatusConflict)
		if got := c.rewards(t, "all").Summary; got.Settled != got.Total || got.Held != 0 || got.Voided != 0 {
			t.Errorf("after the release all rewards are %+v; want all of it paid once", got)
		}
	})
}

// Hotspots that are not in service change nothing for one that is, however many stand around
// it and send heartbeats; nor do opening hours change what minutes before earned.
func TestRewards_Bystanders(t *testing.T) {
	level.Repeats(t)
	opts := alive
	opts.policies = policy.BuiltIn() // places are paid
	eachStoreWith(t, opts, func(t *testing.T, s *server) {
		cheat, c := s.anyone(t, "hotspots:write", "rewards:read"), s.anyone(t, "hotspots:write", "rewards:read")
		var all []machine
		for n := range 5 { // older than the victim, at the same door
			all = append(all, cheat.install(t, 10+n))
		}
		staff := s.anyone(t, "hotspots:verify")
		s.verify(t, all[0].hotspot)
		staff.delete(t, all[0].hotspot+"/verification?reason=no%20radio").want(t, http.StatusNoContent)
		s.verify(t, all[1].hotspot)
		cheat.patch(t, all[1].hotspot, `{"location":{"lat":40.70001,"lng":-74}}`).want(t, http.StatusOK)
		victim := c.install(t, 1)
		s.verify(t, victim.hotspot)
		s.beats(t, 30, append(all, victim)...)
		s.advance(5 * time.Minute)
		date := s.now().Format(time.DateOnly)
		check := func(served micros) {
			t.Helper()
			e := c.explain(t, victim.hotspot, date)
			if is, want := e.Earned.Availability, served*1_000_000/1440; is != want {
				t.Errorf("%d minutes earned %d; want %d: %+v", served, is, want, e.Losses)
			}
			if got := cheat.rewards(t, "current").Summary.Total; got != 0 {
				t.Errorf("hotspots that are not in service earned %d", got)
			}
		}
		check(33)
		c.patch(t, victim.hotspot, `{"settings":{"operating_hours":{"timezone":"UTC","weekly":[{"days":["sun"],"open":"12:00","close":"12:01"}]}}}`).want(t, http.StatusOK)
		s.advance(time.Hour)
		check(33)
		s.time.Store(time.Date(2026, 11, 16, 0, 10, 0, 0, time.UTC).UnixMicro())
		harness.Eventually(t, "the day is closed", func() bool { s.advance(10 * time.Second); return !c.explain(t, victim.hotspot, date).Open })
		check(33)
	})
}
