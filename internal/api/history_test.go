package api_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

type history struct {
	HotspotID string         `json:"hotspot_id"`
	From      string         `json:"from"`
	To        string         `json:"to"`
	Step      string         `json:"step"`
	Points    []historyPoint `json:"points"`
}

type historyPoint struct {
	At      string   `json:"at"`
	Uptime  *float64 `json:"uptime"`
	Clients int      `json:"clients"`
	Traffic float64  `json:"traffic_gb"`
	Tier    string   `json:"performance_tier"`
}

func TestHistory(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, reader := s.operator(t), s.anyone(t, "hotspots:verify")
		m := c.install(t, 1)
		s.verify(t, m.hotspot)
		for i := range 10 { // from 12:00 to 12:09
			m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":%d,"rx_bytes":%d,"tx_bytes":0}`, i, i%7, 100_000_000*i)).want(t, http.StatusOK)
			s.advance(time.Minute)
		}
		got := data[history](t, reader.get(t, m.hotspot+"/history?from=2026-11-15T11:00:00Z"), http.StatusOK)
		if got.From != "2026-11-15T11:00:00.000Z" || got.To != "2026-11-15T13:00:00.000Z" || got.Step != "1h" || len(got.Points) != 2 || "/v1/hotspots/"+got.HotspotID != m.hotspot {
			t.Fatalf("the history is %+v", got)
		}
		before, now := got.Points[0], got.Points[1]
		if before.At != "2026-11-15T11:00:00.000Z" || before.Uptime != nil || before.Clients != 0 || before.Traffic != 0 {
			t.Errorf("before it was in service: %+v", before)
		}
		if now.At != "2026-11-15T12:00:00.000Z" || now.Uptime == nil || *now.Uptime != 1 || now.Clients != 6 || now.Traffic != 0.9 || now.Tier != "standard" {
			t.Errorf("in service: %+v", now)
		}
		if day := data[history](t, reader.get(t, m.hotspot+"/history?step=1d"), http.StatusOK); len(day.Points) != 2 || day.From != "2026-11-14T00:00:00.000Z" || day.Points[1].Clients != 6 {
			t.Errorf("by day: %+v", day)
		}
	})
}

// Steps are whole and aligned; what is asked may be up to 1000 of them.
func TestHistory_Parameters(t *testing.T) {
	level.Repeats(t)
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID + "/history"
		s.advance(30 * time.Minute) // 12:30
		for query, want := range map[string]struct {
			from, to string
			points   int
		}{
			"":                            {"2026-11-14T12:00", "2026-11-15T13:00", 25},
			"step=6h":                     {"2026-11-14T12:00", "2026-11-15T18:00", 5},
			"step=1d":                     {"2026-11-14T00:00", "2026-11-16T00:00", 2},
			"from=2026-11-15T12:29:59.5Z": {"2026-11-15T12:00", "2026-11-15T13:00", 1},
			"from=2026-11-15T10:00:00Z&to=2026-11-15T11:00:00Z":               {"2026-11-15T10:00", "2026-11-15T11:00", 1},
			"from=2026-11-15T10:59:59Z&to=2026-11-15T11:00:01Z":               {"2026-11-15T10:00", "2026-11-15T12:00", 2},
			"to=2026-11-01T00:00:00Z":                                         {"2026-10-31T00:00", "2026-11-01T00:00", 24},
			"from=2026-11-15T10:00:00Z&to=2099-01-01T00:00:00Z":               {"2026-11-15T10:00", "2026-11-15T13:00", 3},
			"from=2025-10-11T12:30:00Z&step=1d":                               {"2025-10-11T00:00", "2026-11-16T00:00", 401},
			"from=2026-11-15T05:00:00%2B05:30&to=2026-11-15T06:30:00%2B05:30": {"2026-11-14T23:00", "2026-11-15T01:00", 2},
			"from=2026-10-04T21:00:00Z":                                       {"2026-10-04T21:00", "2026-11-15T13:00", 1000},
		} {
			got := data[history](t, c.get(t, hotspot+"?"+query), http.StatusOK)
			if got.From != want.from+":00.000Z" || got.To != want.to+":00.000Z" || len(got.Points) != want.points {
				t.Errorf("%s: %d points from %s to %s; want %+v", query, len(got.Points), got.From, got.To, want)
			}
			for i, p := range got.Points {
				if i > 0 && p.At <= got.Points[i-1].At || p.Uptime != nil || p.Clients != 0 || p.Tier != "standard" {
					t.Fatalf("%s: point %d of a hotspot that was never in service is %+v", query, i, p)
				}
			}
		}
		for query, fields := range map[string][]string{
			"from=2026-11-15T12:30:00Z":                         {"from"},
			"from=2030-01-01T00:00:00Z":                         {"from"},
			"from=2026-11-15T11:00:00Z&to=2026-11-15T11:00:00Z": {"from"},
			"from=2026-11-15T11:00:00Z&to=2026-11-15T10:00:00Z": {"from"},
			"from=2025-10-11T12:29:59Z&step=1d":                 {"from"},
			"to=2025-10-12T00:00:00Z&step=1d":                   {"from"},
			"from=2026-10-04T20:59:59Z":                         {"step"},
			"from=2025-12-01T00:00:00Z&step=6h":                 {"step"},
			"step=2h":                                           {"step"},
			"step=1H":                                           {"step"},
			"step=":                                             {"step"},
			"step=1h&step=1h":                                   {"step"},
			"from=yesterday&to=&step=0":                         {"from", "to", "step"},
			"from=2026-11-15":                                   {"from"},
			"from=2026-11-15T10:00:00":                          {"from"},
			"from=2026-02-30T10:00:00Z":                         {"from"},
			"to=" + url.QueryEscape("2026-11-15T10:00:00Z\x00"): {"to"},
		} {
			wantFault(t, c.get(t, hotspot+"?"+query), http.StatusBadRequest, "invalid_request", fields...)
		}
		wantFault(t, c.get(t, "/v1/hotspots/hs_nope/history?step=2h"), http.StatusBadRequest, "invalid_request", "step") // 400 before 404
		for _, id := range []string{"hs_nope", "hs_01kb3gzk00e9x8q6s5t4v3w2y1", "%00", "me"} {
			wantFault(t, c.get(t, "/v1/hotspots/"+id+"/history"), http.StatusNotFound, "not_found")
		}
		wantFault(t, s.call(t, "GET", hotspot, ""), http.StatusUnauthorized, "unauthorized")
	})
}
