package simulate

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var monday = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// form is a heartbeat as the interface's document describes it.
type form struct {
	BootID    string `json:"boot_id"`
	Seq       uint64 `json:"seq"`
	Clients   int    `json:"clients"`
	RxBytes   uint64 `json:"rx_bytes"`
	TxBytes   uint64 `json:"tx_bytes"`
	RSSI      int    `json:"rssi_dbm"`
	SpeedTest *struct {
		Down    float64 `json:"down_mbps"`
		Up      float64 `json:"up_mbps"`
		Latency float64 `json:"latency_ms"`
	} `json:"speedtest"`
}

func decode(t *testing.T, b Beat) (f form) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(b.Append(nil))))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		t.Fatalf("%s: %v", b.Append(nil), err)
	}
	return f
}

// life is what a device says in so many minutes; "" is nothing.
func life(d *Device, minutes int) (said []string) {
	for m := range minutes {
		b, due := d.Beat(monday.Add(time.Duration(m) * time.Minute))
		if !due {
			said = append(said, "")
			continue
		}
		said = append(said, string(b.Append(nil)))
	}
	return said
}

func TestDevices_SameSeed(t *testing.T) {
	a, b, other := Devices(20, 7, Around{}), Devices(20, 7, Around{}), Devices(20, 8, Around{})
	for i := len(a) - 1; i >= 0; i-- { // in another order than b
		one := registrationOf(t, a[i]) + strings.Join(life(a[i], 3000), "\n")
		if same := registrationOf(t, b[i]) + strings.Join(life(b[i], 3000), "\n"); one != same {
			t.Errorf("device %d differs between two runs", i)
		}
		if registrationOf(t, a[i]) == registrationOf(t, other[i]) {
			t.Errorf("device %d is the same for another seed", i)
		}
	}
}

