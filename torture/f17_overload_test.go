//go:build linux

package torture_test

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// TestF17_Overload asks a server for several times as much as it can do, while 200
// devices beat in their rhythm. Every beat is taken in time, others get an
// answer or are told to come back, memory stays within bounds, and soon after
// the flood all is as before.
func TestF17_Overload(t *testing.T) {
	db := filepath.Join(t.TempDir(), "beacon.db")
	s := rig.Start(t, db, "--log-level", "warn")
	admin := rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
	devices := rig.LinkDevices(t, admin, s, 0, 200)

	// A few who wait for each answer keep it busy: that is what it can do.
	calm := flood(t, s, Flood{Key: admin.Key, Connections: 16, Deep: 1, Span: 2 * time.Second}, func() {})

	beats := make(chan latencies, 1)
	// Many who do not wait for answers keep it from ever being done.
	high := flood(t, s, Flood{Key: admin.Key, Connections: 320, Deep: 16, Span: time.Duration(rounds(6, 6, 60)) * time.Second}, func() {
		beats <- beatSteadily(t, admin, s, devices, time.Duration(rounds(5, 5, 55))*time.Second)
	})
	heard := <-beats
	t.Logf("capacity %.0f/s; in the flood %.0f/s were answered and %.0f/s turned away; %d beats, half of them within %v, 99 %% within %v, all within %v; %d MB",
		calm.rate(), high.rate(), float64(high.TurnedAway)/high.Span.Seconds(), len(heard), heard.quantile(0.5), heard.quantile(0.99), heard.quantile(1), peak(t, s)>>20)
	if heard.quantile(0.99) > 2*time.Second { // 500 ms, where nothing else runs on the machine
		t.Errorf("1 %% of the beats took more than %v", heard.quantile(0.99))
	}
	if high.rate()+float64(high.TurnedAway)/high.Span.Seconds() < calm.rate()/10 {
		t.Error("next to nobody but devices was answered")
	}
	if m := peak(t, s); m > 512<<20 {
		t.Errorf("the server took %d MB", m>>20)
	}
	s.Running(t)

	wellInARow := 0
	took := rig.Eventually(t, "all is as before", func() bool {
		a := admin.Do(t.Context(), http.MethodGet, s.URL+nearbyPath, nil)
		if a.Status != http.StatusOK || a.Took > 100*time.Millisecond {
			wellInARow = 0
		}
		wellInARow++
		return wellInARow > 50
	})
	t.Logf("50 requests in a row went well %v after the flood", took)
	rig.CheckTraffic(t, devices, admin.Readings(t, s))
}

// latencies are how long answers took, in order.
type latencies []time.Duration

func (l latencies) quantile(share float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[int(share*float64(len(l)-1))]
}

// beatSteadily lets each device beat twice a second for a while. Each has a
// connection of its own.
func beatSteadily(t *testing.T, c *rig.Client, s *rig.Server, devices []*rig.Device, span time.Duration) latencies {
	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	var mu sync.Mutex
	var all latencies
	var beating sync.WaitGroup
	for i, d := range devices {
		beating.Go(func() {
			const rhythm = 500 * time.Millisecond
			next := time.NewTimer(rhythm * time.Duration(i) / time.Duration(len(devices)))
			defer next.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-next.C:
				}
				next.Reset(rhythm)
				a := d.Beat(t.Context(), c, s)
				if a.Status != http.StatusOK {
					t.Errorf("in the flood, a beat was answered %d %s %v", a.Status, a.Code, a.Err)
				}
				mu.Lock()
				all = append(all, a.Took)
				mu.Unlock()
			}
		})
	}
	beating.Wait()
	slices.Sort(all)
	return all
}
