package telemetry_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// works is what a node does all the time, but for folding.
func (n *node) works(t testing.TB) {
	t.Helper()
	n.must(t, n.Clock.Step)
	n.must(t, n.Mark)
	n.must(t, n.follower.CatchUp)
	n.must(t, n.Refresh)
}

// runs lets a node work for minutes, fold every five, and do something in each.
func (n *node) runs(t testing.TB, c *testClock, minutes int, each func(minute int)) {
	t.Helper()
	for m := range minutes {
		each(m)
		n.works(t)
		if m%5 == 4 {
			n.must(t, n.Fold)
		}
		c.run(time.Minute)
	}
}

func nothing(int) {}

// toTheEnd lets a node work until the day of morning is written for good.
func (n *node) toTheEnd(t testing.TB, c *testClock, each func(minute int)) {
	t.Helper()
	n.runs(t, c, int(midnight.Sub(c.now())/time.Minute), each)
	n.runs(t, c, 16, nothing)
	n.final(t, beacon.DayOf(midnight), true)
}

// evening is not long before midnight.
var evening = midnight.Add(-time.Hour)

// upFor says that the service has been up for weeks.
func (n *node) upFor(t testing.TB, weeks int) {
	t.Helper()
	now := int64(beacon.MinuteOf(evening))
	if err := n.db.Clocks.ExtendSpan(t.Context(), now-int64(weeks)*7*1440, now); err != nil {
		t.Fatal(err)
	}
}

// The clock is wrong for a moment in which a fold happens to run. Every minute of
// the day is decided as if it had not been.
func TestClock_WrongForAFold(t *testing.T) {
	day := beacon.DayOf(morning)
	for _, at := range []int{6, 31} { // before the clock is believed for the first time, and after
		for _, glitch := range []time.Duration{2 * time.Hour, 24 * time.Hour, 30 * 24 * time.Hour, -24 * time.Hour} {
			for _, seen := range []string{"by the fold alone", "by all", "by all, for five minutes"} {
				t.Run(glitch.String()+" seen "+seen, func(t *testing.T) {
					c := running(evening)
					n := start(t, onSQLite(t), c, nil)
					n.upFor(t, 6)
					ids := n.register(t, 2, evening)
					early, late := ids[0], ids[1]
					n.toTheEnd(t, c, func(m int) {
						who := late
						if m < 5 {
							who = early
						}
						n.beat(t, who, beacon.Heartbeat{Boot: 1, Seq: uint64(m + 1), Bytes: uint64(m+1) * 1e6})
						if m != at {
							return
						}
						n.works(t)
						c.pass(glitch)
						if seen != "by the fold alone" {
							n.works(t)
						}
						n.must(t, n.Fold)
						if seen == "by all, for five minutes" {
							n.runs(t, c, 5, nothing)
							c.run(-5 * time.Minute) // it never was
						}
						c.pass(-glitch)
						n.must(t, n.Fold) // at once: by the clock none was for long
					})
					for id, want := range map[beacon.HotspotID]beacon.Facts{
						early: {Served: 8, Expected: 60, Outside: 1380, Bytes: 5e6},
						late:  {Served: 55, Expected: 60, Outside: 1380, Bytes: 60e6},
					} {
						if got := diskFacts(t, n, day, id); got != want {
							t.Errorf("the record says %+v; want %+v", got, want)
						}
					}
				})
			}
		}
	}
}

// The clock is 30 days ahead for less than a second: a fold begins in it, and no
// other look falls into it. The days after become final all the same.
func TestFinalBefore_AfterAMoment(t *testing.T) {
	for _, rate := range []float64{0, 1} {
		c := running(morning)
		c.rate = rate
		n := start(t, onSQLite(t), c, nil)
		n.register(t, 1, morning)
		n.runs(t, c, 30, nothing)
		c.pass(30 * 24 * time.Hour)
		n.must(t, n.Fold)
		c.pass(-30 * 24 * time.Hour)
		n.runs(t, c, 15, nothing)
		n.final(t, beacon.DayOf(morning), true)
		n.toTheEnd(t, c, nothing)
	}
}

