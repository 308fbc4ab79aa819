//go:build linux

package endtoend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
)

// TestDevicesAway: while the database cannot be reached, devices are told to come
// back later, and none is told that it was heard. Nearby goes on, and shows who was
// not heard as offline, once the time for that has passed. Once the database is
// back, so is everyone.
func TestDevicesAway(t *testing.T) {
	t.Parallel() // it mostly waits
	for name, away := range map[string]harness.Mode{"cut": harness.Cut, "silent": harness.Silent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storetest.Postgres(t)
			p, behind := harness.ThroughProxy(t, db)
			clock := harness.NewHeldClock(t, time.Date(2027, 1, 5, 10, 5, 0, 0, time.UTC))
			s := clock.Start(t, behind)
			b := steadyBeats(t, db, s, 10)
			b.allOnline(t)

			b.phase.Store(changing)
			p.Set(away)
			b.phase.Store(inTrouble)
			refused := b.refused.Load()
			harness.Eventually(t, "everyone is told to come back", func() bool { return b.refused.Load() >= refused+int64(len(b.devices)) })
			if n := b.count(t, "online"); n != len(b.devices) {
				t.Errorf("%d of %d are online, and no time has passed", n, len(b.devices))
			}
			clock.Pass(offlineAfter + time.Second)
			harness.Eventually(t, "everyone is shown as offline", func() bool { return b.count(t, "offline") == len(b.devices) })

			b.phase.Store(changing)
			p.Set(harness.Healed)
			t.Logf("beats were taken again after %v", b.recovered(t))
			b.allOnline(t)
			b.finish(t)
			s.Running(t)
			s.Kill()
			s = clock.Start(t, db)
			harness.CheckTraffic(t, b.devices, b.admin.Readings(t, s))
		})
	}
}

// TestDevicesDiskFull: the same, when files may not grow any further.
func TestDevicesDiskFull(t *testing.T) {
	t.Parallel() // it mostly waits
	db := filepath.Join(t.TempDir(), "beacon.db")
	clock := harness.NewHeldClock(t, time.Date(2027, 1, 5, 10, 5, 0, 0, time.UTC))
	s := clock.Start(t, db)
	b := steadyBeats(t, db, s, 10)
	b.allOnline(t)
	wal, err := os.Stat(db + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	before, refused := b.acked.Load(), b.refused.Load()
	b.phase.Store(changing)
	limitFileSize(t, s, uint64(wal.Size())+50<<10) // soon
	harness.Eventually(t, "the disk is full", func() bool { return b.refused.Load() > refused+50 })
	if b.acked.Load() == before {
		t.Error("the disk was full from the start, so that it did not fill up under load")
	}
	b.allOnline(t) // no time has passed
	s.Running(t)

	limitFileSize(t, s, unlimited)
	t.Logf("beats were taken again after %v", b.recovered(t))
	b.finish(t)
	s.Kill()
	s = clock.Start(t, db)
	harness.CheckTraffic(t, b.devices, b.admin.Readings(t, s))
	harness.CheckIntegrity(t, db)
}

// What beats are to expect: to be taken, not to be taken, or one of both.
const (
	allIsWell int32 = iota
	inTrouble
	changing
)

// beats are devices that beat regularly.
type beats struct {
	admin   *harness.Client
	server  *harness.Server
	devices []*harness.Device
	phase   atomic.Int32

	acked, refused atomic.Int64
	longest        atomic.Int64

	beating sync.WaitGroup
	stop    context.CancelFunc
}

func steadyBeats(t *testing.T, db string, s *harness.Server, count int) *beats {
	t.Helper()
	b := &beats{admin: harness.NewClient(t, harness.CreateKey(t, db, "admin").Key), server: s}
	b.admin.HTTP.Timeout = harness.Patience // the server decides how long a request may take
	b.devices = harness.LinkDevices(t, b.admin, s, 0, count)
	ctx, stop := context.WithCancel(t.Context())
	b.stop = stop
	for _, d := range b.devices {
		b.beating.Go(func() { b.beat(ctx, t, d) })
	}
	t.Cleanup(stop)
	return b
}

func (b *beats) beat(ctx context.Context, t *testing.T, d *harness.Device) {
	rhythm := time.NewTicker(50 * time.Millisecond)
	defer rhythm.Stop()
	for ; ctx.Err() == nil; <-rhythm.C {
		before := b.phase.Load()
		a := d.Beat(t.Context(), b.admin, b.server)
		after := b.phase.Load()
		b.longest.Store(max(b.longest.Load(), int64(a.Took)))
		switch {
		case a.Status == http.StatusOK && before == inTrouble && after == inTrouble:
			t.Error("a beat was taken, and there was nothing to write it to")
		case a.Status == http.StatusOK:
			b.acked.Add(1)
		case a.Status == http.StatusServiceUnavailable: // when all is well, by a machine that stood still for seconds
			if a.Header.Get("Retry-After") == "" {
				t.Error("a beat was refused without a word on when to come back")
			}
			b.refused.Add(1)
		default:
			t.Errorf("a beat was answered %d %s %v after %v", a.Status, a.Code, a.Err, a.Took)
		}
	}
}

// count is how many hotspots nearby shows with a status.
func (b *beats) count(t *testing.T, status string) int {
	t.Helper()
	lat, lng := harness.PlaceOf(0)
	a := b.admin.Do(t.Context(), http.MethodGet, fmt.Sprintf("%s/v1/hotspots/nearby?status=%s&limit=100&lat=%v&lng=%v", b.server.URL, status, lat, lng), nil)
	var list []struct{ Status string }
	if err := json.Unmarshal(a.Data, &list); a.Status != http.StatusOK || err != nil {
		t.Fatalf("nearby answered %d %s %v %v", a.Status, a.Code, a.Err, err)
	}
	for _, h := range list {
		if h.Status != status {
			t.Errorf("nearby shows one that is %s among those that are %s", h.Status, status)
		}
	}
	return len(list)
}

func (b *beats) allOnline(t *testing.T) {
	t.Helper()
	harness.Eventually(t, "everyone is online", func() bool { return b.count(t, "online") == len(b.devices) })
}

// recovered waits until beats are taken, and none is refused any more.
func (b *beats) recovered(t *testing.T) time.Duration {
	t.Helper()
	taken := b.acked.Load() + int64(len(b.devices))
	return harness.Eventually(t, "beats are taken again", func() bool { return b.acked.Load() >= taken })
}

// finish ends the beats; the last of each was taken.
func (b *beats) finish(t *testing.T) {
	t.Helper()
	b.stop()
	b.beating.Wait()
	t.Logf("%d beats were taken, %d refused; the longest took %v", b.acked.Load(), b.refused.Load(), time.Duration(b.longest.Load()))
}
