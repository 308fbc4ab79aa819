package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

type quota struct {
	UserID     string `json:"user_id"`
	Hotspots   int    `json:"hotspots"`
	Keys       int    `json:"keys"`
	Streams    int    `json:"streams"`
	Statements int    `json:"statements"`
}

// One user has at most 50 hotspots that wait for staff, with whatever key, unless staff
// allow more. Staff are not counted.
func TestQuota_Hotspots(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, other, staff, admin := s.operator(t), s.operator(t), s.anyone(t, "hotspots:write", "hotspots:verify"), s.anyone(t, "admin")
		second := s.keyOf(t, c.user, accessCreation("hotspots:write"))
		first := c.register(t, 0)
		for n := 1; n < 50; n++ {
			c.register(t, n)
		}
		for _, key := range []client{c, second} {
			wantFault(t, key.post(t, "/v1/hotspots", registration(50), "Idempotency-Key", "x"), http.StatusForbidden, "forbidden")
		}
		other.register(t, 51)
		s.verify(t, "/v1/hotspots/"+first.ID)
		c.post(t, "/v1/hotspots", registration(50), "Idempotency-Key", "x").want(t, http.StatusCreated) // what was refused is not remembered
		wantFault(t, c.post(t, "/v1/hotspots", registration(52)), http.StatusForbidden, "forbidden")

		path := "/v1/users/" + string(c.user) + "/quota"
		wantEqual(t, "the quota", data[quota](t, c.get(t, path), http.StatusOK), quota{string(c.user), 50, 100, 20, 4})
		wantFault(t, other.get(t, path), http.StatusForbidden, "forbidden")
		wantFault(t, c.do(t, "PUT", path, `{"hotspots":51}`), http.StatusForbidden, "forbidden")
		wantFault(t, admin.do(t, "PUT", path, `{"hotspots":-1,"keys":1.5,"streams":null,"more":1}`), http.StatusBadRequest, "invalid_request", "hotspots", "keys", "streams", "more")
		wantFault(t, admin.do(t, "PUT", "/v1/users/usr_nope/quota", `{}`), http.StatusNotFound, "not_found")
		wantEqual(t, "the exception", data[quota](t, admin.do(t, "PUT", path, `{"hotspots":51}`), http.StatusOK), quota{string(c.user), 51, 100, 20, 4})
		wantEqual(t, "the audit", s.notes(t, beacon.QuotaSet), []string{"51 hotspots, 100 keys, 20 streams, 4 statements"})
		c.register(t, 52)
		wantFault(t, c.post(t, "/v1/hotspots", registration(53)), http.StatusForbidden, "forbidden")
		for n := range 51 {
			staff.register(t, 100+n)
		}
	})
}

// Who registers hotspots and deletes them again before anyone has verified them leaves rows
// that are kept. A user can do so 150 times a day, unless staff allow more.
func TestQuota_Discarded(t *testing.T) {
	level.Repeats(t)
	eachStoreWith(t, options{limits: ample}, func(t *testing.T, s *server) {
		c, admin := s.operator(t), s.anyone(t, "admin")
		for range 150 {
			c.delete(t, "/v1/hotspots/"+c.register(t, 1).ID).want(t, http.StatusNoContent)
		}
		refused := c.post(t, "/v1/hotspots", registration(1))
		wantFault(t, refused, http.StatusForbidden, "forbidden")
		if !strings.Contains(refused.String(), "you deleted 150 hotspots") {
			t.Errorf("it says %s", refused)
		}
		s.anyone(t, "hotspots:write").register(t, 2)
		path := "/v1/users/" + string(c.user) + "/quota"
		admin.do(t, "PUT", path, `{"hotspots":51}`).want(t, http.StatusOK) // so that 153 may be deleted
		verified := c.register(t, 1)
		s.verify(t, "/v1/hotspots/"+verified.ID)
		for range 3 {
			c.delete(t, "/v1/hotspots/"+c.register(t, 3).ID).want(t, http.StatusNoContent)
		}
		c.delete(t, "/v1/hotspots/"+verified.ID).want(t, http.StatusNoContent) // does not count
		wantFault(t, c.post(t, "/v1/hotspots", registration(4)), http.StatusForbidden, "forbidden")
		s.advance(24 * time.Hour)
		c.register(t, 4)
	})
}

