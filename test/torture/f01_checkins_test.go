//go:build linux

package torture_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF01_CheckIns kills a server (-9) while phones check in: what was acknowledged
// counts, at the hotspot and for where the phone was, and nothing else does.
func TestF01_CheckIns(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		staff := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
		v := &passersBy{app: harness.NewClient(t, harness.CreateKey(t, db, "checkins:write").Key)}
		s := harness.Start(t, db)
		for n := range v.devices {
			v.devices[n] = standAlone(t, db, s, staff, n)
		}
		for range rounds(2, 5, 15) {
			for _, d := range v.devices {
				if a := d.Beat(t.Context(), v.app, s); a.Outcome() != harness.Done {
					t.Fatalf("a beat was answered %d %v", a.Status, a.Err)
				}
			}
			v.reach(t, s)
			var walking sync.WaitGroup
			before := v.counted.Load()
			for range 4 {
				walking.Go(func() { v.walk(t, s) })
			}
			harness.Eventually(t, "some check in", func() bool { return v.counted.Load() > before+3 || t.Failed() })
			s.Kill()
			walking.Wait()
			s = harness.Start(t, db)
			shown := 0
			if q, ok := v.app.Ask(t, http.MethodGet, s.URL+"/v1/hotspots/"+v.devices[2].Hotspot, nil)["quality"].(map[string]any); ok {
				count, _ := q["checkins_30d"].(float64)
				shown = int(count)
			}
			least, most := int(v.counted.Load()), int(v.counted.Load()+v.unknown.Load())
			if least >= 5 && (shown < least || shown > most) {
				t.Errorf("%d check-ins are shown; %d were acknowledged, and %d may have been stored", shown, least, most)
			}
		}
	})
}

// standAlone makes a hotspot of a new operator that staff have visited, with a device.
func standAlone(t *testing.T, db string, s *harness.Server, staff *harness.Client, n int) *harness.Device {
	t.Helper()
	operator := harness.NewClient(t, harness.CreateKey(t, db, "hotspots:write").Key)
	d := &harness.Device{SSID: fmt.Sprintf("net-%d", n), MAC: harness.MACOf(n), Hotspot: operator.MustRegister(t, s, n)}
	lat, lng := harness.PlaceOf(n)
	staff.Ask(t, http.MethodPost, s.URL+"/v1/hotspots/"+d.Hotspot+"/verification", harness.Fields{"lat": lat, "lng": lng, "accuracy_m": 5, "method": "gps"})
	linked := operator.Ask(t, http.MethodPost, s.URL+"/v1/devices/link", harness.Fields{"code": operator.LinkCode(t, s, d), "mac_address": d.MAC})
	d.Key, _ = linked["device_key"].(string)
	return d
}

// passersBy are phones that go to two hotspots, and then to a third.
type passersBy struct {
	app     *harness.Client
	devices [3]*harness.Device

	phones           atomic.Int64
	counted, unknown atomic.Int64 // at the third

	mu      sync.Mutex
	waiting []string // were at two, and could not reach the third
}

// at checks a phone in at a hotspot.
func (v *passersBy) at(t *testing.T, s *harness.Server, n int, phone string) (outcome harness.Outcome, counts bool) {
	a := v.app.Do(t.Context(), http.MethodPost, s.URL+"/v1/hotspots/"+v.devices[n].Hotspot+"/checkins", harness.Fields{"install": phone, "works": true})
	if outcome = a.Outcome(); outcome == harness.Done {
		counts, _ = a.Fields(t)["counts"].(bool)
	}
	return outcome, counts
}

// walk sends phones until the server is gone.
func (v *passersBy) walk(t *testing.T, s *harness.Server) {
	for !t.Failed() {
		phone := fmt.Sprintf("phone-%016d", v.phones.Add(1))
		for n := range 2 {
			if outcome, counts := v.at(t, s, n, phone); outcome != harness.Done {
				return
			} else if counts {
				t.Errorf("%s counts at the first two", phone)
			}
		}
		if !v.third(t, s, phone) {
			return
		}
	}
}

// third checks in a phone that was at two hotspots.
func (v *passersBy) third(t *testing.T, s *harness.Server, phone string) (answered bool) {
	switch outcome, counts := v.at(t, s, 2, phone); {
	case outcome == harness.Unknown:
		v.unknown.Add(1)
		return false
	case outcome == harness.Refused:
		v.mu.Lock()
		defer v.mu.Unlock()
		v.waiting = append(v.waiting, phone)
		return false
	case !counts:
		t.Errorf("%s was at two hotspots, and does not count", phone)
	}
	v.counted.Add(1)
	return true
}

// reach lets those go to the third hotspot who could not before.
func (v *passersBy) reach(t *testing.T, s *harness.Server) {
	waiting := v.waiting
	v.waiting = nil
	for _, phone := range waiting {
		v.third(t, s, phone)
	}
}
