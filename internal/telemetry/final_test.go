package telemetry_test

import (
	"context"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// midnight ends the day of morning.
var midnight = morning.Truncate(24 * time.Hour).Add(24 * time.Hour)

func (n *node) final(t testing.TB, want beacon.Day, known bool) {
	t.Helper()
	if got, ok := n.FinalBefore(); ok != known || got != want {
		t.Errorf("FinalBefore = %v, %v; want %v, %v", got, ok, want, known)
	}
}

// step follows and folds at a time of the new day.
func (n *node) step(t testing.TB, c *testClock, after time.Duration) {
	t.Helper()
	c.set(midnight.Add(after))
	n.must(t, n.follower.CatchUp)
	n.must(t, n.Fold)
}

func TestFinalBefore(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		yesterday, today := beacon.DayOf(morning), beacon.DayOf(midnight)
		c := &testClock{at: morning}
		n, other := start(t, open, c, nil), start(t, open, c, nil)
		n.final(t, 0, false)
		n.must(t, n.Refresh)
		n.must(t, n.Fold)
		n.final(t, yesterday, true)
		other.must(t, other.Fold)
		other.final(t, 0, false) // it is not the keeper
		for _, tc := range []struct {
			after time.Duration
			want  beacon.Day
		}{
			{-time.Second, yesterday},
			{4*time.Minute + 59*time.Second, yesterday},
			{5 * time.Minute, today},
			{10 * time.Minute, today},
		} {
			n.step(t, c, tc.after)
			n.final(t, tc.want, true)
		}
		n.must(t, n.Refresh)
		c.pass(-time.Hour) // set back
		n.final(t, 0, false)
		n.must(t, n.Refresh)
		c.pass(time.Hour)
		n.final(t, 0, false) // yesterday may have gone on in between
		n.must(t, n.follower.CatchUp)
		n.must(t, n.Fold)
		n.final(t, today, true)

		n.release(t)
		other.step(t, c, 12*time.Minute)
		other.final(t, today, true)
		n.final(t, 0, false)
		other.release(t)
		n.final(t, 0, false) // it has the lease again, and knows nothing of what went on
		n.step(t, c, 13*time.Minute)
		n.final(t, today, true)
	})
}

// A beat that another node took in the last second of the day, and that the
// keeper has not heard of: the day is not over for good before it has.
func TestFinalBefore_LateJournal(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		yesterday, today := beacon.DayOf(morning), beacon.DayOf(midnight)
		c := &testClock{at: midnight.Add(-10 * time.Minute)}
		keeper, other := start(t, open, c, nil), start(t, open, c, nil)
		id := other.register(t, 1, c.now())[0]
		keeper.must(t, keeper.follower.CatchUp)
		keeper.must(t, keeper.Fold)
		c.set(midnight.Add(-time.Second))
		other.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1, Bytes: 1000})
		for _, followed := range []time.Duration{-2 * time.Second, 2*time.Minute + 59*time.Second} {
			c.set(midnight.Add(followed))
			if followed > 0 {
				keeper.must(t, keeper.follower.CatchUp)
			}
			c.set(midnight.Add(6 * time.Minute))
			keeper.must(t, keeper.Fold)
			keeper.final(t, yesterday, true)
		}
		keeper.step(t, c, 7*time.Minute)
		keeper.final(t, today, true)
		want := beacon.Facts{Served: 1, Expected: 10, Outside: 1430, Bytes: 1000}
		if got := diskFacts(t, keeper, yesterday, id); got != want {
			t.Errorf("the record says %+v; want %+v", got, want)
		}
	})
}

// A follower that breaks off half-way has not followed.
func TestFinalBefore_FollowingBreaksOff(t *testing.T) {
	c := &testClock{at: midnight.Add(-10 * time.Minute)}
	cut := &cutJournal{}
	open := onSQLite(t)
	keeper := start(t, open, c, func(s Store) Store { cut.Store = s; return cut })
	other := start(t, open, c, nil)
	id := keeper.register(t, 1, c.now())[0]
	keeper.must(t, keeper.Fold)
	other.must(t, other.follower.CatchUp)
	c.set(midnight.Add(-time.Second))
	other.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1})
	cut.on = true
	c.set(midnight.Add(6 * time.Minute))
	if err := keeper.follower.CatchUp(t.Context()); err == nil {
		t.Fatal("the step went well")
	}
	keeper.must(t, keeper.Fold)
	keeper.final(t, beacon.DayOf(morning), true)
	cut.on = false
	keeper.step(t, c, 7*time.Minute)
	keeper.final(t, beacon.DayOf(midnight), true)
	if got := diskFacts(t, keeper, beacon.DayOf(morning), id); got.Served != 1 {
		t.Errorf("the record says %+v", got)
	}
}

