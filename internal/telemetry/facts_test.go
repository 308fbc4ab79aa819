package telemetry_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// edit changes a hotspot as the registry would, and shows it to the node.
func (n *node) edit(t testing.TB, id beacon.HotspotID, edit func(*beacon.Hotspot)) {
	t.Helper()
	h, err := n.db.Hotspots.UpdateHotspot(t.Context(), id, beacon.Actor{Request: "test"}, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
		edit(h)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.fleet.Apply(h); err != nil {
		t.Fatal(err)
	}
}

// What an owner may do that ends the service of a hotspot.
var endings = map[string]func(h *beacon.Hotspot, now time.Time){
	"unlink": func(h *beacon.Hotspot, now time.Time) {
		h.EndService(now)
		h.Device.LinkedAt, h.Device.KeyHash = time.Time{}, [32]byte{}
	},
	"relink": func(h *beacon.Hotspot, now time.Time) {
		h.EndService(now)
		h.Device.LinkedAt, h.Device.KeyHash = now, [32]byte{3}
	},
	"delete": func(h *beacon.Hotspot, now time.Time) { h.DeletedAt = now },
}

// diskFacts are those of the record of a day; none when there is no record.
func diskFacts(t testing.TB, n *node, day beacon.Day, id beacon.HotspotID) (f beacon.Facts) {
	t.Helper()
	rows, err := n.db.Records.Records(t.Context(), day, []beacon.HotspotID{id})
	if err != nil {
		t.Fatal(err)
	}
	if data, ok := rows[id]; ok {
		did, err := n.DidOf(data)
		if err != nil {
			t.Fatal(err)
		}
		f = did.Facts
	}
	return f
}

// decided checks that what is decided of a day has grown and nothing else has changed, and
// returns it.
func (n *node) decided(t testing.TB, day beacon.Day, before map[beacon.HotspotID]beacon.Did, ids ...beacon.HotspotID) map[beacon.HotspotID]beacon.Did {
	t.Helper()
	did, err := n.Decided(t.Context(), day, ids)
	if err != nil {
		t.Fatal(err)
	}
	for id, was := range before {
		is := did[id]
		for i, word := range was.Minutes {
			if word&^is.Minutes[i] != 0 {
				t.Fatalf("%s had served %x, and has served %x", id, was.Minutes, is.Minutes)
			}
		}
		if is.Served < was.Served || is.Expected < was.Expected || is.Closed < was.Closed || is.Excused < was.Excused || is.Outside < was.Outside {
			t.Fatalf("%s did %+v, and then %+v", id, was.Facts, is.Facts)
		}
	}
	return did
}

func (n *node) facts(t testing.TB, day beacon.Day, ids ...beacon.HotspotID) map[beacon.HotspotID]beacon.Facts {
	t.Helper()
	facts, err := n.Facts(t.Context(), day, ids)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// finish lets the day end and folds it for good.
func (n *node) finish(t testing.TB, c *testClock) {
	t.Helper()
	tomorrow := c.now().Truncate(24 * time.Hour).Add(24 * time.Hour)
	for _, after := range []time.Duration{time.Minute, 6 * time.Minute} {
		n.must(t, n.Mark)
		c.set(tomorrow.Add(after))
		n.must(t, n.follower.CatchUp)
		n.must(t, n.Refresh)
		n.must(t, n.Fold)
	}
	if before, ok := n.FinalBefore(); !ok || before != beacon.DayOf(tomorrow) {
		t.Fatalf("FinalBefore = %v, %v; want %v", before, ok, beacon.DayOf(tomorrow))
	}
}

// However the service of a hotspot ends, a moment after its last beat, it keeps
// every minute and every byte: also when the server dies at that moment, and when
// another one folds.
func TestFacts_EndOfService(t *testing.T) {
	day := beacon.DayOf(morning)
	want := map[string]beacon.Facts{ // 09:00 to 09:07, both included
		"unlink": {Served: 8, Expected: 8, Outside: 1432, Bytes: 8000},
		"relink": {Served: 11, Expected: 15 * 60, Outside: 9 * 60, Bytes: 8000},
		"delete": {Served: 8, Expected: 8, Outside: 1432, Bytes: 8000},
	}
	onBoth(t, func(t *testing.T, open database) {
		for name, end := range endings {
			for _, who := range []string{"the same", "a new one", "another"} {
				t.Run(name+", folded by "+who, func(t *testing.T) {
					c := &testClock{at: morning}
					keeper := start(t, open, c, nil)
					n := keeper
					if who == "another" {
						keeper.must(t, keeper.Fold)
						n = start(t, open, c, nil)
					}
					id := n.register(t, 1, morning)[0]
					for seq := range uint64(8) {
						n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: seq + 1, Bytes: (seq + 1) * 1000})
						if seq%2 == 1 && seq < 7 { // the journal is trimmed
							keeper.must(t, keeper.follower.CatchUp)
							keeper.must(t, keeper.Fold)
						}
						c.pass(time.Minute)
					}
					c.pass(-30 * time.Second)
					n.edit(t, id, func(h *beacon.Hotspot) { end(h, c.now()) })
					if who == "a new one" {
						n.stop()
						keeper = start(t, open, c, nil)
						n = keeper
					}
					keeper.finish(t, c)
					if got := diskFacts(t, keeper, day, id); got != want[name] {
						t.Errorf("the record says  %+v\nwant %+v", got, want[name])
					}
					for _, m := range []*node{keeper, n} {
						if diff := cmp.Diff(map[beacon.HotspotID]beacon.Facts{id: want[name]}, m.facts(t, day, id)); diff != "" {
							t.Errorf("Facts (-want +got): %s", diff)
						}
					}
					c.pass(beacon.RestoreTime + time.Hour) // until then, one that was deleted may come back
					keeper.finish(t, c)
					if _, found := keeper.fleet.Find(id); !found && slices.Contains(keeper.fleet.Dirty(true), id) {
						t.Errorf("%s is still in memory", id)
					}
					keeper.stop()
				})
			}
		}
	})
}

