package telemetry_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// restore brings a hotspot back as the registry would, and shows it to the node.
func (n *node) restore(t testing.TB, id beacon.HotspotID, now time.Time) {
	t.Helper()
	h, err := n.db.Hotspots.RestoreHotspot(t.Context(), id, beacon.Actor{Request: "test"}, func(h *beacon.Hotspot, _ beacon.Deletion) (bool, error) {
		h.UpdatedAt = now
		return true, h.Restore(now)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.fleet.Apply(h); err != nil {
		t.Fatal(err)
	}
}

// A hotspot that was deleted and brought back is in everything like one that was unlinked
// and linked again: nothing of the time in between counts, and nothing before is lost. So it
// is for the server that folds, also after the day is final, for another one, and for one
// that starts meanwhile or later.
func TestRestore_AsIfUnlinked(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		for name, away := range map[string]time.Duration{
			"at once": 20 * time.Second, "after minutes": 7 * time.Minute, "the next day": beacon.RestoreTime - time.Minute,
		} {
			for _, starts := range []string{"", "meanwhile", "later"} {
				t.Run(name+", a server starts "+starts, func(t *testing.T) {
					c := &testClock{at: morning}
					keeper := start(t, open, c, nil)
					other := start(t, open, c, nil)
					ids := keeper.register(t, 2, morning)
					deleted, unlinked := ids[0], ids[1]
					seq := uint64(0)
					beats := func(n int) {
						for range n {
							seq++
							for _, id := range ids {
								keeper.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 1000})
							}
							c.pass(time.Minute)
						}
					}
					beats(8)
					keeper.edit(t, deleted, func(h *beacon.Hotspot) { h.DeletedAt, h.UpdatedAt = c.now(), c.now() })
					keeper.edit(t, unlinked, func(h *beacon.Hotspot) { h.EndService(c.now()) })
					again := c.now().Add(away)
					keeper.edit(t, unlinked, func(h *beacon.Hotspot) { h.Device.LinkedAt = time.Time{} })
					if away > time.Hour {
						keeper.finish(t, c)
						other.must(t, other.follower.CatchUp)
					}
					c.set(again)
					keeper.must(t, keeper.Mark)
					keeper.must(t, keeper.Fold)
					if starts == "meanwhile" {
						keeper.stop()
						keeper = start(t, open, c, nil)
					}
					keeper.restore(t, deleted, c.now())
					keeper.edit(t, unlinked, func(h *beacon.Hotspot) { h.Device.LinkedAt = c.now() })
					beats(5)
					if starts == "later" {
						keeper.stop()
						keeper = start(t, open, c, nil)
					}
					keeper.finish(t, c)
					other.must(t, other.follower.CatchUp)
					other.must(t, other.Fold)
					for _, n := range []*node{keeper, other} {
						for day := beacon.DayOf(morning); day <= beacon.DayOf(again); day++ {
							got := n.facts(t, day, deleted, unlinked)
							if got[deleted] != got[unlinked] || diskFacts(t, n, day, deleted) != got[deleted] || got[deleted].Served == 0 {
								t.Errorf("%v: it did %+v, on disk %+v; want %+v", day, got[deleted], diskFacts(t, n, day, deleted), got[unlinked])
							}
						}
						if diff := cmp.Diff(n.metrics(t, unlinked, c.now()), n.metrics(t, deleted, c.now())); diff != "" {
							t.Errorf("metrics (-unlinked +deleted): %s", diff)
						}
					}
				})
			}
		}
	})
}