type cutJournal struct {
	Store
	on bool
}

func (s *cutJournal) Journal(ctx context.Context, node string, after int64, limit int) ([]beacon.JournalRow, error) {
	if s.on {
		return nil, errCut
	}
	return s.Store.Journal(ctx, node, after, limit)
}

// A fold that fails, or writes only a part, makes nothing final.
func TestFinalBefore_FoldFails(t *testing.T) {
	c := &testClock{at: morning}
	f := &faulty{}
	n := start(t, onSQLite(t), c, func(s Store) Store { f.Store = s; return f })
	ids := n.register(t, 700, morning) // two transactions
	n.must(t, n.Fold)
	c.set(midnight.Add(6 * time.Minute))
	n.must(t, n.follower.CatchUp)
	writes := 0
	f.putRecords = func(next func() error) error {
		if writes++; writes == 2 {
			return errCut
		}
		return next()
	}
	if err := n.Fold(t.Context()); err == nil {
		t.Fatal("the fold went well")
	}
	n.final(t, beacon.DayOf(morning), true)
	f.putRecords = nil
	n.must(t, n.Fold)
	n.final(t, beacon.DayOf(midnight), true)
	for _, id := range ids {
		if got := diskFacts(t, n, beacon.DayOf(morning), id); got.Expected != 15*60 || got.Outside != 9*60 {
			t.Fatalf("the record says %+v", got)
		}
	}
}

// Who fell silent before the day was over is folded for good too, although there
// is no news of it.
func TestFinalBefore_WithoutNews(t *testing.T) {
	c := &testClock{at: morning}
	n := start(t, onSQLite(t), c, nil)
	id := n.register(t, 1, morning)[0]
	n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1})
	n.step(t, c, time.Minute)
	n.step(t, c, 6*time.Minute) // nobody refreshed
	n.final(t, beacon.DayOf(midnight), true)
	if got := diskFacts(t, n, beacon.DayOf(morning), id); got.Expected != 15*60 || got.Served != 4 || got.Outside != 9*60 {
		t.Errorf("the record says %+v", got)
	}
}

// The service dies in the middle of a day and is down for days: with the first
// fold after that all of them are written for good. Nothing was expected of
// anyone while it was down, and who is in service has a record that says so.
func TestFinalBefore_DownForDays(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := &testClock{at: morning}
		n := start(t, open, c, nil)
		l := &life{node: n, c: c, id: n.register(t, 1, morning)[0]}
		gone := n.register(t, 1, morning)[0]
		silent := n.register(t, 1, morning)[0]
		l.live(t, 118)
		n.beat(t, gone, beacon.Heartbeat{Boot: 1, Seq: 1, Bytes: 500}) // in the journal alone
		c.pass(30 * time.Second)
		n.edit(t, gone, func(h *beacon.Hotspot) { h.DeletedAt = c.now() })
		n.must(t, n.Mark)
		n.stop() // at 10:58

		day := beacon.DayOf(morning)
		c.pass(4 * 24 * time.Hour)
		n = start(t, open, c, nil)
		n.final(t, 0, false)
		n.must(t, n.Fold)
		n.final(t, day+4, true)
		for id, want := range map[beacon.HotspotID]beacon.Facts{
			// The minute of 10:58 is not over for us; the last beat came at 10:57.
			l.id:   {Served: 119, Expected: 119, Excused: 1440 - 9*60 - 119, Outside: 9 * 60, Bytes: 118e9},
			silent: {Expected: 119, Excused: 1440 - 9*60 - 119, Outside: 9 * 60},
			gone:   {Served: 1, Expected: 119, Outside: 1440 - 119, Bytes: 500},
		} {
			if got := diskFacts(t, n, day, id); got != want {
				t.Errorf("the record says %+v; want %+v", got, want)
			}
			for d := day + 1; d < day+4; d++ {
				want := beacon.Facts{Excused: 1440}
				if id == gone {
					want = beacon.Facts{}
				}
				if got := diskFacts(t, n, d, id); got != want || n.facts(t, d, id)[id] != want {
					t.Errorf("%v: %+v, %v; want %+v", d, got, n.facts(t, d, id), want)
				}
			}
		}
	})
}