func registrationOf(t *testing.T, d *Device) string {
	t.Helper()
	text, err := json.Marshal(d.registration)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDevices_Registrations(t *testing.T) {
	macs, types, hours := map[string]bool{}, map[string]int{}, 0
	form := regexp.MustCompile(`^02(:[0-9a-f]{2}){5}$`)
	for _, seed := range []uint64{1, 2, math.MaxUint64} {
		for _, d := range Devices(2000, seed, Around{}) {
			r := d.registration
			if n := utf8.RuneCountInString(r.Name); n < 3 || n > 50 || len(r.Device.SSID) > 32 || r.Device.SSID == "" {
				t.Errorf("name %q, SSID %q", r.Name, r.Device.SSID)
			}
			if r.Location.Lat < 40.4 || r.Location.Lat > 41 || r.Location.Lng < -74.3 || r.Location.Lng > -73.6 {
				t.Errorf("%v is not in New York", r.Location)
			}
			if macs[r.Device.MACAddress] || !form.MatchString(r.Device.MACAddress) {
				t.Errorf("MAC address %s", r.Device.MACAddress)
			}
			macs[r.Device.MACAddress] = true
			types[string(r.Type)]++
			if r.Settings != nil {
				hours++
			}
		}
	}
	if len(macs) != 6000 || types[Home] < 2500 || types[Business] < 1200 || types[Public] < 600 || hours < 500 {
		t.Errorf("%d MAC addresses; types %v; %d with hours", len(macs), types, hours)
	}
}

// Counters only grow within a boot, numbers go up by one, and everything is
// within the bounds of the interface.
func TestDevice_Beats(t *testing.T) {
	silences, reboots, tests := 0, 0, 0
	for i, d := range Devices(50, 3, Around{}) {
		var last form
		for m, said := range life(d, 10*1440) {
			if said == "" {
				silences++
				continue
			}
			var f form
			if err := json.Unmarshal([]byte(said), &f); err != nil {
				t.Fatal(err)
			}
			switch {
			case f.BootID != last.BootID:
				if m > 0 {
					reboots++
				}
				if f.Seq != 1 {
					t.Fatalf("device %d begins a boot with %d", i, f.Seq)
				}
			case f.Seq != last.Seq+1 || f.RxBytes < last.RxBytes || f.TxBytes < last.TxBytes:
				t.Fatalf("device %d says %+v after %+v", i, f, last)
			}
			if f.Clients < 0 || f.Clients > 10_000 || f.RSSI < -120 || f.RSSI > 0 || f.BootID == "" {
				t.Fatalf("device %d says %+v", i, f)
			}
			if s := f.SpeedTest; s != nil {
				tests++
				if s.Down <= 0 || s.Up <= 0 || s.Latency <= 0 {
					t.Fatalf("device %d measured %+v", i, *s)
				}
			}
			last = f
		}
	}
	// 50 devices for ten days: two in a hundred minutes out of order at most, and
	// four tests a day.
	if silences < 1000 || silences > 50*14400/50 || reboots < 20 || tests < 1800 || tests > 2100 {
		t.Errorf("%d minutes of silence, %d reboots, %d tests", silences, reboots, tests)
	}
}

// Homes are busy in the evening, businesses at noon, public places at weekends.
func TestDevice_Rhythm(t *testing.T) {
	at := func(kind string, day, hour int) float64 {
		return rhythms[kind].at(epochOf(time.Date(2026, 6, 1+day, hour+5, 0, 0, 0, time.UTC)))
	}
	for what, more := range map[string]bool{
		"home in the evening":        at(Home, 1, 20) > 2*at(Home, 1, 11),
		"business at noon":           at(Business, 1, 12) > 5*at(Business, 1, 21),
		"public at weekends":         at(Public, 5, 14) > 1.3*at(Public, 1, 14),
		"nobody at night":            at(Public, 2, 4) < 0.1*at(Public, 2, 12),
		"business less on a weekend": at(Business, 6, 12) < at(Business, 2, 12),
	} {
		if !more {
			t.Error(what, "is not so")
		}
	}
	if early, late := rhythms[Home].at(epochOf(monday)+59*time.Minute), rhythms[Home].at(epochOf(monday)+60*time.Minute); math.Abs(early-late) > 0.02 {
		t.Errorf("on the hour the crowd jumps from %v to %v", early, late)
	}
}

func TestBeat_Append(t *testing.T) {
	b := Beat{Boot: 0xbeef, Seq: 1, Rx: 1 << 52, Tx: 2, Clients: 3, DBM: -60, Test: Uplink{100.5, 10, 12.25}}
	f := decode(t, b)
	if f.BootID != "beef" || f.Seq != 1 || f.RxBytes != 1<<52 || f.TxBytes != 2 || f.Clients != 3 || f.RSSI != -60 ||
		f.SpeedTest == nil || fmt.Sprint(*f.SpeedTest) != "{100.5 10 12.25}" {
		t.Errorf("%s", b.Append(nil))
	}
	b.Test = Uplink{}
	if decode(t, b).SpeedTest != nil {
		t.Errorf("%s", b.Append(nil))
	}
}

func TestMeter_Quantiles(t *testing.T) {
	var m Meter
	for i := range 1000 {
		m.took(time.Duration(i+1) * time.Millisecond)
	}
	before := m.Read()
	if p50, p99 := before.Quantile(0.5), before.Quantile(0.99); p50 < 500*time.Millisecond || p50 > 570*time.Millisecond ||
		p99 < 990*time.Millisecond || p99 > 1120*time.Millisecond {
		t.Errorf("p50 %v, p99 %v", p50, p99)
	}
	m.took(0)
	m.took(time.Hour)
	if since := m.Read().Since(before); since.Taken != 2 || since.Quantile(0.1) > 10*time.Microsecond || since.Quantile(0.9) < time.Hour {
		t.Errorf("since then: %d, %v, %v", since.Taken, since.Quantile(0.1), since.Quantile(0.9))
	}
}
