//go:build linux

package endtoend_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// device is what a device knows about its hotspot and its beats. Every beat
// carries more than the one before, so that the traffic which a server shows
// tells which beats it has.
type device struct {
	hotspot, ssid, mac, key string

	boot  int
	seq   uint64
	bytes uint64 // of the boot, as it was last sent
	acked uint64 // of the boot, as it was last acknowledged
	past  totals // of the boots before
	shown uint64 // by a server, at some time: it must not become less

	latest fields // the last beat that was acknowledged
}

// totals are what a hotspot carried, as far as its device heard and as far as
// it knows.
type totals struct{ acked, sent uint64 }

func (d *device) totals() totals {
	return totals{d.past.acked + d.acked, d.past.sent + d.bytes}
}

// reboot begins all counters anew.
func (d *device) reboot() {
	d.past = d.totals()
	d.boot++
	d.seq, d.bytes, d.acked, d.latest = 0, 0, 0, nil
}

// next is the beat that the device sends next.
func (d *device) next() fields {
	d.seq++
	d.bytes += 1 + rand.Uint64N(1_000_000)
	return fields{
		"boot_id": fmt.Sprintf("boot-%d", d.boot), "seq": d.seq, "clients": 1 + d.seq%7,
		"rx_bytes": d.bytes / 3, "tx_bytes": d.bytes - d.bytes/3, "rssi_dbm": -60,
	}
}

// beat sends the next beat to a server.
func (d *device) beat(ctx context.Context, c *client, s *server) answer {
	body := d.next()
	a := d.send(ctx, c, s, body)
	d.hear(a, body)
	return a
}

// hear notes what was answered to the latest beat.
func (d *device) hear(a answer, body fields) {
	if a.outcome() == done {
		d.acked, d.latest = d.bytes, body
	}
}

func (d *device) send(ctx context.Context, c *client, s *server, body fields) answer {
	return c.do(ctx, http.MethodPost, s.url+"/v1/hotspots/"+d.hotspot+"/heartbeats", body, "Authorization", "Bearer "+d.key)
}

// linkDevices registers, verifies and links hotspots first..first+count-1, as an
// admin.
func linkDevices(t testing.TB, admin *client, s *server, first, count int) []*device {
	t.Helper()
	devices := make([]*device, count)
	var next atomic.Int64
	var working sync.WaitGroup
	for range 16 {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < count && !t.Failed(); i = int(next.Add(1)) - 1 {
				devices[i] = linkDevice(t, admin, s, first+i)
			}
		})
	}
	working.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return devices
}

func linkDevice(t testing.TB, admin *client, s *server, n int) *device {
	d := &device{ssid: fmt.Sprintf("net-%d", n), mac: macOf(n)}
	made := admin.ask(t, http.MethodPost, s.url+"/v1/hotspots", registration(n))
	d.hotspot, _ = made["id"].(string)
	lat, lng := placeOf(n)
	admin.ask(t, http.MethodPost, s.url+"/v1/hotspots/"+d.hotspot+"/verification",
		fields{"lat": lat, "lng": lng, "accuracy_m": 5, "method": "gps"})
	linked := admin.ask(t, http.MethodPost, s.url+"/v1/devices/link", fields{"code": admin.linkCode(t, s, d), "mac_address": d.mac})
	d.key, _ = linked["device_key"].(string)
	return d
}

func (c *client) linkCode(t testing.TB, s *server, d *device) string {
	code, _ := c.ask(t, http.MethodPost, s.url+"/v1/hotspots/"+d.hotspot+"/link-code", nil)["code"].(string)
	return code
}

// ask makes a request that must succeed.
func (c *client) ask(t testing.TB, method, url string, body any) fields {
	a := c.do(t.Context(), method, url, body)
	if a.status < 200 || a.status > 299 {
		t.Errorf("%s %s answered %d %s %v", method, url, a.status, a.code, a.err)
		return fields{}
	}
	return a.fields(t)
}

// reading is what a server shows of a hotspot that its heartbeats decide.
type reading struct {
	Status      string
	Uptime      float64
	Connections int
	Bytes       uint64
	Tier        string
}

func readingOf(h fields) reading {
	m := h["metrics"].(fields)
	return reading{
		Status: h["status"].(string), Uptime: m["uptime_30d"].(float64), Connections: int(m["connections_24h"].(float64)),
		Bytes: uint64(math.Round(m["bandwidth_used_24h_gb"].(float64) * 1e9)), Tier: m["performance_tier"].(string),
	}
}

// readings are what a server shows of all the admin's hotspots, by SSID.
func (c *client) readings(t testing.TB, s *server) map[string]reading {
	t.Helper()
	all := map[string]reading{}
	for ssid, h := range c.owned(t, s) {
		all[ssid] = readingOf(h)
	}
	return all
}

// checkTraffic compares what a server shows with what the devices know: all that
// was acknowledged is there, nothing is that was never sent, and what was shown
// once is still there.
func checkTraffic(t testing.TB, devices []*device, shown map[string]reading) {
	t.Helper()
	for _, d := range devices {
		got, there := shown[d.ssid]
		want := d.totals()
		switch {
		case !there:
			t.Errorf("%s is gone", d.ssid)
		case got.Bytes < want.acked:
			t.Errorf("%s: %d bytes were acknowledged, %d are there: %d are lost", d.ssid, want.acked, got.Bytes, want.acked-got.Bytes)
		case got.Bytes > want.sent:
			t.Errorf("%s: %d bytes were sent, %d are there", d.ssid, want.sent, got.Bytes)
		case got.Bytes < d.shown:
			t.Errorf("%s: %d bytes were shown before, %d are there now", d.ssid, d.shown, got.Bytes)
		}
		d.shown = max(d.shown, got.Bytes)
	}
}