// The service is down for days, and starts twice before its clock is believed. The day
// on which it died is decided all the same.
func TestFinalBefore_StartsTwiceAfterDays(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := running(morning)
		n := start(t, open, c, nil)
		id := n.register(t, 1, morning)[0]
		seq := uint64(0)
		beats := func(int) {
			seq++
			n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 1e6})
		}
		n.runs(t, c, 18, beats)
		for _, down := range []time.Duration{3 * 24 * time.Hour, 2 * time.Minute} {
			n.stop()
			c.run(down)
			n = start(t, open, c, nil)
			n.runs(t, c, 6, beats)
		}
		n.runs(t, c, 20, beats)
		n.final(t, beacon.DayOf(morning)+3, true)
		want := beacon.Facts{Served: 18, Expected: 18, Excused: 1440 - 9*60 - 18, Outside: 9 * 60, Bytes: 18e6}
		if got := diskFacts(t, n, beacon.DayOf(morning), id); got != want {
			t.Errorf("the record says %+v; want %+v", got, want)
		}
	})
}

// A node stood still for days, while another one folded, and died. What that one
// wrote is not written over.
func TestFold_StoodStillForDays(t *testing.T) {
	open, c := onSQLite(t), &testClock{at: morning}
	still := start(t, open, c, nil)
	id := still.register(t, 1, morning)[0]
	l := &life{node: still, c: c, id: id}
	l.live(t, 5)
	still.release(t)
	l.node = start(t, open, c, nil)
	l.live(t, 30)
	for range 2 {
		l.settle(t, c)
		l.finish(t, c)
		l.live(t, 30)
	}
	l.settle(t, c)
	want := []beacon.Facts{}
	day := beacon.DayOf(morning)
	for d := day; d < day+2; d++ {
		want = append(want, diskFacts(t, l.node, d, id))
	}
	l.stop()
	c.pass(5 * 24 * time.Hour)
	still.must(t, still.follower.CatchUp)
	still.must(t, still.Fold)
	for i, f := range want {
		if got := diskFacts(t, still, day+beacon.Day(i), id); got != f || f.Served < 30 {
			t.Errorf("day %d went from %+v to %+v", i, f, got)
		}
	}
}

// The lease holder folds a new day without having heard of the last beat of the old one, and
// dies. The server that took that beat still has it when it becomes the lease holder.
func TestFinalBefore_KeeperDies(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := &testClock{at: midnight.Add(-10 * time.Minute)}
		keeper, other := start(t, open, c, nil), start(t, open, c, nil)
		id := other.register(t, 1, c.now())[0]
		other.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1, Bytes: 500})
		keeper.must(t, keeper.follower.CatchUp)
		keeper.must(t, keeper.Fold)
		c.set(midnight.Add(-time.Second))
		other.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 2, Bytes: 1000})
		c.set(midnight.Add(4 * time.Minute))
		keeper.must(t, keeper.Fold)
		other.must(t, other.follower.CatchUp)
		other.must(t, other.Fold)
		keeper.stop()
		other.step(t, c, 6*time.Minute)
		other.final(t, beacon.DayOf(midnight), true)
		want := beacon.Facts{Served: 5, Expected: 10, Outside: 1430, Bytes: 1000}
		if got := diskFacts(t, other, beacon.DayOf(morning), id); got != want {
			t.Errorf("the record says %+v; want %+v", got, want)
		}
	})
}

// The clock is set back, and right again, while the day is being written.
func TestFinalBefore_DoubtWhileFolding(t *testing.T) {
	c := &testClock{at: morning}
	f := &faulty{}
	n := start(t, onSQLite(t), c, func(s Store) Store { f.Store = s; return f })
	n.register(t, 1, morning)
	n.must(t, n.Fold)
	c.set(midnight.Add(6 * time.Minute))
	n.must(t, n.Refresh)
	n.must(t, n.follower.CatchUp)
	f.putRecords = func(next func() error) error {
		c.pass(-10 * time.Minute)
		n.must(t, n.Refresh)
		c.pass(10 * time.Minute)
		return next()
	}
	n.must(t, n.Fold)
	n.final(t, 0, false)
	f.putRecords = nil
	n.must(t, n.follower.CatchUp) // beats of the day may have been taken for late ones
	n.must(t, n.Fold)
	n.final(t, beacon.DayOf(midnight), true)
}
