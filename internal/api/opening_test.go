package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

// connection is what an app needs to connect, as nearby and coverage show it.
type connection struct {
	SSID      string  `json:"ssid"`
	OpenNow   *bool   `json:"open_now"`
	OpenUntil *string `json:"open_until"`
	OpensAt   *string `json:"opens_at"`
}

// want checks whether it is open, and when that changes; "" is null.
func (c connection) want(t *testing.T, what, ssid string, open bool, changes string) {
	t.Helper()
	given, other := c.OpenUntil, c.OpensAt
	if !open {
		given, other = other, given
	}
	text := ""
	if given != nil {
		text = *given
	}
	if c.SSID != ssid || c.OpenNow == nil || *c.OpenNow != open || text != changes || other != nil {
		t.Errorf("%s: %+v; want %q open %t until %q", what, c, ssid, open, changes)
	}
}

// Decision D103: responses say whether a hotspot is open at their own moment.
func TestOpenNow(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		hotspot := c.install(t, 1).hotspot
		see := func(what, ssid string, open bool, changes string) {
			t.Helper()
			type feature struct {
				Properties connection `json:"properties"`
			}
			type features struct {
				Features []feature `json:"features"`
			}
			const nearby, coverage = "/v1/hotspots/nearby?lat=40.7&lng=-74&status=all", "/v1/coverage?north=40.71&south=40.69&east=-73.99&west=-74.01"
			data[[]connection](t, c.get(t, nearby), http.StatusOK)[0].want(t, what+", nearby", ssid, open, changes)
			data[struct {
				Hotspots []connection `json:"hotspots"`
			}](t, c.get(t, coverage), http.StatusOK).Hotspots[0].want(t, what+", coverage", ssid, open, changes)
			for _, path := range []string{nearby, coverage} {
				var got features
				if err := json.Unmarshal(c.get(t, path, "Accept", "application/geo+json").want(t, http.StatusOK).body, &got); err != nil {
					t.Fatal(err)
				}
				got.Features[0].Properties.want(t, what+", GeoJSON of "+path, ssid, open, changes)
			}
		}
		change := func(settings string) {
			t.Helper()
			c.patch(t, hotspot, settings).want(t, http.StatusOK)
		}
		see("without hours", "guest", true, "")
		change(`{"settings":{"operating_hours":{"timezone":"America/New_York","weekly":[{"days":["sun"],"open":"06:00","close":"08:30"},{"days":["mon"],"open":"22:00","close":"02:00"}]}}}`)
		see("on Sunday, 07:00", "guest", true, "2026-11-15T13:30:00.000Z")
		s.advance(90*time.Minute - time.Millisecond)
		see("in the last millisecond", "guest", true, "2026-11-15T13:30:00.000Z")
		s.advance(time.Millisecond)
		see("at 08:30", "guest", false, "2026-11-17T03:00:00.000Z")
		s.advance(-time.Hour)
		see("after the clock was set back", "guest", true, "2026-11-15T13:30:00.000Z")
		s.advance(40 * time.Hour)
		see("on Tuesday, 00:30", "guest", true, "2026-11-17T07:00:00.000Z")
		change(`{"device":{"ssid":"café \"2\""},"settings":{"operating_hours":{"timezone":"UTC","weekly":[]}}}`)
		see("never open", `café "2"`, false, "")
		change(`{"settings":{"operating_hours":null}}`)
		see("without hours again", `café "2"`, true, "")
	})
}

// Decision D103: a cluster of pending hotspots is pending, as they are.
func TestCoverage_PendingCluster(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		first, second := c.install(t, 1), c.install(t, 2)
		see := func(what, status string, online int) {
			t.Helper()
			for _, zoom := range []string{"", "&zoom=3"} {
				got := data[struct {
					Online   *int `json:"online_count"`
					Hotspots []struct {
						Status string `json:"status"`
					} `json:"hotspots"`
				}](t, c.get(t, "/v1/coverage?north=40.71&south=40.69&east=-73.99&west=-74.01"+zoom), http.StatusOK)
				if got.Online == nil || *got.Online != online || zoom != "" && (len(got.Hotspots) != 1 || got.Hotspots[0].Status != status) {
					t.Errorf("%s%s: %+v; want %s, %d online", what, zoom, got, status, online)
				}
			}
		}
		see("both pending", "pending", 0)
		s.verify(t, first.hotspot)
		see("one offline", "offline", 0)
		first.beat(t, `{"boot_id":"a","seq":1,"clients":1,"rx_bytes":1,"tx_bytes":1}`).want(t, http.StatusOK)
		see("one online", "online", 1)
		c.delete(t, first.hotspot+"/device").want(t, http.StatusNoContent)
		see("both pending again", "pending", 0)
		s.verify(t, second.hotspot)
		c.delete(t, first.hotspot).want(t, http.StatusNoContent)
		see("one offline, alone", "offline", 0)
	})
}

// Decision D116: one hotspot, its operator's list and nearby agree on whether it is open.
func TestGet_Opening(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		type open struct {
			Now   bool    `json:"open_now"`
			Until *string `json:"open_until"`
			At    *string `json:"opens_at"`
		}
		hours := `{"timezone":"UTC","weekly":[{"days":["sun","mon"],"open":"13:00","close":"15:00"}]}`
		body := registration(1, "settings.operating_hours", hours)
		first := c.post(t, "/v1/hotspots", body, "Idempotency-Key", "k")
		hotspot := "/v1/hotspots/" + data[hotspot](t, first, http.StatusCreated).ID
		one, three, later := "2026-11-15T13:00:00.000Z", "2026-11-15T15:00:00.000Z", "2026-11-16T13:00:00.000Z"
		for _, want := range []open{{At: &one}, {Now: true, Until: &three}, {Now: true, Until: &three}, {At: &later}} {
			wantEqual(t, "the hotspot", data[open](t, c.get(t, hotspot), http.StatusOK), want)
			wantEqual(t, "the operator's list", data[[]open](t, c.get(t, "/v1/users/me/hotspots"), http.StatusOK), []open{want})
			wantEqual(t, "nearby", data[[]open](t, c.get(t, "/v1/hotspots/nearby?lat=40.7&lng=-74&status=all"), http.StatusOK), []open{want})
			again := data[open](t, c.post(t, "/v1/hotspots", body, "Idempotency-Key", "k"), http.StatusCreated)
			wantEqual(t, "the repeated registration", again, open{At: &one})
			s.advance(time.Hour)
		}
		c.patch(t, hotspot, `{"settings":{"operating_hours":null}}`).want(t, http.StatusOK)
		wantEqual(t, "without hours", data[open](t, c.get(t, hotspot), http.StatusOK), open{Now: true})
	})
}
