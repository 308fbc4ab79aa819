//go:build linux

package endtoend_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/store/storetest"
)

// TestDevicesCrash kills a server (-9) while devices beat as fast as they can,
// again and again: no acknowledged beat is lost, none counts twice.
func TestDevicesCrash(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testDevicesCrash(t, filepath.Join(t.TempDir(), "beacon.db"), 6) })
	t.Run("postgres", func(t *testing.T) { testDevicesCrash(t, storetest.Postgres(t), 3) })
}

func testDevicesCrash(t *testing.T, db string, rounds int) {
	admin := rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
	s := rig.Start(t, db)
	devices := rig.LinkDevices(t, admin, s, 0, 64)
	beats := 0
	for round := range rounds {
		load := beatFast(t, admin, s, devices)
		// Killed in the middle of its work, each time at another point of it.
		enough := int64(300 + rand.IntN(1500))
		rig.Eventually(t, 20*time.Second, "many beats", func() bool { return load.acked.Load() >= enough })
		s.Kill()
		load.wait()
		beats += int(load.acked.Load())

		s = rig.Start(t, db)
		shown := admin.Readings(t, s)
		rig.CheckTraffic(t, devices, shown)
		repeatBeats(t, admin, s, devices)
		if diff := cmp.Diff(shown, admin.Readings(t, s)); diff != "" {
			t.Errorf("round %d: beats that were repeated changed something: %s", round, diff)
		}
		for i := round % 2; i < len(devices); i += 2 {
			devices[i].Reboot()
		}
	}
	t.Logf("%d beats were acknowledged, in %d rounds", beats, rounds)
}

// fastBeats are devices that beat as fast as they are answered.
type fastBeats struct {
	acked   atomic.Int64
	beating sync.WaitGroup
	stop    context.CancelFunc
}

// beatFast lets devices beat until the server is gone, or until they are told to
// stop.
func beatFast(t testing.TB, c *rig.Client, s *rig.Server, devices []*rig.Device) *fastBeats {
	ctx, stop := context.WithCancel(t.Context())
	load := &fastBeats{stop: stop}
	for _, d := range devices {
		load.beating.Go(func() {
			for ctx.Err() == nil {
				a := d.Beat(t.Context(), c, s)
				if a.Err != nil {
					return // the server is dead
				}
				if a.Status != http.StatusOK {
					t.Errorf("a beat was answered %d %s", a.Status, a.Code)
					return
				}
				load.acked.Add(1)
			}
		})
	}
	return load
}

func (load *fastBeats) wait() {
	load.beating.Wait()
	load.stop()
}

// repeatBeats sends again what was acknowledged. It claims more traffic this
// time, as a device must not: if the server took it for another beat, that would
// show.
func repeatBeats(t testing.TB, c *rig.Client, s *rig.Server, devices []*rig.Device) {
	t.Helper()
	repeated := 0
	for _, d := range devices {
		if d.Latest == nil {
			continue
		}
		again := rig.Fields{}
		for name, value := range d.Latest {
			again[name] = value
		}
		again["rx_bytes"], again["clients"] = uint64(1<<50), 9999
		if a := d.Send(t.Context(), c, s, again); a.Status != http.StatusOK {
			t.Errorf("a repeated beat was answered %d %s %v", a.Status, a.Code, a.Err)
		}
		repeated++
	}
	if repeated == 0 {
		t.Error("no beat was repeated")
	}
}
