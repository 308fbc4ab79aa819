package api_test

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// Where places are paid, a neighbour who shared ground with an erased user keeps what was
// earned, both statements can be verified as before, and a replay gives what the books have:
// it takes the place from there.
func TestErasure_Places(t *testing.T) {
	level.Repeats(t)
	opts := alive
	opts.policies = policy.BuiltIn()
	eachStoreWith(t, opts, func(t *testing.T, s *server) {
		scopes := []string{"hotspots:write", "rewards:read", "keys:manage"}
		c, other, admin := s.anyone(t, scopes...), s.anyone(t, scopes...), s.anyone(t, "admin")
		machines := []machine{
			c.install(t, 1, "location.lat", "40.70011"), c.install(t, 2, "location.lat", "40.71"),
			other.install(t, 3, "location.lat", "40.70038"),
		}
		s.serveTenMinutes(t, machines)
		c.post(t, "/v1/users/me/erasure", "").want(t, http.StatusOK)
		s.time.Store(time.Date(2026, 12, 5, 12, 0, 0, 0, time.UTC).UnixMicro())
		harness.Eventually(t, "a settled month", func() bool {
			s.advance(10 * time.Second)
			return c.get(t, "/v1/users/me/rewards/statements/2026-11").StatusCode == http.StatusOK
		})
		books := func() (all []string) {
			t.Helper()
			for _, user := range []beacon.UserID{c.user, other.user} {
				body := admin.get(t, "/v1/users/"+string(user)+"/rewards/statements/2026-11").want(t, http.StatusOK).body
				report, err := statement.Verify(bytes.NewReader(body), opts.policies)
				if err != nil || report.Rows == 0 {
					t.Errorf("the statement of %s: %+v, %v", user, report, err)
				}
				all = append(all, requestID.ReplaceAllString(same(string(body)), ""))
			}
			return all
		}
		replay := func() *closing.Replay {
			t.Helper()
			day := beacon.DayOf(noon)
			r, err := s.APIConfig().Closing.Replay(t.Context(), closing.ReplayQuery{From: day, To: day}, func(closing.ReplayedDay) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		before := books()
		if r := replay(); r.Differ != 0 || r.Rows != 3 {
			t.Fatalf("the replay before: %+v", r)
		}
		s.time.Store(time.Date(2027, 1, 5, 12, 0, 0, 0, time.UTC).UnixMicro())
		harness.Eventually(t, "the erasure", func() bool {
			s.advance(10 * time.Second)
			if err := s.APIConfig().Erasures.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			wish, _, err := s.db.Users.Erasure(t.Context(), c.user)
			return err == nil && !wish.Cleared.IsZero()
		})
		if r := replay(); r.Differ != 0 {
			t.Errorf("the replay while places are needed: %+v", r)
		}
		s.time.Store(time.Date(2027, 2, 5, 12, 0, 0, 0, time.UTC).UnixMicro())
		harness.Eventually(t, "all of it", func() bool {
			s.advance(10 * time.Second)
			if err := s.APIConfig().Erasures.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			wish, _, err := s.db.Users.Erasure(t.Context(), c.user)
			return err == nil && wish.Status() == beacon.ErasureIsDone
		})
		wantEqual(t, "the books", books(), before)
		if r := replay(); r.Differ != 0 || r.Rows != 3 {
			t.Errorf("the replay after: %d of %d rows differ, the first: %s", r.Differ, r.Rows, r.First)
		}
	})
}

// serveTenMinutes verifies machines, and lets each send a beat a minute.
func (s *server) serveTenMinutes(t *testing.T, machines []machine) {
	t.Helper()
	for _, m := range machines {
		s.verify(t, m.hotspot)
	}
	for i := range 10 {
		for _, m := range machines {
			m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":%d,"tx_bytes":0}`, i, 1_000_000_000*i)).want(t, http.StatusOK)
		}
		s.advance(time.Minute)
	}
}
