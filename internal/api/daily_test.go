package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// wantSpent checks a refusal of what a user did too often in a day. The clock of these tests
// begins at noon.
func wantSpent(t *testing.T, a answer, did string) {
	t.Helper()
	wantFault(t, a, http.StatusTooManyRequests, "rate_limit_exceeded")
	if !strings.Contains(a.String(), "you "+did+" today, the most allowed: go on tomorrow (UTC), or ask staff for a higher quota") || a.Header.Get("Retry-After") != "43200" {
		t.Errorf("%s, Retry-After %s; want that the user %s", a, a.Header.Get("Retry-After"), did)
	}
}

// The audit keeps every change for ever, so a user can make 2,000 a day of what can be
// repeated without end, with all keys together and on all servers, unless staff allow more.
// What ends something is never refused, and staff are not counted.
func TestDaily_Changes(t *testing.T) {
	level.Repeats(t)
	eachStoreWith(t, options{limits: ample}, func(t *testing.T, s *server) {
		c, other, admin := s.anyone(t, "hotspots:write", "keys:manage"), s.operator(t), s.anyone(t, "admin")
		second := s.keyOf(t, c.user, accessCreation("hotspots:write"))
		path, another, own := "/v1/hotspots/"+c.register(t, 1).ID, "/v1/hotspots/"+c.register(t, 2).ID, "/v1/hotspots/"+other.register(t, 3).ID
		name := func(key client, hotspot string, n int) answer {
			return key.patch(t, hotspot, fmt.Sprintf(`{"name":"Name %d"}`, n))
		}
		held := data[heldBack](t, admin.post(t, "/v1/holds", at(`{"hotspot_id":%q,"reason":"no radio","evidence":"photo 7","until":"2026-12-10T00:00:00Z"}`, strings.TrimPrefix(path, "/v1/hotspots/"))), http.StatusCreated)
		before := len(s.changes(t, beacon.HotspotUpdated))
		made := data[apiKey](t, c.post(t, "/v1/keys", `{"scopes":[]}`), http.StatusOK) // the first
		code := c.newCode(t, path)                                                     // the second
		device := c.enroller(t, 1)                                                     // the third
		for n := range 1996 {
			name([]client{c, second}[n%2], []string{path, another}[n%3/2], n).want(t, http.StatusOK)
		}
		for range 3 {
			name(c, another, 1994).want(t, http.StatusOK) // it is named so, and nothing changes
			name(other, path, 1).want(t, http.StatusForbidden)
		}
		last := `{"settings":{"max_connections":7}}`
		c.patch(t, path, last).want(t, http.StatusOK)
		for _, refused := range []answer{
			name(c, path, 9999), name(second, another, 9999), c.post(t, path+"/link-code", ""), c.post(t, "/v1/keys", `{"scopes":[]}`),
			c.post(t, path+"/restoration", ""), c.delete(t, "/v1/users/me/erasure"), device.enrol(t, 1), c.post(t, "/v1/holds/"+held.ID+"/answer", `{"text":"it is on the roof"}`),
		} {
			wantSpent(t, refused, "made 2000 changes")
		}
		if is := len(s.changes(t, beacon.HotspotUpdated)) - before; is != 1997 {
			t.Errorf("the audit has %d changes; want 1997", is)
		}
		name(other, own, 1).want(t, http.StatusOK)
		name(admin, path, 3).want(t, http.StatusOK)

		data[linked](t, s.tryLink(t, code, mac(1)), http.StatusOK) // a device has no user
		c.delete(t, path+"/device").want(t, http.StatusNoContent)
		c.delete(t, "/v1/keys/"+made.ID).want(t, http.StatusNoContent)
		c.delete(t, another).want(t, http.StatusNoContent)
		c.register(t, 4)

		admin.do(t, "PUT", "/v1/users/"+string(c.user)+"/quota", `{"hotspots":51}`).want(t, http.StatusOK) // so that 2,040 may be made
		for n := range 40 {
			name(c, path, n).want(t, http.StatusOK)
		}
		wantSpent(t, name(c, path, 9999), "made 2040 changes")
		admin.do(t, "PUT", "/v1/users/"+string(c.user)+"/quota", `{"hotspots":0}`).want(t, http.StatusOK) // that many may be registered, not changed
		s.advance(12*time.Hour - time.Millisecond)
		name(c, path, 9999).want(t, http.StatusTooManyRequests)
		s.advance(time.Millisecond)
		name(c, path, 9999).want(t, http.StatusOK)
	})
}

// A user can change 150 MAC addresses a day: each change takes the address from the owner of
// the device.
func TestDaily_MACs(t *testing.T) {
	level.Repeats(t)
	eachStoreWith(t, options{limits: ample}, func(t *testing.T, s *server) {
		c, other, staff := s.operator(t), s.operator(t), s.anyone(t, "hotspots:write", "hotspots:verify")
		change := func(key client, path string, n int) answer {
			return key.patch(t, path, at(`{"device":{"mac_address":%q}}`, mac(n)))
		}
		first, second := "/v1/hotspots/"+c.register(t, 1).ID, "/v1/hotspots/"+c.register(t, 2).ID
		others, staffs := "/v1/hotspots/"+other.register(t, 3).ID, "/v1/hotspots/"+staff.register(t, 4).ID
		for n := range 150 {
			change(c, []string{first, second}[n%2], 1000+n).want(t, http.StatusOK)
		}
		wantFault(t, change(other, others, 1149), http.StatusConflict, "conflict")
		wantSpent(t, change(c, first, 1200), "changed 150 MAC addresses")
		wantSpent(t, change(c, second, 1200), "changed 150 MAC addresses")
		if got := data[hotspot](t, c.get(t, first), http.StatusOK); got.Device.MAC != mac(1148) {
			t.Errorf("it has %s now; want %s", got.Device.MAC, mac(1148))
		}
		c.patch(t, first, at(`{"name":"Other","device":{"mac_address":%q,"ssid":"other"}}`, strings.ReplaceAll(mac(1148), ":", "-"))).want(t, http.StatusOK) // the same address
		change(other, others, 1200).want(t, http.StatusOK)
		for n := range 200 {
			change(staff, staffs, 2000+n).want(t, http.StatusOK)
		}
		s.advance(12 * time.Hour)
		change(c, first, 1201).want(t, http.StatusOK)
	})
}
