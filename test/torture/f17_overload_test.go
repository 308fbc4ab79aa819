//go:build linux

package torture_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// pressed is a server that has more to do than it can for as long as there is a
// file: instead of measuring how long a byte takes through a pipe, it takes a second
// for it then, and nothing otherwise. What it does about that is as it is delivered.
var pressed = sync.OnceValue(func() *harness.Variant {
	const file, measured = "internal/httpserver/overload.go", "p.adjust(time.Since(sent))"
	source, err := harness.Source(file)
	if err != nil || strings.Count(source, measured) != 1 {
		panic("internal/httpserver/overload.go does not measure with " + measured)
	}
	text := strings.Replace(source, measured, "p.adjust(told(sent))", 1) + `
func told(time.Time) time.Duration {
	if _, err := os.Stat(os.Getenv("TORTURE_PRESSURE")); err == nil {
		return time.Second
	}
	return 0
}
`
	return &harness.Variant{Name: "pressed", Files: map[string]string{file: text}}
})

// TestF17_Overload: a server has more to do than it can. It turns people away and
// tells them when to come back, takes every beat of a device, says that it is well,
// and serves everyone again when there is less to do.
func TestF17_Overload(t *testing.T) {
	t.Run("shed", testShed)
	t.Run("flood", func(t *testing.T) {
		level.Needs(t, level.Check)
		testFlood(t)
	})
}

