package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
)

// What names no hotspot is not there, and every way of not being there is the
// same.
func TestGet_Unknown(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		made := c.register(t, 1)
		gone := c.register(t, 2)
		c.delete(t, "/v1/hotspots/"+gone.ID).want(t, http.StatusNoContent)
		bodies := map[string]bool{}
		for _, text := range []string{
			"hs_01kb3gzk00e9x8q6s5t4v3w2y1", gone.ID, "hs_", "hs_1", "1", "me", "nope", "HS_" + made.ID[3:], "hs_" + strings.ToUpper(made.ID[3:]),
			made.ID + "0", made.ID[:28], "usr_" + made.ID[3:], made.ID[3:], "hs_%2e%2e%2f", "..%2f" + made.ID, made.ID + "%00", "%00", "%FF",
			made.ID + "%20", "%20" + made.ID, "hs_8" + made.ID[4:], strings.Repeat("9", 5000), "hs_" + strings.Repeat("%F0%9F%98%80", 26),
			"'%20OR%201=1--",
		} {
			a := c.get(t, "/v1/hotspots/"+text)
			wantFault(t, a, http.StatusNotFound, "not_found")
			bodies[anyID.ReplaceAllString(string(a.body), "")] = true
			wantFault(t, c.delete(t, "/v1/hotspots/"+text), http.StatusNotFound, "not_found")
			wantFault(t, c.patch(t, "/v1/hotspots/"+text, `{}`), http.StatusNotFound, "not_found")
		}
		if len(bodies) != 1 {
			t.Errorf("unknown hotspots are told apart: %v", bodies)
		}
		c.get(t, "/v1/hotspots/"+strings.Replace(made.ID, "_", "%5F", 1)).want(t, http.StatusOK) // the same path, escaped
	})
}

// A hotspot that was verified and linked says when.
func TestGet_VerifiedAndLinked(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		for n, tc := range []struct {
			verified, linked time.Time
			status           string
		}{
			{time.Time{}, time.Time{}, "pending"},
			{noon.Add(time.Minute), time.Time{}, "pending"},
			{time.Time{}, noon.Add(time.Hour), "pending"},
			{noon.Add(time.Minute), noon.Add(time.Hour), "offline"}, // no device has been heard of yet
		} {
			h := s.plant(t, c, n, geo.Point{Lat: 1, Lng: float64(n)}, tc.verified, tc.linked)
			got := data[hotspot](t, c.get(t, "/v1/hotspots/"+h), http.StatusOK)
			if got.Status != tc.status || got.Location.Verified == tc.verified.IsZero() || got.Device.Linked == tc.linked.IsZero() {
				t.Errorf("verified %v, linked %v: %+v", tc.verified, tc.linked, got)
			}
			wantEqual(t, "verified_at", got.Location.VerifiedAt, shown(tc.verified))
			wantEqual(t, "linked_at", got.Device.LinkedAt, shown(tc.linked))
		}
	})
}

func shown(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format("2006-01-02T15:04:05.000Z")
}

// plant puts a hotspot into the database past the interface, for states that
// nothing leads to yet.
func (s *server) plant(t testing.TB, c client, n int, at geo.Point, verified, linked time.Time) string {
	t.Helper()
	h := beacon.Hotspot{
		ID: beacon.HotspotID(id.New("hs_", noon)), Operator: c.user, Name: "Planted", Type: beacon.Home,
		Location: beacon.Location{Point: at, VerifiedAt: verified},
		Device:   beacon.Device{SSID: "guest", MAC: beacon.MAC(mac(n)), LinkedAt: linked},
		Settings: beacon.DefaultSettings(beacon.Home), CreatedAt: noon, UpdatedAt: noon, Version: 1,
	}
	if err := s.db.Hotspots.InsertHotspot(t.Context(), h, beacon.Actor{Request: "cli"}, nil); err != nil {
		t.Fatal(err)
	}
	s.step(t)
	return string(h.ID)
}

// Decision X4: gone from everywhere, and the MAC is free.
func TestDelete(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, stranger, reader, admin := s.operator(t), s.operator(t), s.anyone(t), s.anyone(t, "admin")
		made, kept := c.register(t, 1), c.register(t, 2)
		spot := "/v1/hotspots/" + made.ID
		wantFault(t, s.call(t, "DELETE", spot, ""), http.StatusUnauthorized, "unauthorized")
		wantFault(t, reader.delete(t, spot), http.StatusForbidden, "forbidden")
		wantFault(t, stranger.delete(t, spot), http.StatusForbidden, "forbidden")
		wantFault(t, stranger.delete(t, "/v1/hotspots/hs_01kb3gzk00e9x8q6s5t4v3w2y1"), http.StatusNotFound, "not_found")
		c.get(t, spot).want(t, http.StatusOK)

		// A client that has seen another version does not delete this one.
		c.patch(t, spot, `{"name":"Changed meanwhile"}`).want(t, http.StatusOK)
		wantFault(t, c.do(t, "DELETE", spot, "", "If-Match", `"v1"`), http.StatusConflict, "conflict")
		wantFault(t, stranger.do(t, "DELETE", spot, "", "If-Match", `"v1"`), http.StatusForbidden, "forbidden") // 403 before 409

		a := c.do(t, "DELETE", spot, "", "If-Match", `"v2"`).want(t, http.StatusNoContent)
		if len(a.body) != 0 || a.Header.Get("Content-Type") != "" {
			t.Errorf("%s with the Content-Type %q", a, a.Header.Get("Content-Type"))
		}
		for _, again := range []answer{
			c.get(t, spot), c.delete(t, spot), admin.delete(t, spot), c.patch(t, spot, `{"name":"Back again"}`), stranger.delete(t, spot),
		} {
			wantFault(t, again, http.StatusNotFound, "not_found")
		}
		near := data[[]summary](t, c.get(t, "/v1/hotspots/nearby?lat=40.7&lng=-74&status=all"), http.StatusOK)
		if len(near) != 1 || near[0].ID != kept.ID {
			t.Errorf("nearby gives %+v; want %s alone", near, kept.ID)
		}
		page := whole[[]hotspot](t, c.get(t, "/v1/users/me/hotspots"), http.StatusOK)
		if len(page.Data) != 1 || page.Data[0].ID != kept.ID || page.Pagination.Total != 1 {
			t.Errorf("the list gives %+v; want %s alone", page, kept.ID)
		}
		if again := c.register(t, 1); again.ID == made.ID {
			t.Error("the id was used again")
		}
		admin.delete(t, "/v1/hotspots/"+kept.ID).want(t, http.StatusNoContent)
	})
}

// Many who delete at once: one does, the others find nothing.
func TestDelete_Race(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID
		statuses := tally(inParallel(10, func(int) int { return c.delete(t, hotspot).StatusCode }))
		if statuses[http.StatusNoContent] != 1 || statuses[http.StatusNotFound] != 9 {
			t.Errorf("answered %v; want one 204 and 9 times 404", statuses)
		}
		if n := len(s.changes(t, beacon.HotspotDeleted)); n != 1 {
			t.Errorf("%d changes were recorded; want 1", n)
		}
	})
}
