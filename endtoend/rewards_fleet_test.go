//go:build linux

package endtoend_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/store/storetest"
)

// operator is someone who is paid.
type operator struct {
	key
	client   *client
	hotspots []*rewarded
}

// rewarded is a hotspot whose operator looks at what it earns.
type rewarded struct {
	*device
	every  int    // minutes between two beats; 0: it never beats
	speed  fields // what its speed tests say
	frozen atomic.Pointer[dayFacts]

	stop    context.CancelFunc
	beating sync.WaitGroup
}

func newOperator(t testing.TB, db string) *operator {
	t.Helper()
	k := createKey(t, db, "hotspots:write,rewards:read")
	return &operator{key: k, client: newClient(t, k.Key)}
}

// link registers hotspot n, has staff verify it, and links its device.
func (o *operator) link(t testing.TB, staff *client, s *server, n int, settings fields) *rewarded {
	t.Helper()
	body := registration(n)
	for name, value := range settings {
		body["settings"].(fields)[name] = value
	}
	d := &device{ssid: fmt.Sprintf("net-%d", n), mac: macOf(n)}
	d.hotspot, _ = o.client.ask(t, http.MethodPost, s.url+"/v1/hotspots", body)["id"].(string)
	lat, lng := placeOf(n)
	staff.ask(t, http.MethodPost, s.url+"/v1/hotspots/"+d.hotspot+"/verification", fields{"lat": lat, "lng": lng, "accuracy_m": 5, "method": "gps"})
	code := o.client.linkCode(t, s, d)
	d.key, _ = o.client.ask(t, http.MethodPost, s.url+"/v1/devices/link", fields{"code": code, "mac_address": d.mac})["device_key"].(string)
	if t.Failed() {
		t.FailNow()
	}
	h := &rewarded{device: d, every: 1}
	o.hotspots = append(o.hotspots, h)
	return h
}

// start lets the device beat in its rhythm until halt is called.
func (h *rewarded) start(t testing.TB, c *client, s *server, rate int) {
	if h.every == 0 {
		return
	}
	ctx, stop := context.WithCancel(t.Context())
	h.stop = stop
	h.beating.Go(func() {
		rhythm := time.NewTicker(time.Duration(h.every) * time.Minute / time.Duration(rate))
		defer rhythm.Stop()
		for ctx.Err() == nil {
			body := h.next()
			if h.speed != nil {
				body["speedtest"] = h.speed
			}
			a := h.send(t.Context(), c, s, body)
			if h.hear(a, body); a.outcome() != done {
				t.Errorf("a beat of %s was answered %d %s %v", h.ssid, a.status, a.code, a.err)
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
func (h *rewarded) explain(t testing.TB, c *client, s *server, date string) (rewardExplanation, bool) {
	address := s.url + "/v1/hotspots/" + h.hotspot + "/rewards/explain"
	if date != "" {
		address += "?date=" + date
	}
	e, _, ok := fetch[rewardExplanation](t, c, address)
	if problem := e.problem(); ok && problem != "" {
		t.Errorf("explain %s on %s: %s", h.ssid, date, problem)
	}
	return e, ok
}

// freeLease is for tests that kill a server: nobody has to wait until its lease
// has expired.
func freeLease(t testing.TB, db string) {
	t.Helper()
	change(t, openSQL(t, db), `UPDATE leases SET expires_at = 0`)
}

// stores runs a test on both kinds of database at once, beside other tests.
func stores(t *testing.T, test func(t *testing.T, db string)) {
	t.Parallel() // it mostly waits
	var running sync.WaitGroup
	for _, kind := range []string{"sqlite", "postgres"} {
		running.Go(func() {
			t.Run(kind, func(t *testing.T) { test(t, newDatabase(t, kind)) })
		})
	}
	running.Wait()
}

func newDatabase(t *testing.T, kind string) string {
	if kind == "postgres" {
		return storetest.Postgres(t)
	}
	return filepath.Join(t.TempDir(), "beacon.db")
}

func isPostgres(db string) bool { return strings.HasPrefix(db, "postgres") }