// Who followed the journals while the clock was ahead, and not since, has not
// followed them up to now.
func TestFinalBefore_FollowedAhead(t *testing.T) {
	c := &testClock{at: evening}
	n := start(t, onSQLite(t), c, nil)
	n.register(t, 1, evening)
	n.must(t, n.Fold)
	c.pass(24 * time.Hour)
	n.must(t, n.follower.CatchUp)
	c.set(midnight.Add(6 * time.Minute))
	n.must(t, n.Fold)
	n.final(t, beacon.DayOf(evening), true) // as before
	n.step(t, c, 7*time.Minute)
	n.final(t, beacon.DayOf(midnight), true)
}

// No day begins for anyone while the clock is ahead for a moment.
func TestRefresh_ClockAhead(t *testing.T) {
	c := running(evening)
	n := start(t, onSQLite(t), c, nil)
	id := n.register(t, 1, evening)[0]
	n.runs(t, c, 15, func(m int) { n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: uint64(m)}) })
	c.pass(30 * 24 * time.Hour)
	n.must(t, n.Refresh)
	if days := n.fleet.Days(id); slices.Max(days) > beacon.DayOf(evening) {
		t.Errorf("%d days began", len(days)-1)
	}
	n.runs(t, c, 15, nothing) // it was right
	if days := n.fleet.Days(id); slices.Max(days) <= beacon.DayOf(evening) {
		t.Error("no day began")
	}
}

// A span of a clock that was ahead says nothing about when a server was last up.
func TestDeletedSince_SpanOfTheFuture(t *testing.T) {
	c := &testClock{at: evening}
	n := start(t, onSQLite(t), c, nil)
	last := evening.Add(-4 * 24 * time.Hour)
	for _, up := range []time.Time{last, evening.Add(time.Hour)} {
		at := int64(beacon.MinuteOf(up))
		if err := n.db.Clocks.ExtendSpan(t.Context(), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if since, err := n.DeletedSince(t.Context()); err != nil || !since.Equal(last.Add(-beacon.KeepPast)) {
		t.Errorf("DeletedSince = %v, %v", since, err)
	}
}

// In the first ten minutes of a process nothing is decided for good; but beats are
// taken and written, and answers know them.
func TestFold_BeforeTheClockIsBelieved(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := running(morning)
		n := start(t, open, c, nil)
		id, day := n.register(t, 1, morning)[0], beacon.DayOf(morning)
		beats := func(int) {
			n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: uint64(c.now().Sub(morning)), Bytes: uint64(c.now().Sub(morning) / time.Second)})
		}
		n.runs(t, c, 10, beats)
		c.run(-time.Second) // 9:09:59
		n.works(t)
		n.must(t, n.Fold)
		n.final(t, 0, false)
		if got := diskFacts(t, n, day, id); got != (beacon.Facts{}) {
			t.Errorf("decided at once: %+v", got)
		}
		if _, bytes := onDisk(t, n, id, morning); bytes != 9*60 {
			t.Errorf("%d bytes are written", bytes)
		}
		sofar := beacon.Facts{Served: 10, Expected: 10, Outside: 540, Bytes: 9 * 60}
		if diff := cmp.Diff(map[beacon.HotspotID]beacon.Facts{id: sofar}, n.facts(t, day, id)); diff != "" {
			t.Errorf("Facts (-want +got): %s", diff)
		}
		if m := n.metrics(t, id, c.now()); m.Uptime30d != 10_000 || m.Bytes24h != 9*60 {
			t.Errorf("metrics = %+v", m)
		}
		if rows := journalRows(t, n); rows != 0 { // it is trimmed as ever
			t.Errorf("the journal has %d rows", rows)
		}
		c.run(time.Second)
		n.must(t, n.Fold)
		n.final(t, day, true)
		want := beacon.Facts{Served: 8, Expected: 8, Outside: 540, Bytes: 9 * 60}
		if got := diskFacts(t, n, day, id); got != want {
			t.Errorf("the record says %+v; want %+v", got, want)
		}
	})
}

