//go:build linux

package endtoend_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// operator is someone who is paid.
type operator struct {
	rig.Key
	client   *rig.Client
	hotspots []*rewarded
}

// rewarded is a hotspot whose operator looks at what it earns.
type rewarded struct {
	*rig.Device
	every  int        // minutes between two beats; 0: it never beats
	speed  rig.Fields // what its speed tests say
	frozen atomic.Pointer[dayFacts]

	stop    context.CancelFunc
	beating sync.WaitGroup
}

func newOperator(t testing.TB, db string) *operator {
	t.Helper()
	k := rig.CreateKey(t, db, "hotspots:write,rewards:read")
	return &operator{Key: k, client: rig.NewClient(t, k.Key)}
}

// link registers hotspot n, has staff verify it, and links its device.
func (o *operator) link(t testing.TB, staff *rig.Client, s *rig.Server, n int, settings rig.Fields) *rewarded {
	t.Helper()
	body := rig.Registration(n)
	for name, value := range settings {
		body["settings"].(rig.Fields)[name] = value
	}
	d := &rig.Device{SSID: fmt.Sprintf("net-%d", n), MAC: rig.MACOf(n)}
	d.Hotspot, _ = o.client.Ask(t, http.MethodPost, s.URL+"/v1/hotspots", body)["id"].(string)
	lat, lng := rig.PlaceOf(n)
	staff.Ask(t, http.MethodPost, s.URL+"/v1/hotspots/"+d.Hotspot+"/verification", rig.Fields{"lat": lat, "lng": lng, "accuracy_m": 5, "method": "gps"})
	code := o.client.LinkCode(t, s, d)
	d.Key, _ = o.client.Ask(t, http.MethodPost, s.URL+"/v1/devices/link", rig.Fields{"code": code, "mac_address": d.MAC})["device_key"].(string)
	if t.Failed() {
		t.FailNow()
	}
	h := &rewarded{Device: d, every: 1}
	o.hotspots = append(o.hotspots, h)
	return h
}

// start lets the device beat in its rhythm until halt is called.
func (h *rewarded) start(t testing.TB, c *rig.Client, s *rig.Server, rate int) {
	if h.every == 0 {
		return
	}
	ctx, stop := context.WithCancel(t.Context())
	h.stop = stop
	h.beating.Go(func() {
		rhythm := time.NewTicker(time.Duration(h.every) * time.Minute / time.Duration(rate))
		defer rhythm.Stop()
		for ctx.Err() == nil {
			body := h.Next()
			if h.speed != nil {
				body["speedtest"] = h.speed
			}
			a := h.Send(t.Context(), c, s, body)
			if h.Hear(a, body); a.Outcome() != rig.Done {
				t.Errorf("a beat of %s was answered %d %s %v", h.SSID, a.Status, a.Code, a.Err)
				return
			}
			select {
			case <-rhythm.C:
			case <-ctx.Done():
			}
		}
	})
}

// halt waits until no beat is under way.
func (h *rewarded) halt() {
	if h.stop != nil {
		h.stop()
	}
	h.beating.Wait()
}

// explain asks why a hotspot earned what it did on a day; today where none is
// given.
func (h *rewarded) explain(t testing.TB, c *rig.Client, s *rig.Server, date string) (rewardExplanation, bool) {
	address := s.URL + "/v1/hotspots/" + h.Hotspot + "/rewards/explain"
	if date != "" {
		address += "?date=" + date
	}
	e, _, ok := fetch[rewardExplanation](t, c, address)
	if problem := e.problem(); ok && problem != "" {
		t.Errorf("explain %s on %s: %s", h.SSID, date, problem)
	}
	return e, ok
}

// freeLease is for tests that kill a server: nobody has to wait until its lease
// has expired.
func freeLease(t testing.TB, db string) {
	t.Helper()
	change(t, rig.OpenSQL(t, db), `UPDATE leases SET expires_at = 0`)
}
