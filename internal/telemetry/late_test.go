package telemetry_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Of two servers one has a clock that is behind. As long as it is by little, all
// that it acknowledged is in the records. When it is by more, the minutes of the
// evening are lost with the day that is written for good, and that is seen; but the
// traffic counts on the next day.
func TestFollow_AnotherClockIsBehind(t *testing.T) {
	for _, skew := range []time.Duration{0, 2 * time.Minute, 30 * time.Minute} {
		t.Run(skew.String(), func(t *testing.T) {
			begin := midnight.Add(-time.Hour)
			ahead, behind := &testClock{at: begin, real: begin}, &testClock{at: begin.Add(-skew)}
			open := onSQLite(t)
			keeper := start(t, open, ahead, nil)
			var log bytes.Buffer
			keeper.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
			keeper.must(t, keeper.Fold)
			other := start(t, open, behind, nil)
			id := other.register(t, 1, begin.Add(-skew))[0]
			seq := uint64(0)
			for m := range 100 { // until 00:40 by the keeper
				seq++
				other.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 1e9})
				for _, n := range []*node{keeper, other} {
					n.works(t)
					if m%5 == 4 {
						n.must(t, n.Fold)
					}
				}
				ahead.pass(time.Minute)
				behind.pass(time.Minute)
			}
			for _, c := range []*testClock{ahead, behind} {
				c.pass(24 * time.Hour)
			}
			keeper.works(t)
			keeper.must(t, keeper.Fold)
			day := beacon.DayOf(begin)
			carried := diskFacts(t, keeper, day, id).Bytes + diskFacts(t, keeper, day+1, id).Bytes
			warnings, late := strings.Count(log.String(), "correct its clock"), keeper.LateBeats()
			if skew < 5*time.Minute {
				if carried != seq*1e9 || warnings != 0 || late != 0 {
					t.Errorf("%d of %d GB are in the records, %d warnings of %d beats\n%s", carried/1e9, seq, warnings, late, &log)
				}
				return
			}
			// The keeper folds the day for good at 00:09, when it is 23:39 for the other.
			if warnings != 1 || late != 20 || !strings.Contains(log.String(), "behind=30m0s") || carried != seq*1e9 {
				t.Errorf("%d of %d GB are in the records, %d warnings of %d beats\n%s", carried/1e9, seq, warnings, late, &log)
			}
			behind.set(midnight.Add(-time.Minute)) // an hour later, it is told again
			ahead.run(time.Hour)
			other.must(t, other.Fold)
			other.beat(t, id, beacon.Heartbeat{Boot: 2, Seq: 1})
			keeper.works(t)
			if warnings := strings.Count(log.String(), "correct its clock"); warnings != 2 || keeper.LateBeats() != 21 {
				t.Errorf("%d warnings of %d beats", warnings, keeper.LateBeats())
			}
		})
	}
}

// What a start reads from journals is late by nature, and what is known is no
// news.
func TestFollow_AStartIsNotLate(t *testing.T) {
	open, c := onSQLite(t), &testClock{at: midnight.Add(-time.Minute)}
	n := start(t, open, c, nil)
	id := n.register(t, 1, c.now())[0]
	n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1, Bytes: 1000})
	n.finish(t, c)
	for range 2 {
		again := start(t, open, c, nil)
		again.works(t)
		if late := again.LateBeats(); late != 0 {
			t.Errorf("%d late beats", late)
		}
	}
}

// Who is not in service, or closed, earns nothing by traffic either.
func TestFacts_TrafficOutOfService(t *testing.T) {
	for name, edit := range map[string]func(*beacon.Hotspot){
		"never verified": func(h *beacon.Hotspot) { h.Location.VerifiedAt = time.Time{} },
		"closed all day": func(h *beacon.Hotspot) {
			h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC", Weekly: []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon"}, Open: 0, Close: 1}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &testClock{at: morning}
			n := start(t, onSQLite(t), c, nil)
			id := n.register(t, 1, morning)[0]
			n.edit(t, id, edit)
			for seq := range uint64(8) {
				n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: seq + 1, Bytes: (seq + 1) * 10e9})
				c.pass(time.Minute)
			}
			day := beacon.DayOf(morning)
			open := n.facts(t, day, id)[id]
			n.finish(t, c)
			book := policy.Devices()
			for _, f := range []beacon.Facts{open, diskFacts(t, n, day, id)} {
				if e := book.On(0).Reward(f); e.Total() != 0 || f.Bytes != 0 {
					t.Errorf("it earned %+v with %+v", e, f)
				}
			}
			if m := n.metrics(t, id, morning.Add(8*time.Minute)); m.Bytes24h != 80e9 {
				t.Errorf("the metrics say %+v", m)
			}
			if _, bytes := onDisk(t, n, id, morning); bytes != 80e9 {
				t.Errorf("the record has %d bytes", bytes)
			}
		})
	}
}

// A device moves from one server to another whose clock is behind by so much that it
// still has the day before. What it carried today, and what it carries there, counts:
// at the server that holds the lease, and at the other once that does.
func TestFollow_MovesToAServerBehind(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		begin := midnight.Add(-10 * time.Minute)
		ahead, behind := &testClock{at: begin, real: begin}, &testClock{at: begin.Add(-time.Hour)}
		keeper := start(t, open, ahead, nil)
		keeper.must(t, keeper.Fold)
		other := start(t, open, behind, nil)
		id := keeper.register(t, 1, begin.Add(-2*time.Hour))[0]
		seq := uint64(0)
		pass := func(minutes int, at *node) {
			for range minutes {
				seq++
				at.works(t)
				at.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 1e9})
				for _, n := range []*node{keeper, other} {
					n.works(t)
					if seq%5 == 0 {
						n.must(t, n.Fold)
					}
				}
				ahead.pass(time.Minute)
				behind.pass(time.Minute)
			}
		}
		pass(30, keeper) // until 00:20: the day before is final
		pass(20, other)  // which has 23:20
		carried := func(n *node) uint64 {
			day := beacon.DayOf(begin)
			return n.facts(t, day, id)[id].Bytes + n.facts(t, day+1, id)[id].Bytes
		}
		if got := carried(keeper); got != seq*1e9 {
			t.Errorf("the server with the lease has %d of %d GB", got/1e9, seq)
		}
		keeper.stop()
		behind.set(ahead.now())
		for range 3 {
			other.works(t)
			other.must(t, other.Fold)
			behind.pass(5 * time.Minute)
		}
		if got := carried(other); got != seq*1e9 {
			t.Errorf("the server that took over has %d of %d GB", got/1e9, seq)
		}
	})
}
