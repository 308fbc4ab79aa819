package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

type deleted struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	DeletedAt       string `json:"deleted_at"`
	RestorableUntil string `json:"restorable_until"`
}

const (
	restoration = "/restoration"
	deletedPath = "/v1/users/me/hotspots/deleted"
)

// A hotspot that was deleted by mistake comes back as it was, with its device; while it is
// deleted, nothing knows it.
func TestRestore(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, other := s.operator(t), s.operator(t)
		m := c.install(t, 1)
		spot := m.hotspot
		s.verify(t, spot)
		m.beat(t, beat(1)).want(t, http.StatusOK)
		want := data[hotspot](t, c.get(t, spot), http.StatusOK)
		l := c.listen(t, "")
		defer l.close()
		s.advance(time.Minute)
		c.delete(t, spot).want(t, http.StatusNoContent)
		told := func(kind string) {
			t.Helper()
			for e := l.next(); e.Type != kind || e.Hotspot != want.ID; e = l.next() { // of what was before, too
			}
		}
		told("hotspot.deleted")
		wantEqual(t, "what can be brought back", data[[]deleted](t, c.get(t, deletedPath), http.StatusOK), []deleted{
			{want.ID, want.Name, "2026-11-15T12:01:00.000Z", "2026-11-16T12:01:00.000Z"},
		})
		wantEqual(t, "by someone else", data[[]deleted](t, other.get(t, deletedPath), http.StatusOK), []deleted{})
		other.get(t, strings.Replace(deletedPath, "me", string(c.user), 1)).want(t, http.StatusForbidden)
		wantFault(t, m.beat(t, beat(2)), http.StatusUnauthorized, "unauthorized")
		wantFault(t, other.post(t, spot+restoration, ""), http.StatusNotFound, "not_found")

		s.advance(24*time.Hour - time.Minute)
		first := c.post(t, spot+restoration, "", "Idempotency-Key", "undo")
		got := data[changed](t, first, http.StatusOK)
		if tag := c.get(t, spot).Header.Get("ETag"); first.Header.Get("ETag") != tag || got.ID != want.ID || got.UpdatedAt != "2026-11-16T12:00:00.000Z" {
			t.Errorf("%s; the entity tag is %s", first, tag)
		}
		told("hotspot.restored")
		back := data[hotspot](t, c.get(t, spot), http.StatusOK)
		if back.Device.LinkedAt != got.UpdatedAt || back.Status != "offline" {
			t.Errorf("it is back as %+v", back)
		}
		want.UpdatedAt, want.Device.LinkedAt, want.Status, want.Metrics = back.UpdatedAt, back.Device.LinkedAt, back.Status, back.Metrics
		wantEqual(t, "the hotspot", back, want)
		wantEqual(t, "what can be brought back", data[[]deleted](t, c.get(t, deletedPath), http.StatusOK), []deleted{})
		m.beat(t, beat(3)).want(t, http.StatusOK)

		again := c.post(t, spot+restoration, "", "Idempotency-Key", "undo")
		if again.Header.Get("Idempotency-Replayed") != "true" || data[changed](t, again, http.StatusOK).UpdatedAt != got.UpdatedAt {
			t.Errorf("repeated: %s", again)
		}
		wantEqual(t, "what is not deleted", data[changed](t, c.post(t, spot+restoration, ""), http.StatusOK).UpdatedAt, got.UpdatedAt)
		wantFault(t, other.post(t, spot+restoration, ""), http.StatusForbidden, "forbidden")
		if n := len(s.changes(t, beacon.HotspotRestored)); n != 1 {
			t.Errorf("the audit has %d restorations", n)
		}
	})
}

// What was deleted long ago, by staff, or with its user, does not come back; nor what would
// exceed a quota, or take what belongs to others by now.
func TestRestore_Refused(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, other, admin := s.operator(t), s.operator(t), s.anyone(t, "admin")
		gone := func(n int, by client) string {
			t.Helper()
			spot := "/v1/hotspots/" + c.register(t, n).ID
			by.delete(t, spot).want(t, http.StatusNoContent)
			return spot
		}
		wantFault(t, c.post(t, "/v1/hotspots/hs_1"+restoration, ""), http.StatusNotFound, "not_found")
		wantFault(t, c.post(t, "/v1/hotspots/hs_01kb3gzk00e9x8q6s5t4v3w2y1"+restoration, ""), http.StatusNotFound, "not_found")

		byStaff := gone(1, admin)
		wantFault(t, c.post(t, byStaff+restoration, ""), http.StatusConflict, "conflict")
		wantFault(t, admin.post(t, byStaff+restoration, ""), http.StatusConflict, "conflict")

		taken := gone(2, c)
		other.register(t, 2)
		wantFault(t, c.post(t, taken+restoration, ""), http.StatusConflict, "conflict")

		waits := gone(3, c)
		c.register(t, 4)
		admin.do(t, "PUT", "/v1/users/"+string(c.user)+"/quota", `{"hotspots":1}`).want(t, http.StatusOK)
		wantFault(t, c.post(t, waits+restoration, ""), http.StatusForbidden, "forbidden")
		admin.post(t, waits+restoration, "").want(t, http.StatusOK) // staff may
		c.delete(t, waits).want(t, http.StatusNoContent)

		s.advance(beacon.RestoreTime + time.Millisecond)
		wantFault(t, admin.post(t, waits+restoration, ""), http.StatusConflict, "conflict")
		wantEqual(t, "what can be brought back", data[[]deleted](t, c.get(t, deletedPath), http.StatusOK), []deleted{})
	})
}
