//go:build linux

package harness

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Device is what a device knows about its hotspot and its beats. Every beat
// carries more than the one before, so that the traffic which a server shows
// tells which beats it has.
type Device struct {
	Hotspot, SSID, MAC, Key string

	Boot  int
	Seq   uint64
	Bytes uint64 // of the boot, as it was last sent
	Acked uint64 // of the boot, as it was last acknowledged
	past  totals // of the boots before
	shown uint64 // by a server, at some time: it must not become less

	Latest Fields // the last beat that was acknowledged
}

// totals are what a hotspot carried, as far as its device heard and as far as
// it knows.
type totals struct{ Acked, Sent uint64 }

// Totals returns what all boots of the device carried.
func (d *Device) Totals() totals {
	return totals{d.past.Acked + d.Acked, d.past.Sent + d.Bytes}
}

// Reboot begins all counters anew.
func (d *Device) Reboot() {
	d.past = d.Totals()
	d.Boot++
	d.Seq, d.Bytes, d.Acked, d.Latest = 0, 0, 0, nil
}

// Next returns the beat that the device sends next.
func (d *Device) Next() Fields {
	d.Seq++
	d.Bytes += 1 + (uint64(d.Boot)*1009+d.Seq)*7919%1_000_000 // any amounts, the same in each run
	return Fields{
		"boot_id": fmt.Sprintf("boot-%d", d.Boot), "seq": d.Seq, "clients": 1 + d.Seq%7,
		"rx_bytes": d.Bytes / 3, "tx_bytes": d.Bytes - d.Bytes/3, "rssi_dbm": -60,
	}
}

// Beat sends the next beat to a server.
func (d *Device) Beat(ctx context.Context, c *Client, s *Server) Answer {
	body := d.Next()
	a := d.Send(ctx, c, s, body)
	d.Hear(a, body)
	return a
}

// Hear notes what was answered to the latest beat.
func (d *Device) Hear(a Answer, body Fields) {
	if a.Outcome() == Done {
		d.Acked, d.Latest = d.Bytes, body
	}
}

// Send sends a beat as it is given.
func (d *Device) Send(ctx context.Context, c *Client, s *Server, body Fields) Answer {
	return c.Do(ctx, http.MethodPost, s.URL+"/v1/hotspots/"+d.Hotspot+"/heartbeats", body, "Authorization", "Bearer "+d.Key)
}

