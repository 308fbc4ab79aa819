//go:build linux

package endtoend_test

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/store/storetest"
)

// TestDevicesDrain: a server is told to stop while devices beat and others
// listen to its events. Every stream ends in order, every beat is answered, and
// what was acknowledged is stored.
func TestDevicesDrain(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testDevicesDrain(t, filepath.Join(t.TempDir(), "beacon.db")) })
	t.Run("postgres", func(t *testing.T) { testDevicesDrain(t, storetest.Postgres(t)) })
}

func testDevicesDrain(t *testing.T, db string) {
	apiKey := createKey(t, db, "admin").Key
	admin := newClient(t, apiKey)
	s := start(t, db)
	devices := linkDevices(t, admin, s, 0, 30)
	listeners := make([]*listener, 8)
	for i := range listeners {
		listeners[i] = newListener(t, apiKey)
	}
	for round := range 3 {
		var listening, beating sync.WaitGroup
		for _, l := range listeners {
			listening.Go(func() {
				if err := l.listen(t.Context(), s); err != nil {
					t.Errorf("a stream of events ended with %v", err)
				}
			})
		}
		var acked atomic.Int64
		for _, d := range devices {
			beating.Go(func() { beatUntilGone(t, admin, s, d, &acked) })
		}
		admin.patch(t.Context(), s, devices[0].hotspot, fields{"name": fmt.Sprintf("Round %d", round)})
		for _, l := range listeners {
			eventually(t, 10*time.Second, "everyone listens", func() bool { return l.count("hotspot.updated") == round+1 })
		}
		eventually(t, 10*time.Second, "load", func() bool { return acked.Load() > 300 })
		began := time.Now()
		s.stop(t, 10*time.Second)
		t.Logf("%d beats, then an exit after %v", acked.Load(), time.Since(began))
		beating.Wait()
		listening.Wait()
		s = start(t, db)
		checkTraffic(t, devices, admin.readings(t, s))
	}
	for _, l := range listeners {
		checkOrder(t, l.heard())
	}
}

// beatUntilGone beats until nobody listens any more. Until then every beat is
// answered, with 200 or 503. A connection that the server never saw may be reset
// when it closes its listener (decision D5).
func beatUntilGone(t *testing.T, c *client, s *server, d *device, acked *atomic.Int64) {
	for {
		a := d.beat(t.Context(), c, s)
		switch {
		case a.status == http.StatusOK:
			acked.Add(1)
		case a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "":
		case errors.Is(a.err, syscall.ECONNREFUSED):
			return
		case errors.Is(a.err, syscall.ECONNRESET):
		default:
			t.Errorf("a beat was answered %d %s %v", a.status, a.code, a.err)
			return
		}
	}
}