// Beats that come while the clock is wrong are taken, and what they say was
// carried is not lost: not even if the device boots anew, and the server dies.
func TestClock_BeatsWhileItIsWrong(t *testing.T) {
	for _, glitch := range []time.Duration{20 * time.Minute, 24 * time.Hour, 30 * 24 * time.Hour} {
		for _, dies := range []bool{false, true} {
			c, open := running(evening), onSQLite(t)
			n := start(t, open, c, nil)
			n.upFor(t, 6)
			id := n.register(t, 1, evening)[0]
			n.runs(t, c, 31, func(m int) { n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: uint64(m), Bytes: uint64(m) * 1e6}) })
			c.pass(glitch)
			taken := make(chan error)
			go func() { taken <- n.try(t.Context(), id, beacon.Heartbeat{Boot: 1, Seq: 100, Bytes: 100e6}) }()
			n.must(t, n.Fold) // it may wait for this one
			n.works(t)
			if err := <-taken; err != nil {
				t.Fatal(err)
			}
			c.pass(-glitch)
			n.works(t)
			if dies {
				n.stop()
				n = start(t, open, c, nil)
			}
			n.toTheEnd(t, c, func(m int) { n.beat(t, id, beacon.Heartbeat{Boot: 2, Seq: uint64(m), Bytes: uint64(m) * 1e6}) })
			got := diskFacts(t, n, beacon.DayOf(morning), id)
			if want := uint64(100+60-31-1) * 1e6; got.Served != 60 || got.Expected != 60 || got.Bytes != want {
				t.Errorf("%s ahead, dies %v: %+v; want %d bytes", glitch, dies, got, want)
			}
		}
	}
}

// The clock is ahead twice by the same, and the second time until after midnight. What
// the first time has left of days that have not come is no reason to forget today.
func TestClock_AheadTwice(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		const glitch = 30 * 24 * time.Hour
		c := running(evening)
		c.witnessed = true
		n := start(t, open, c, nil)
		n.upFor(t, 6)
		id := n.register(t, 1, evening)[0]
		seq := uint64(0)
		beats := func(int) {
			seq++
			n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 1e6})
		}
		ahead := func(minutes int) {
			c.pass(glitch)
			n.must(t, n.Fold) // beats wait for it
			n.runs(t, c, minutes, beats)
			if before, _ := n.FinalBefore(); before > beacon.DayOf(morning) {
				if got := diskFacts(t, n, beacon.DayOf(morning), id); got.Expected+got.Excused != 60 {
					t.Errorf("the day is final, and its record says %+v", got)
				}
			}
			c.pass(-glitch)
		}
		n.runs(t, c, 16, beats)
		ahead(6)
		n.runs(t, c, 16, beats)
		ahead(60)
		n.runs(t, c, 16, nothing)
		n.final(t, beacon.DayOf(midnight), true)
		got := diskFacts(t, n, beacon.DayOf(morning), id)
		if got.Expected+got.Excused != 60 || got.Served != got.Expected || got.Expected < 16+16-6 {
			t.Errorf("the record says %+v", got)
		}
		if today := diskFacts(t, n, beacon.DayOf(midnight), id); got.Bytes+today.Bytes != seq*1e6 {
			t.Errorf("the records say %+v and %+v; %d beats were acknowledged", got, today, seq)
		}
	})
}