// What is said of a day while it is open is what its record says in the end.
func TestFacts_OpenDay(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := &testClock{at: morning}
		n, other := start(t, open, c, nil), start(t, open, c, nil)
		day := beacon.DayOf(morning)
		ids := n.register(t, 6, morning)
		n.edit(t, ids[1], func(h *beacon.Hotspot) {
			h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "America/New_York", Weekly: []beacon.WeeklySpan{
				{Days: []beacon.Weekday{"sat"}, Open: 7 * 60, Close: 17 * 60},
			}}
		})
		ends := map[int]string{2: "unlink", 3: "relink", 4: "delete"}
		var did, there map[beacon.HotspotID]beacon.Did
		for minute := range 15 * 60 {
			for i, id := range ids[:5] {
				if _, there := n.fleet.Find(id); there && (minute+i*50)%300 < 200 && minute%4 == 0 {
					n.beat(t, id, beacon.Heartbeat{
						Boot: 1, Seq: uint64(minute), Bytes: uint64(minute * 1000), Test: beacon.SpeedTest{DownMbps: 200, UpMbps: 20, LatencyMs: 9},
					})
				}
			}
			if minute%61 == 0 {
				n.must(t, n.Mark)
				n.must(t, n.Fold)
				other.must(t, other.follower.CatchUp)
				other.must(t, other.Fold)
				there = other.decided(t, day, there, ids...)
			}
			if minute%7 == 0 {
				did = n.decided(t, day, did, ids...)
			}
			if name, ok := ends[minute/150]; ok && minute%150 == 7 {
				n.edit(t, ids[minute/150], func(h *beacon.Hotspot) { endings[name](h, c.now()) })
			}
			c.pass(time.Minute)
		}
		c.pass(-time.Second)
		other.must(t, other.follower.CatchUp)
		facts := n.facts(t, day, ids...)
		if diff := cmp.Diff(facts, other.facts(t, day, ids...)); diff != "" {
			t.Errorf("two nodes (-this +that): %s", diff)
		}
		if len(facts) != len(ids) || facts[ids[1]].Closed == 0 || facts[ids[0]].Tier != beacon.Premium || facts[ids[5]].Expected != 900 {
			t.Errorf("facts %+v", facts)
		}
		if future := n.facts(t, day+1, ids...); len(future) != 0 {
			t.Errorf("tomorrow: %v", future)
		}
		if yesterday := n.facts(t, day-1, ids...); len(yesterday) != 0 {
			t.Errorf("yesterday: %v", yesterday)
		}
		c.pass(2 * time.Second) // the day is over, and nothing of it is written for good
		for _, m := range []*node{n, other} {
			if diff := cmp.Diff(facts, m.facts(t, day, ids...)); diff != "" {
				t.Errorf("after midnight (-before +after): %s", diff)
			}
		}
		c.pass(-2 * time.Second)
		n.finish(t, c)
		did = n.decided(t, day, did, ids...)
		for _, id := range ids {
			if got := diskFacts(t, n, day, id); got != facts[id] || did[id].Facts != got {
				t.Errorf("open %+v, decided %+v, on disk %+v", facts[id], did[id], got)
			}
		}
		if diff := cmp.Diff(facts, n.facts(t, day, ids...)); diff != "" {
			t.Errorf("in the end (-before +after): %s", diff)
		}
	})
}

