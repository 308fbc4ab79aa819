//go:build linux

package endtoend_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
)

// TestReplace: a device breaks in the evening. Its operator enters the MAC address of
// another one and links it, and loses the response once. The hotspot stays the same:
// its history, and what it earns, are those of both devices, and the time between
// costs nothing.
func TestReplace(t *testing.T) { harness.Stores(t, testReplace) }

func testReplace(t *testing.T, db string) {
	const day, perMinute = "2026-10-30", 100_000_000
	evening := time.Date(2026, 10, 30, 23, 0, 30, 0, time.UTC)
	operator := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	clock := harness.NewHeldClock(t, evening)
	server := clock.Start(t, db)
	broken := harness.LinkDevices(t, operator, server, 1, 1)[0]
	url := server.URL + "/v1/hotspots/" + broken.Hotspot
	beat := func(d *harness.Device, boot string, n int) harness.Answer {
		return d.Send(t.Context(), operator, server, harness.Fields{
			"boot_id": boot, "seq": n, "clients": 3, "rx_bytes": n * perMinute / 4, "tx_bytes": n * perMinute * 3 / 4,
		})
	}
	// pass lets a device beat for some minutes.
	pass := func(d *harness.Device, boot string, minutes int) {
		t.Helper()
		for n := range minutes {
			if a := beat(d, boot, n+1); a.Status != http.StatusOK {
				t.Fatalf("beat %d of %s was answered %d %s %v", n, boot, a.Status, a.Code, a.Err)
			}
			clock.Pass(time.Minute)
		}
	}
	pass(broken, "first", 20)

	if a := operator.Patch(t.Context(), server, broken.Hotspot, harness.Fields{"device": harness.Fields{"mac_address": harness.MACOf(2)}}); a.Outcome() != harness.Done {
		t.Fatalf("the new address was answered %d %s %v", a.Status, a.Code, a.Err)
	}
	if a := beat(broken, "first", 21); a.Status != http.StatusUnauthorized {
		t.Errorf("a beat of the broken device was answered %d", a.Status)
	}
	got := operator.Ask(t, http.MethodGet, url, nil)
	if got["status"] != "pending" || got["location"].(harness.Fields)["verified"] != true || got["device"].(harness.Fields)["linked"] != false {
		t.Errorf("without a device: %v", got)
	}
	stranger := harness.NewClient(t, harness.CreateKey(t, db, "hotspots:write").Key)
	if a := stranger.Register(t.Context(), server, 1); a.Status != http.StatusConflict {
		t.Errorf("the address of the broken device was given to another user: %d", a.Status)
	}
	clock.Pass(10 * time.Minute)

	// The link is made, and its response lost: the same request gets it again.
	link := harness.Fields{"code": operator.LinkCode(t, server, broken), "mac_address": harness.MACOf(2)}
	var keys []any
	for range 2 {
		a := operator.Do(t.Context(), http.MethodPost, server.URL+"/v1/devices/link", link, "Idempotency-Key", "0b7e9f64-6d1c-4f0a-9a35-58f1f6f0a0c2")
		if a.Status != http.StatusOK {
			t.Fatalf("the link was answered %d %s %v", a.Status, a.Code, a.Err)
		}
		keys = append(keys, a.Fields(t)["device_key"])
	}
	if keys[0] != keys[1] {
		t.Error("a repeated link gave another key")
	}
	spare := &harness.Device{Hotspot: broken.Hotspot, MAC: harness.MACOf(2), Key: keys[1].(string)}
	pass(spare, "second", 30) // until midnight
	const minutes, bytes = 20 + 30, (20 + 30) * perMinute

	got = operator.Ask(t, http.MethodGet, url, nil)
	if r := harness.ReadingOf(got); got["id"] != broken.Hotspot || r.Status != "online" || r.Uptime != 1 || r.Bytes != bytes {
		t.Errorf("after midnight: %+v; want all of both devices", got)
	}
	var traffic, uptime float64
	series := operator.Ask(t, http.MethodGet, url+"/history?from=2026-10-30T23:00:00Z&to=2026-10-31T00:00:00Z&step=1h", nil)
	for _, point := range series["points"].([]any) {
		p := point.(harness.Fields)
		traffic += p["traffic_gb"].(float64)
		uptime, _ = p["uptime"].(float64)
	}
	if fmt.Sprintf("%.6f", traffic) != fmt.Sprintf("%.6f", bytes/1e9) || uptime != 1 {
		t.Errorf("the history is %v", series)
	}

	audit.AwaitClosed(t, db, day, server, func() {
		for range 5 {
			beat(spare, "second", 30)
			clock.Pass(time.Minute)
		}
	})
	explained := operator.Ask(t, http.MethodGet, url+"/rewards/explain?date="+day, nil)
	facts, earned := explained["facts"].(harness.Fields), explained["earned"].(harness.Fields)
	// All that was expected was served; 0.02 for each of 5 GB.
	if facts["served_minutes"] != facts["expected_minutes"] || facts["served_minutes"].(float64) < minutes || facts["traffic_bytes"].(float64) != bytes ||
		earned["availability"].(float64) != 1 || earned["utilization"].(float64) != 0.1 || earned["total"].(float64) != 1.1 {
		t.Errorf("the day is explained as %v", explained)
	}
	summary := operator.Ask(t, http.MethodGet, server.URL+"/v1/users/me/rewards", nil)
	if hotspots := summary["hotspots"].([]any); len(hotspots) != 1 || hotspots[0].(harness.Fields)["hotspot_id"] != broken.Hotspot {
		t.Errorf("the rewards are of %v", hotspots)
	}
	server.Stop(t)
}