// A server starts on a clock that is a day behind, or knows no better than 1970,
// or it goes back to that; and it is set right. All that was acknowledged before
// is there, in records or in the journal alone.
func TestClock_BehindForAWhile(t *testing.T) {
	for _, by := range []time.Duration{24 * time.Hour, evening.Sub(time.Unix(0, 0))} {
		for _, behind := range []int{2, 5, 15} { // minutes
			for _, dies := range []bool{false, true} {
				c, open := running(evening), onSQLite(t)
				n := start(t, open, c, nil)
				n.upFor(t, 6)
				ids := n.register(t, 2, evening)
				n.runs(t, c, 33, func(m int) {
					n.beat(t, ids[0], beacon.Heartbeat{Boot: 1, Seq: uint64(m), Bytes: uint64(m) * 1e6})
					if m < 10 { // long in a record
						n.beat(t, ids[1], beacon.Heartbeat{Boot: 1, Seq: uint64(m), Bytes: uint64(m) * 1e6})
					}
				})
				n.works(t)
				if dies {
					n.stop()
				}
				c.pass(-by)
				if dies {
					n = start(t, open, c, nil)
				}
				n.must(t, n.Fold)
				n.runs(t, c, behind, nothing)
				n.must(t, n.Fold)
				c.pass(by)
				n.works(t)
				n.must(t, n.Fold)
				n.beat(t, ids[1], beacon.Heartbeat{Boot: 1, Seq: 100, Bytes: 100e6})
				n.toTheEnd(t, c, nothing)
				one, two := diskFacts(t, n, beacon.DayOf(morning), ids[0]), diskFacts(t, n, beacon.DayOf(morning), ids[1])
				if one.Served != 34 || one.Bytes != 32e6 || one.Outside != 1380 || one.Excused > behind+4 {
					t.Errorf("by %s for %d minutes, dies %v: %+v", by, behind, dies, one)
				}
				if two.Served < 13 || two.Served > 17 || two.Bytes != 100e6 || two.Outside != 1380 {
					t.Errorf("by %s for %d minutes, dies %v, fell silent before: %+v", by, behind, dies, two)
				}
			}
		}
	}
}

// A clock that runs off all the time is never believed: nothing is decided, and
// beats are taken.
func TestFold_ClockRunsOff(t *testing.T) {
	c := running(evening)
	n := start(t, onSQLite(t), c, nil)
	id := n.register(t, 1, evening)[0]
	n.runs(t, c, 6*60, func(m int) {
		n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: uint64(m), Bytes: uint64(m)})
		c.pass(6 * time.Minute)
	})
	n.final(t, 0, false)
	if got := diskFacts(t, n, beacon.DayOf(morning), id); got.Expected != 0 {
		t.Errorf("decided: %+v", got)
	}
	if _, bytes := onDisk(t, n, id, c.now()); bytes == 0 {
		t.Error("nothing is written")
	}
}

// A server of which the clock was weeks ahead starts again, on one that is right
// and not believed yet.
func TestClock_RecordsOfTheFutureWithARate(t *testing.T) {
	open, c := onSQLite(t), running(evening.Add(40*24*time.Hour))
	n := start(t, open, c, nil)
	id := n.register(t, 1, evening)[0]
	n.runs(t, c, 22, func(m int) { n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: uint64(m + 1), Bytes: uint64(m+1) * 1e6}) })
	n.stop()
	c.set(evening)
	n = start(t, open, c, nil)
	if seen := n.metrics(t, id, c.now()).Seen; seen.After(c.now()) {
		t.Errorf("last seen %v, before it is %v", seen, c.now())
	}
	n.toTheEnd(t, c, func(m int) {
		n.beat(t, id, beacon.Heartbeat{Boot: 2, Seq: uint64(m + 1), Bytes: uint64(m+1) * 1e6})
		if seen := n.metrics(t, id, c.now()).Seen; seen.After(c.now()) {
			t.Fatalf("last seen %v, before it is %v", seen, c.now())
		}
	})
	got := diskFacts(t, n, beacon.DayOf(morning), id)
	if got.Served != 60 || got.Expected != 60 || got.Bytes < 60e6 || got.Bytes > 82e6 {
		t.Errorf("the record says %+v", got)
	}
	hotspot, _ := n.fleet.Find(id)
	c.run(time.Hour)
	if status := hotspot.StatusAt(c.now()); status != beacon.Offline {
		t.Errorf("an hour after the last beat it is %s", status)
	}
}
