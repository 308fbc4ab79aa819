package api_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// changes are the audit rows of some kinds, or all, the oldest first.
func (s *server) changes(t testing.TB, kinds ...beacon.ChangeKind) []beacon.Change {
	t.Helper()
	all, err := s.db.Changes.Audit(t.Context(), beacon.Change{}, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(c beacon.Change) bool {
		return len(kinds) > 0 && !slices.Contains(kinds, c.Kind)
	})
}

// Decision X10: every write leaves one row: who, what, to which, by which
// request, when.
func TestAudit_EveryWrite(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "keys:manage")
		spot, key := "", ""
		for _, write := range []struct {
			kind    beacon.ChangeKind
			version int64
			target  *string
			send    func() answer
		}{
			{beacon.HotspotRegistered, 1, &spot, func() answer {
				a := c.post(t, "/v1/hotspots", registration(1), "Idempotency-Key", "once")
				spot = data[hotspot](t, a, http.StatusCreated).ID
				return a
			}},
			{beacon.HotspotUpdated, 2, &spot, func() answer { return c.patch(t, "/v1/hotspots/"+spot, `{"name":"Another"}`) }},
			{beacon.HotspotUpdated, 3, &spot, func() answer {
				return c.patch(t, "/v1/hotspots/"+spot, `{"settings":{"max_connections":3}}`, "If-Match", `"v2"`)
			}},
			{beacon.HotspotDeleted, 4, &spot, func() answer { return c.delete(t, "/v1/hotspots/"+spot) }},
			{beacon.KeyCreated, 0, &key, func() answer {
				a := c.post(t, "/v1/keys", `{"scopes":[]}`)
				key = data[apiKey](t, a, http.StatusOK).ID
				return a
			}},
			{beacon.KeyRevoked, 0, &key, func() answer { return c.delete(t, "/v1/keys/"+key) }},
		} {
			s.advance(time.Second)
			before := len(s.changes(t))
			a := write.send()
			if a.StatusCode >= 300 {
				t.Fatal(a)
			}
			all := s.changes(t)
			if len(all) != before+1 {
				t.Fatalf("%s: %d audit rows; want 1", a, len(all)-before)
			}
			want := beacon.Change{
				Node: s.db.Node(), Seq: all[before].Seq, Kind: write.kind, Target: *write.target, Version: write.version,
				Actor: beacon.Actor{Key: c.key, User: c.user, Request: a.Header.Get("X-Request-Id")}, At: s.now(),
			}
			wantEqual(t, "the audit row", all[before], want)
		}
	})
}

// What is refused, or changes nothing, leaves no row.
func TestAudit_NothingElse(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, stranger, admin := s.anyone(t, "hotspots:write", "keys:manage"), s.operator(t), s.anyone(t, "admin")
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID
		body := registration(2)
		c.post(t, "/v1/hotspots", body, "Idempotency-Key", "once").want(t, http.StatusCreated)
		before := len(s.changes(t))
		for _, a := range []answer{
			c.post(t, "/v1/hotspots", body, "Idempotency-Key", "once"),
			c.post(t, "/v1/hotspots", registration(3), "Idempotency-Key", "once"),
			c.post(t, "/v1/hotspots", registration(1)),
			c.post(t, "/v1/hotspots", `{}`),
			c.patch(t, hotspot, `{}`),
			c.patch(t, hotspot, `{"name":"Hotspot 1","settings":{"max_connections":16}}`),
			c.patch(t, hotspot, `{"name":"x"}`),
			c.patch(t, hotspot, `{"name":"Another"}`, "If-Match", `"v9"`),
			stranger.patch(t, hotspot, `{"name":"Another"}`),
			stranger.delete(t, hotspot),
			c.delete(t, "/v1/hotspots/hs_01kb3gzk00e9x8q6s5t4v3w2y1"),
			c.post(t, "/v1/keys", `{"scopes":["admin"]}`),
			c.post(t, "/v1/keys", `{}`),
			c.delete(t, "/v1/keys/"+string(admin.key)),
			stranger.delete(t, "/v1/keys/"+string(stranger.key)),
			c.get(t, hotspot), c.get(t, "/v1/keys"), c.get(t, "/v1/hotspots/nearby?lat=1&lng=1"),
		} {
			if a.StatusCode == http.StatusCreated && a.Header.Get("Idempotency-Replayed") == "" {
				t.Errorf("%s; want it refused", a)
			}
		}
		if after := s.changes(t); len(after) != before {
			t.Errorf("%d audit rows too many: %v", len(after)-before, after[before:])
		}
	})
}
