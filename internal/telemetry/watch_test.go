package telemetry_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func told(t testing.TB, n *node, names map[beacon.HotspotID]string) (all []string) {
	t.Helper()
	events, err := n.db.Events.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		all = append(all, fmt.Sprintf("%s %s %s", names[beacon.HotspotID(e.Target)], e.Kind, e.At.Format("15:04")))
	}
	return all
}

// Each coming and going is told once, with the time at which it was, whoever the
// keeper is; an outage of ours is told of nobody.
func TestAnnounce(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := &testClock{at: morning}
		n := start(t, open, c, nil)
		ids := n.register(t, 3, morning)
		names := map[beacon.HotspotID]string{ids[0]: "a", ids[1]: "b", ids[2]: "c"}
		n.must(t, n.Mark)
		n.beat(t, ids[0], beacon.Heartbeat{Boot: 1, Seq: 1})
		n.beat(t, ids[1], beacon.Heartbeat{Boot: 1, Seq: 1})
		n.must(t, n.Announce)
		n.must(t, n.Announce)
		for range 5 {
			c.pass(time.Minute)
			n.beat(t, ids[0], beacon.Heartbeat{Boot: 2, Seq: serialSeq()})
			n.must(t, n.Mark)
			n.must(t, n.Announce)
		}
		want := []string{"a hotspot.online 09:00", "b hotspot.online 09:00", "b hotspot.offline 09:04"}
		if got := told(t, n, names); !cmp.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Errorf("told %q; want %q", got, want)
		}

		n.stop()
		c.pass(2 * time.Hour) // nobody could be heard
		n = start(t, open, c, nil)
		n.must(t, n.Mark)
		n.must(t, n.Announce)
		c.pass(time.Minute)
		n.beat(t, ids[0], beacon.Heartbeat{Boot: 3, Seq: 1})
		n.beat(t, ids[1], beacon.Heartbeat{Boot: 3, Seq: 1})
		n.must(t, n.Announce)
		want = append(want, "b hotspot.online 11:06")
		if got := told(t, n, names); !cmp.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Errorf("after an outage told %q; want %q", got, want)
		}
	})
}

// A server that has just started, and does not know the time yet, waits: that is no fault.
func TestAnnounce_TooEarly(t *testing.T) {
	c := &testClock{at: morning}
	n := start(t, onSQLite(t), c, nil)
	asked := 0
	n.Events = otherEvents(func() error {
		asked++
		return fmt.Errorf("not now: %w", beacon.ErrTooEarly)
	})
	id := n.register(t, 1, morning)[0]
	n.must(t, n.Mark)
	n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1})
	n.must(t, n.Announce)
	if got := told(t, n, nil); asked != 1 || len(got) > 0 {
		t.Errorf("asked %d times, told %q", asked, got)
	}
}

func serialSeq() uint64 { return uint64(serial()) }