// testShed tells the server that it is overloaded.
func testShed(t *testing.T) {
	db := filepath.Join(t.TempDir(), "beacon.db")
	busy := filepath.Join(t.TempDir(), "busy")
	s := harness.Program{Binary: pressed().Build(t), Environment: []string{"TORTURE_PRESSURE=" + busy}}.Start(t, db, "--load-shedding", "on", "--admin-addr", "127.0.0.1:0")
	metrics := metricsOf(t, s)
	admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	devices := harness.LinkDevices(t, admin, s, 0, 20)
	if _, shed := crowdAsks(t, admin, s); shed > 0 {
		t.Errorf("%d requests were turned away by a server with nothing to do", shed)
	}
	for range rounds(1, 3, 10) {
		if err := os.WriteFile(busy, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		harness.Eventually(t, "the server knows that it is overloaded", func() bool { return metrics.read(t, "beacon_turned_away_percent") == 95 })
		if served, shed := crowdAsks(t, admin, s); shed < 10 {
			t.Errorf("under too much load, %d requests were served, and only %d turned away", served, shed)
		}
		var beating sync.WaitGroup
		for _, d := range devices {
			beating.Go(func() {
				for range 5 {
					if a := d.Beat(t.Context(), admin, s); a.Status != http.StatusOK {
						t.Errorf("under too much load, a beat was answered %d %s %v", a.Status, a.Code, a.Err)
					}
				}
			})
		}
		beating.Wait()
		for _, path := range []string{"/healthz", "/readyz"} {
			for range 5 {
				if a := admin.Do(t.Context(), http.MethodGet, s.URL+path, nil); a.Status != http.StatusOK {
					t.Errorf("under too much load, %s was answered %d %v", path, a.Status, a.Err)
				}
			}
		}
		if metrics.read(t, "beacon_turned_away_percent") != 95 {
			t.Error("the overload was over before the beats were: nothing was shown")
		}
		if err := os.Remove(busy); err != nil {
			t.Fatal(err)
		}
		harness.Eventually(t, "the server knows that the overload is over", func() bool { return metrics.read(t, "beacon_turned_away_percent") == 0 })
		if _, shed := crowdAsks(t, admin, s); shed > 0 {
			t.Errorf("%d requests were turned away after the overload", shed)
		}
	}
	harness.CheckTraffic(t, devices, admin.Readings(t, s))
}

// crowdAsks lets 20 people ask at once, and counts who was served and who was told
// to come back. Nothing else may be answered.
func crowdAsks(t *testing.T, c *harness.Client, s *harness.Server) (served, shed int64) {
	var done, turned atomic.Int64
	var asking sync.WaitGroup
	for range 20 {
		asking.Go(func() {
			switch a := c.Do(t.Context(), http.MethodGet, s.URL+nearbyPath, nil); {
			case a.Status == http.StatusOK:
				done.Add(1)
			case a.Status == http.StatusServiceUnavailable && a.Code == "overloaded" && a.Header.Get("Retry-After") != "":
				turned.Add(1)
			default:
				t.Errorf("nearby was answered %d %s %v; Retry-After: %q", a.Status, a.Code, a.Err, a.Header.Get("Retry-After"))
			}
		})
	}
	asking.Wait()
	return done.Load(), turned.Load()
}

// testFlood asks a server for several times as much as it can do, while 200 devices
// beat. How it fares depends on the machine, and is logged. Whatever it is, each
// answer is a good one or tells to come back, memory stays within bounds, every
// device is heard, and after the flood all is as before.
func testFlood(t *testing.T) {
	db := filepath.Join(t.TempDir(), "beacon.db")
	s := harness.Start(t, db, "--load-shedding", "on", "--log-level", "warn")
	admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	admin.HTTP.Timeout = harness.Patience
	devices := harness.LinkDevices(t, admin, s, 0, 200)

	// A few who wait for each answer keep it busy: that is what it can do.
	calm := flood(t, s, Flood{Key: admin.Key, Connections: 16, Deep: 1, Span: 2 * time.Second}, func(<-chan struct{}) {})

	var heard latencies
	// Many who do not wait for answers keep it from ever being done.
	high := flood(t, s, Flood{Key: admin.Key, Connections: 320, Deep: 16, Span: time.Duration(rounds(0, 6, 60)) * time.Second}, func(over <-chan struct{}) {
		heard = beatSteadily(t, admin, s, devices, over)
	})
	t.Logf("capacity %.0f/s; in the flood %.0f/s were answered and %.0f/s turned away; %d beats, half of them within %v, 99 %% within %v, all within %v; %d MB",
		calm.rate(), high.rate(), float64(high.TurnedAway)/high.Span.Seconds(), len(heard), heard.quantile(0.5), heard.quantile(0.99), heard.quantile(1), peak(t, s)>>20)
	if m := peak(t, s); m > 512<<20 {
		t.Errorf("the server took %d MB", m>>20)
	}
	s.Running(t)
	inARow := 0
	took := harness.Eventually(t, "everyone is served again", func() bool {
		inARow++
		if _, shed := crowdAsks(t, admin, s); shed > 0 {
			inARow = 0
		}
		return inARow == 3
	})
	t.Logf("everyone was served again %v after the flood", took)
	harness.CheckTraffic(t, devices, admin.Readings(t, s))
}

// latencies are how long answers took, in order.
type latencies []time.Duration

func (l latencies) quantile(share float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[int(share*float64(len(l)-1))]
}

// beatSteadily lets each device beat twice a second until something is over, and
// until at least one of its beats was taken. Each has a connection of its own.
func beatSteadily(t *testing.T, c *harness.Client, s *harness.Server, devices []*harness.Device, over <-chan struct{}) latencies {
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	var mu sync.Mutex
	var all latencies
	var beating sync.WaitGroup
	for i, d := range devices {
		beating.Go(func() {
			const rhythm = 500 * time.Millisecond
			next := time.NewTimer(rhythm * time.Duration(i) / time.Duration(len(devices)))
			defer next.Stop()
			over := over
			for taken, ended := false, false; !taken || !ended; {
				select {
				case <-ctx.Done():
					t.Errorf("%s was not heard in the flood", d.SSID)
					return
				case <-over:
					over, ended = nil, true
					continue
				case <-next.C:
				}
				next.Reset(rhythm)
				a := d.Beat(t.Context(), c, s)
				switch {
				case a.Status == http.StatusOK:
					taken = true
				case a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "":
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
