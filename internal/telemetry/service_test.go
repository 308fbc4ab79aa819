package telemetry_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness"
)

// An outage of ours costs nobody anything; one of the hotspot's own does.
func TestMark_OutagesAreExcused(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := &testClock{at: morning}
		n := start(t, open, c, nil)
		ids := n.register(t, 2, morning)
		seq := uint64(0)
		live := func(n *node, minutes int, who ...beacon.HotspotID) {
			for range minutes {
				seq++
				for _, id := range who {
					n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: seq})
				}
				n.must(t, n.Mark)
				c.pass(time.Minute)
				if seq%5 == 0 {
					n.must(t, n.Fold)
				}
			}
		}
		live(n, 60, ids...)
		n.stop()
		c.pass(3 * time.Hour) // the service is down
		n = start(t, open, c, nil)
		live(n, 60, ids...)
		if m := n.metrics(t, ids[0], c.now()); m.Uptime30d != 10_000 {
			t.Errorf("uptime after an outage of ours = %d", m.Uptime30d)
		}
		live(n, 60, ids[0])                             // the other one is silent for an hour
		want := 10_000 * (60 + 57 + 3) / (60 + 57 + 60) // of 63 minutes after the outage, 3 are excused; a beat serves 3 minutes more
		if m := n.metrics(t, ids[1], c.now()); m.Uptime30d < want-60 || m.Uptime30d > want+60 {
			t.Errorf("uptime of one that was silent = %d; want about %d", m.Uptime30d, want)
		}
		if m := n.metrics(t, ids[0], c.now()); m.Uptime30d != 10_000 {
			t.Errorf("uptime of the other = %d", m.Uptime30d)
		}
	})
}

// A clock that is set forward by weeks is no outage of the hotspots, and one
// that is set back leaves nobody online for ever.
func TestMark_ClockJumps(t *testing.T) {
	c := &testClock{at: morning}
	n := start(t, onSQLite(t), c, nil)
	id := n.register(t, 1, morning)[0]
	for seq := range uint64(10) {
		n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: seq})
		n.must(t, n.Mark)
		c.pass(time.Minute)
	}
	c.rate = 1 // from now on it claims to be a real clock, for which no time passes
	n.Clock = c.of(n, n.Log)
	c.pass(40 * 24 * time.Hour)
	n.must(t, n.Mark)
	n.must(t, n.Fold)
	n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 20})
	if m := n.metrics(t, id, c.now()); m.Uptime30d != 10_000 && m.Uptime30d != 0 {
		t.Errorf("after a jump of 40 days uptime = %d", m.Uptime30d)
	}
	n.must(t, n.Refresh)
	c.pass(-time.Hour)
	n.must(t, n.Refresh)
	hotspot, _ := n.fleet.Find(id)
	if got := hotspot.StatusAt(c.now()); got != beacon.Online {
		t.Errorf("right after the clock was set back: %s", got)
	}
	if got := hotspot.StatusAt(c.now().Add(5 * time.Minute)); got != beacon.Offline {
		t.Errorf("five minutes after the clock was set back: %s", got)
	}
}

// A service that is stopped was up until then, not until the last time it said so.
func TestRun_UpToItsEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := &testClock{at: morning}
		n := start(t, open, c, nil)
		began := int64(beacon.MinuteOf(morning))
		ends := func() int64 {
			spans, err := n.db.Clocks.Spans(t.Context(), began)
			if err != nil {
				t.Fatal(err)
			}
			if len(spans) == 0 {
				return 0
			}
			return spans[0].To
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { n.Run(ctx) })
		harness.Eventually(t, "the first record", func() bool { return ends() == began })
		c.pass(2 * time.Minute)
		stop()
		running.Wait()
		if to := ends(); to != began+2 {
			t.Errorf("the service was up until minute %d; want %d", to-began, 2)
		}
	})
}
