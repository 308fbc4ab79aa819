package simulate

import (
	"math"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/client"
)

func TestParseAround(t *testing.T) {
	for text, want := range map[string]Around{
		"52.52,13.405":        {52.52, 13.405, usualKM},
		"-33.87, 151.21, 0.5": {-33.87, 151.21, 0.5},
		"":                    {},
		"52.52":               {},
		"52.52,13.405,5,6":    {},
		"52.52,13.405,0":      {},
		"52.52,13.405,101":    {},
		"86,0":                {},
		"0,181":               {},
		"NaN,0":               {},
		"0,0,NaN":             {},
		"berlin":              {},
	} {
		if got, err := ParseAround(text); got != want || (err != nil) != (want == Around{}) {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// Places are within their distance, also across 180° and far in the north.
func TestAround_Place(t *testing.T) {
	for _, a := range []Around{{52.52, 13.405, 3}, {-17, 179.99, 20}, {84, -100, 50}} {
		c, farthest := chanceOf(1, 1), 0.0
		for range 2000 {
			p := a.place(&c)
			if p.Lat < -90 || p.Lat > 90 || p.Lng < -180 || p.Lng > 180 {
				t.Fatalf("%+v is not on Earth", p)
			}
			away := kmPerDegree * math.Hypot(p.Lat-a.Lat, math.Remainder(p.Lng-a.Lng, 360)*math.Cos(p.Lat*math.Pi/180))
			farthest = max(farthest, away)
		}
		if farthest > a.KM*1.01 || farthest < a.KM*0.8 {
			t.Errorf("around %+v the farthest is %.2f km away", a, farthest)
		}
	}
}

func TestAround_Clock(t *testing.T) {
	for zone, a := range map[string]Around{"Etc/GMT-1": {52, 13, 1}, "Etc/GMT": {51, 0, 1}, "Etc/GMT+12": {0, -179, 1}, "America/New_York": {}} {
		got, east := a.clock()
		if _, err := time.LoadLocation(got); got != zone || err != nil {
			t.Errorf("the zone of %+v is %s, %v; want %s", a, got, err, zone)
		}
		if want := time.Duration(math.Round(a.Lng/15))*time.Hour + 5*time.Hour; a != (Around{}) && east != want {
			t.Errorf("the clock at %+v is %v ahead; want %v", a, east, want)
		}
	}
}

// Of what has the name of a simulated hotspot, only one with its number is.
func TestIsSimulated(t *testing.T) {
	own := client.Hotspot{Name: "Simulated home 12"}
	own.Device.SSID, own.Device.MACAddress = simulatedSSID, macOf(7, 11)
	if !isSimulated(&own) {
		t.Errorf("%+v is not simulated", own)
	}
	for name, change := range map[string]func(*client.Hotspot){
		"renamed":          func(h *client.Hotspot) { h.Name = "Simulated home" },
		"another number":   func(h *client.Hotspot) { h.Name = "Simulated home 13" },
		"another network":  func(h *client.Hotspot) { h.Device.SSID = "mine" },
		"a real device":    func(h *client.Hotspot) { h.Device.MACAddress = "00" + h.Device.MACAddress[2:] },
		"no number":        func(h *client.Hotspot) { h.Name = "Simulated home 0" },
		"more than a name": func(h *client.Hotspot) { h.Name = "My Simulated home 12" },
	} {
		h := own
		if change(&h); isSimulated(&h) {
			t.Errorf("%s: %+v is simulated", name, h)
		}
	}
}
