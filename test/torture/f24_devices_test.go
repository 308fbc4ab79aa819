//go:build linux

package torture_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF24_DevicesDrain: a server is told to stop while devices beat and others
// listen to its events. Every stream ends in order, every beat is answered, and
// what was acknowledged is stored.
func TestF24_DevicesDrain(t *testing.T) {
	harness.Stores(t, testDevicesDrain)
}

func testDevicesDrain(t *testing.T, db string) {
	apiKey := harness.CreateKey(t, db, "admin").Key
	admin := harness.NewClient(t, apiKey)
	s := harness.Start(t, db)
	devices := harness.LinkDevices(t, admin, s, 0, 30)
	listeners := make([]*harness.Listener, 8)
	for i := range listeners {
		listeners[i] = harness.NewListener(t, apiKey)
	}
	for round := range rounds(1, 3, 10) {
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
		admin.Patch(t.Context(), s, devices[0].Hotspot, harness.Fields{"name": fmt.Sprintf("Round %d", round)})
		for _, l := range listeners {
			harness.Eventually(t, "everyone listens", func() bool { return l.Count("hotspot.updated") == round+1 })
		}
		harness.Eventually(t, "load", func() bool { return acked.Load() > 100 })
		began := time.Now()
		s.Stop(t)
		t.Logf("%d beats, then an exit after %v", acked.Load(), time.Since(began))
		beating.Wait()
		listening.Wait()
		s = harness.Start(t, db)
		readings := admin.Readings(t, s)
		harness.CheckTraffic(t, devices, readings)
		for _, d := range devices {
			if shown, heard := readings[d.SSID].Bytes, d.Totals().Acked; shown > heard {
				t.Errorf("%s: a beat was stored, and its answer was lost: %d bytes are there, and %d were acknowledged", d.SSID, shown, heard)
			}
		}
	}
	for _, l := range listeners {
		harness.CheckOrder(t, l.Heard())
	}
}

// beatUntilGone beats until nobody listens any more. Every beat that the server has
// read is answered, with 200 or 503: the caller compares what is stored with what was
// acknowledged. A connection that the server never saw may be reset when it closes
// its listener (decision D5), and one that was idle may be closed just when it is
// used again.
func beatUntilGone(t *testing.T, c *harness.Client, s *harness.Server, d *harness.Device, acked *atomic.Int64) {
	for {
		a := d.Beat(t.Context(), c, s)
		switch {
		case a.Status == http.StatusOK:
			acked.Add(1)
		case a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
		case errors.Is(a.Err, syscall.ECONNREFUSED):
			return
		case a.Err == nil:
			t.Errorf("a beat was answered %d %s", a.Status, a.Code)
			return
		}
	}
}