// LinkDevices registers, verifies and links hotspots first..first+count-1, as an
// admin.
func LinkDevices(t testing.TB, admin *Client, s *Server, first, count int) []*Device {
	t.Helper()
	devices := make([]*Device, count)
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

// RegisterDevice registers hotspot n with a body, and has staff verify it. The device is not
// linked yet.
func (c *Client) RegisterDevice(t testing.TB, staff *Client, s *Server, n int, body Fields) *Device {
	d := &Device{SSID: fmt.Sprintf("net-%d", n), MAC: MACOf(n)}
	d.Hotspot, _ = c.Ask(t, http.MethodPost, s.URL+"/v1/hotspots", body)["id"].(string)
	lat, lng := PlaceOf(n)
	staff.Ask(t, http.MethodPost, s.URL+"/v1/hotspots/"+d.Hotspot+"/verification",
		Fields{"lat": lat, "lng": lng, "accuracy_m": 5, "method": "gps"})
	return d
}

func linkDevice(t testing.TB, admin *Client, s *Server, n int) *Device {
	d := admin.RegisterDevice(t, admin, s, n, Registration(n))
	// Where it is not known whether it was linked, the code may be used up.
	for began := time.Now(); d.Key == "" && time.Since(began) < Patience; {
		code := admin.Do(t.Context(), http.MethodPost, s.URL+"/v1/hotspots/"+d.Hotspot+"/link-code", nil)
		if code.Outcome() != Done {
			continue
		}
		a := admin.Do(t.Context(), http.MethodPost, s.URL+"/v1/devices/link", Fields{"code": code.Fields(t)["code"], "mac_address": d.MAC})
		if a.Outcome() == Done {
			d.Key, _ = a.Fields(t)["device_key"].(string)
		}
	}
	if d.Key == "" {
		t.Errorf("%s cannot be linked", d.SSID)
	}
	return d
}

// LinkCode makes a code to link a device with.
func (c *Client) LinkCode(t testing.TB, s *Server, d *Device) string {
	code, _ := c.Ask(t, http.MethodPost, s.URL+"/v1/hotspots/"+d.Hotspot+"/link-code", nil)["code"].(string)
	return code
}

// Insist makes a request again while the server has too much to do: it says so, and has
// done nothing.
func Insist(request func() Answer) (a Answer) {
	for began := time.Now(); time.Since(began) < Patience; {
		if a = request(); a.Status != http.StatusServiceUnavailable || a.Code != "overloaded" {
			break
		}
	}
	return a
}

// Ask makes a request that must succeed.
func (c *Client) Ask(t testing.TB, method, url string, body any) Fields {
	a := Insist(func() Answer { return c.Do(t.Context(), method, url, body) })
	if a.Status < 200 || a.Status > 299 {
		t.Errorf("%s %s answered %d %s %v", method, url, a.Status, a.Code, a.Err)
		return Fields{}
	}
	return a.Fields(t)
}

// Reading is what a server shows of a hotspot that its heartbeats decide.
type Reading struct {
	Status      string
	Uptime      float64
	Connections int
	Bytes       uint64
	Tier        string
}

// ReadingOf takes a hotspot apart.
func ReadingOf(h Fields) Reading {
	m := h["metrics"].(Fields)
	return Reading{
		Status: h["status"].(string), Uptime: m["uptime_30d"].(float64), Connections: int(m["connections_24h"].(float64)),
		Bytes: uint64(math.Round(m["bandwidth_used_24h_gb"].(float64) * 1e9)), Tier: m["performance_tier"].(string),
	}
}

// Readings are what a server shows of all the admin's hotspots, by SSID.
func (c *Client) Readings(t testing.TB, s *Server) map[string]Reading {
	t.Helper()
	all := map[string]Reading{}
	for ssid, h := range c.Owned(t, s) {
		all[ssid] = ReadingOf(h)
	}
	return all
}

// CheckTraffic compares what a server shows with what the devices know: all that
// was acknowledged is there, nothing is that was never sent, and what was shown
// once is still there.
func CheckTraffic(t testing.TB, devices []*Device, shown map[string]Reading) {
	t.Helper()
	for _, d := range devices {
		got, there := shown[d.SSID]
		want := d.Totals()
		switch {
		case !there:
			t.Errorf("%s is gone", d.SSID)
		case got.Bytes < want.Acked:
			t.Errorf("%s: %d bytes were acknowledged, %d are there: %d are lost", d.SSID, want.Acked, got.Bytes, want.Acked-got.Bytes)
		case got.Bytes > want.Sent:
			t.Errorf("%s: %d bytes were sent, %d are there", d.SSID, want.Sent, got.Bytes)
		case got.Bytes < d.shown:
			t.Errorf("%s: %d bytes were shown before, %d are there now", d.SSID, d.shown, got.Bytes)
		}
		d.shown = max(d.shown, got.Bytes)
	}
}

// Diary is a device that remembers when it was heard.
type Diary struct {
	*Device
	Active Minute
	Chance float64 // of a beat in a minute
	Heard  []Hearing
}

// Hearing is between which minutes a beat was taken, and whether for sure.
type Hearing struct {
	From, To Minute
	Surely   bool
}

// Note remembers that a beat was taken between two minutes.
func (d *Diary) Note(from, to Minute, surely bool) {
	d.Heard = append(d.Heard, Hearing{from, to, surely})
}

// Served is in which minutes a hotspot served.
type Served struct{ Surely, Maybe map[Minute]bool }

// Served is the oracle of decision N16: a beat serves its minute and the three
// after it.
func (d *Diary) Served() Served {
	out := Served{map[Minute]bool{}, map[Minute]bool{}}
	for _, h := range d.Heard {
		for m := h.From; m <= h.To+3; m++ {
			out.Maybe[m] = true
		}
		for m := h.To; m <= h.From+3 && h.Surely; m++ {
			out.Surely[m] = true
		}
	}
	return out
}