// One user has at most so many keys in force.
func TestQuota_Keys(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, admin := s.anyone(t, "keys:manage"), s.anyone(t, "admin")
		path := "/v1/users/" + string(c.user) + "/quota"
		admin.do(t, "PUT", path, `{"keys":3}`).want(t, http.StatusOK)
		made := data[apiKey](t, c.post(t, "/v1/keys", `{"scopes":[]}`), http.StatusOK)
		c.post(t, "/v1/keys", `{"scopes":[]}`).want(t, http.StatusOK)
		wantFault(t, c.post(t, "/v1/keys", `{"scopes":[]}`), http.StatusForbidden, "forbidden")
		c.delete(t, "/v1/keys/"+made.ID).want(t, http.StatusNoContent)
		c.post(t, "/v1/keys", `{"scopes":[]}`).want(t, http.StatusOK)
		admin.post(t, "/v1/keys", at(`{"scopes":[],"user_id":%q}`, c.user)).want(t, http.StatusOK) // staff may
		admin.do(t, "PUT", path, `{}`).want(t, http.StatusOK)
		c.post(t, "/v1/keys", `{"scopes":[]}`).want(t, http.StatusOK)
	})
}

// Without an exception, one user has 100 keys and 20 streams. Staff are exempt from the
// first, whatever scope makes them staff.
func TestQuota_Defaults(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.anyone(t, "keys:manage")
		for range 99 {
			c.post(t, "/v1/keys", `{"scopes":[]}`).want(t, http.StatusOK)
		}
		wantFault(t, c.post(t, "/v1/keys", `{"scopes":[]}`), http.StatusForbidden, "forbidden")
		for _, scope := range []string{"hotspots:verify", "admin"} {
			s.keyOf(t, c.user, accessCreation("keys:manage", scope)).post(t, "/v1/keys", `{"scopes":[]}`).want(t, http.StatusOK)
		}
		for range 2 {
			key := s.keyOf(t, c.user, accessCreation())
			for range 10 {
				key.listen(t, "")
			}
		}
		wantFault(t, c.get(t, "/v1/events"), http.StatusTooManyRequests, "rate_limit_exceeded")
	})
}

// A user who listens with many keys takes no more than a user's streams.
func TestQuota_Streams(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, admin := s.anyone(t), s.anyone(t, "admin")
		admin.do(t, "PUT", "/v1/users/"+string(c.user)+"/quota", `{"streams":1,"statements":0}`).want(t, http.StatusOK)
		c.listen(t, "")
		second := s.keyOf(t, c.user, accessCreation("rewards:read"))
		wantFault(t, second.get(t, "/v1/events"), http.StatusTooManyRequests, "rate_limit_exceeded")
		wantFault(t, second.get(t, "/v1/users/me/rewards/statements/2026-10"), http.StatusTooManyRequests, "rate_limit_exceeded")
	})
}

// A user's requests are counted over all of their keys.
func TestLimits_PerUser(t *testing.T) {
	eachStoreWith(t, options{limits: hourly(2, 100)}, func(t *testing.T, s *server) {
		c, other := s.anyone(t), s.anyone(t)
		for range 3 {
			key := s.keyOf(t, c.user, accessCreation())
			key.get(t, "/v1/keys/self").want(t, http.StatusOK)
			key.get(t, "/v1/keys/self").want(t, http.StatusOK)
		}
		a := c.get(t, "/v1/keys/self")
		wantFault(t, a, http.StatusTooManyRequests, "rate_limit_exceeded")
		if a.Header.Get("RateLimit-Limit") != "6" || a.Header.Get("RateLimit-Remaining") != "0" || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %v; want what the user has left", a, a.Header)
		}
		other.get(t, "/v1/keys/self").want(t, http.StatusOK)
	})
}
