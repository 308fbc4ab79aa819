package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// What heartbeats say is in the full hotspot and in nearby answers.
func TestHeartbeat_Metrics(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		m := c.install(t, 1, "settings.max_connections", "16")
		s.verify(t, m.hotspot)
		for i := range 2 {
			s.advance(time.Minute)
			m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":6,"rx_bytes":%d,"tx_bytes":1,"rssi_dbm":-70,
				"speedtest":{"down_mbps":60,"up_mbps":6,"latency_ms":20.5}}`, i, 1_500_000_000*i)).want(t, http.StatusOK)
		}
		want := map[string]any{
			"uptime_30d": 0.6667, "connections_24h": 6., "bandwidth_used_24h_gb": 1.500000001, "performance_tier": "enhanced",
			"signal_quality": "fair", "current_load": 0.375, "last_seen_at": "2026-11-15T12:02:00.000Z",
		}
		got := data[hotspot](t, c.get(t, m.hotspot), http.StatusOK)
		wantEqual(t, "the status", got.Status, "online")
		wantEqual(t, "the metrics", got.Metrics, want)
		wantEqual(t, "the list of the operator's", data[[]hotspot](t, c.get(t, "/v1/users/me/hotspots"), http.StatusOK), []hotspot{got})
		for _, query := range []string{"", "&status=online", "&status=all"} {
			near := c.nearby(t, 40.7, -74, query)
			if len(near) != 1 || near[0].Status != "online" || near[0].Load.String() != "0.375" || near[0].Tier != "enhanced" || near[0].Signal != "fair" {
				t.Errorf("nearby%s shows %+v", query, near)
			}
		}
		if near := c.nearby(t, 40.7, -74, "&status=offline"); len(near) != 0 {
			t.Errorf("an online hotspot among the offline ones: %+v", near)
		}
		s.advance(5 * time.Minute)
		near := c.nearby(t, 40.7, -74, "&status=offline")
		if len(near) != 1 || near[0].Status != "offline" || near[0].Load.String() != "0" || len(c.nearby(t, 40.7, -74, "")) != 0 {
			t.Errorf("offline: %+v", near)
		}
		got = data[hotspot](t, c.get(t, m.hotspot), http.StatusOK)
		if got.Status != "offline" || got.Metrics["current_load"] != 0. || got.Metrics["last_seen_at"] != want["last_seen_at"] || got.Metrics["signal_quality"] != "fair" {
			t.Errorf("offline: %s, %v", got.Status, got.Metrics)
		}
	})
}

// The load has four decimals, rounded half up, and is the same wherever it is
// shown: 0 until the hotspot is in service, and 1 when there are more users
// than it has room for.
func TestHeartbeat_Load(t *testing.T) {
	s := onSQLite(t, alive)
	c := s.operator(t)
	m := c.install(t, 1)
	m.beat(t, at(`{"boot_id":"b","seq":1,"clients":6,"rx_bytes":0,"tx_bytes":0}`)).want(t, http.StatusOK)
	load := func() any { return data[hotspot](t, c.get(t, m.hotspot), http.StatusOK).Metrics["current_load"] }
	wantEqual(t, "the load of a pending hotspot", load(), any(0.))
	s.verify(t, m.hotspot)
	for room, want := range map[int]float64{192: 0.0313, 64: 0.0938, 9: 0.6667, 18: 0.3333, 10_000: 0.0006, 12: 0.5, 6: 1, 5: 1, 1: 1} {
		c.patch(t, m.hotspot, at(`{"settings":{"max_connections":%d}}`, room)).want(t, http.StatusOK)
		wantEqual(t, at("the load of 6 users where there is room for %d", room), load(), any(want))
		if near := c.nearby(t, 40.7, -74, ""); len(near) != 1 || near[0].Load.String() != fmt.Sprint(want) {
			t.Errorf("room for %d: nearby shows %+v", room, near)
		}
	}
}
