//go:build linux

package torture_test

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

	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/store/storetest"
)

// TestF24_DevicesDrain: a server is told to stop while devices beat and others
// listen to its events. Every stream ends in order, every beat is answered, and
// what was acknowledged is stored.
func TestF24_DevicesDrain(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testDevicesDrain(t, filepath.Join(t.TempDir(), "beacon.db")) })
	t.Run("postgres", func(t *testing.T) { testDevicesDrain(t, storetest.Postgres(t)) })
}

func testDevicesDrain(t *testing.T, db string) {
	apiKey := rig.CreateKey(t, db, "admin").Key
	admin := rig.NewClient(t, apiKey)
	s := rig.Start(t, db)
	devices := rig.LinkDevices(t, admin, s, 0, 30)
	listeners := make([]*rig.Listener, 8)
	for i := range listeners {
		listeners[i] = rig.NewListener(t, apiKey)
	}
	for round := range rounds(3, 3, 10) {
		var listening, beating sync.WaitGroup
		for _, l := range listeners {
			listening.Go(func() {
				if err := l.Listen(t.Context(), s); err != nil {
					t.Errorf("a stream of events ended with %v", err)
				}
			})
		}
		var acked atomic.Int64
		for _, d := range devices {
			beating.Go(func() { beatUntilGone(t, admin, s, d, &acked) })
		}
		admin.Patch(t.Context(), s, devices[0].Hotspot, rig.Fields{"name": fmt.Sprintf("Round %d", round)})
		for _, l := range listeners {
			rig.Eventually(t, "everyone listens", func() bool { return l.Count("hotspot.updated") == round+1 })
		}
		rig.Eventually(t, "load", func() bool { return acked.Load() > 300 })
		began := time.Now()
		s.Stop(t)
		t.Logf("%d beats, then an exit after %v", acked.Load(), time.Since(began))
		beating.Wait()
		listening.Wait()
		s = rig.Start(t, db)
		rig.CheckTraffic(t, devices, admin.Readings(t, s))
	}
	for _, l := range listeners {
		rig.CheckOrder(t, l.Heard())
	}
}

// beatUntilGone beats until nobody listens any more. Until then every beat is
// answered, with 200 or 503. A connection that the server never saw may be reset
// when it closes its listener (decision D5).
func beatUntilGone(t *testing.T, c *rig.Client, s *rig.Server, d *rig.Device, acked *atomic.Int64) {
	for {
		a := d.Beat(t.Context(), c, s)
		switch {
		case a.Status == http.StatusOK:
			acked.Add(1)
		case a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
		case errors.Is(a.Err, syscall.ECONNREFUSED):
			return
		case errors.Is(a.Err, syscall.ECONNRESET):
		default:
			t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
			return
		}
	}
}