// A node that was away for so long that the journal went on without it knows
// from the records what it missed.
func TestFacts_MissedAPartOfTheJournal(t *testing.T) {
	open, c := onSQLite(t), &testClock{at: morning}
	keeper, away := start(t, open, c, nil), start(t, open, c, nil)
	l := &life{node: keeper, c: c, id: keeper.register(t, 1, morning)[0]}
	l.live(t, 1)
	away.must(t, away.follower.CatchUp)
	l.live(t, 24)
	away.must(t, away.follower.CatchUp)
	want := keeper.facts(t, beacon.DayOf(morning), l.id)
	if diff := cmp.Diff(want, away.facts(t, beacon.DayOf(morning), l.id)); diff != "" || want[l.id].Served != 26 {
		t.Errorf("(-keeper +away): %s", diff)
	}
}

// While a node that missed a part of the journal rereads the records, it still
// tells from them and not from memory, which does not have all of it yet.
func TestFacts_WhileRecordsAreReread(t *testing.T) {
	open, c := onSQLite(t), &testClock{at: morning}
	keeper := start(t, open, c, nil)
	reading := &rereading{}
	away := start(t, open, c, func(s Store) Store { reading.Store = s; return reading })
	l := &life{node: keeper, c: c, id: keeper.register(t, 1, morning)[0]}
	l.live(t, 1)
	away.must(t, away.follower.CatchUp)
	l.live(t, 24)
	away.must(t, away.follower.CatchUp)
	want, asked := keeper.facts(t, beacon.DayOf(morning), l.id), false
	reading.before = func() {
		asked = true
		if diff := cmp.Diff(want, away.facts(t, beacon.DayOf(morning), l.id)); diff != "" {
			t.Errorf("(-keeper +away): %s", diff)
		}
	}
	away.must(t, away.Fold)
	if !asked {
		t.Error("the records were not reread")
	}
}

// What another wrote is on the map at once, not at the next check of all hotspots.
func TestReread_ShowsTheMap(t *testing.T) {
	open, c := onSQLite(t), &testClock{at: morning}
	writer := start(t, open, c, nil)
	l := &life{node: writer, c: c, id: writer.register(t, 1, morning)[0]}
	server := start(t, open, c, nil)
	if err := server.fleet.BuildMap(c.now()); err != nil {
		t.Fatal(err)
	}
	if err := server.fleet.Redraw(c.now()); err != nil { // this checks all of them: the next check is far
		t.Fatal(err)
	}
	l.live(t, 5)
	if online := server.fleet.Online(); online != 0 {
		t.Fatalf("%d online before it is read", online)
	}
	server.must(t, server.Reread)
	if online := server.fleet.Online(); online != 1 {
		t.Errorf("%d online", online)
	}
}

// rereading does something once, before records are read.
type rereading struct {
	Store
	before func()
}

func (r *rereading) Records(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID][]byte, error) {
	if do := r.before; do != nil {
		r.before = nil
		do()
	}
	return r.Store.Records(ctx, day, ids)
}
