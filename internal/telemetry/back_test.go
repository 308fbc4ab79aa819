package telemetry_test

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// A clock is ahead for so long that a day becomes final, and is set right before the day
// is closed. The beats that are taken from then on count, whatever the server gets to do
// before it folds again, and so does all that was before.
func TestClock_BackIntoAFinalDay(t *testing.T) {
	for name, notice := range map[string]func(t *testing.T, n *node){
		"nobody looks":   func(*testing.T, *node) {},
		"it is marked":   func(t *testing.T, n *node) { n.must(t, n.Mark) },
		"it is noticed":  func(t *testing.T, n *node) { n.must(t, n.Refresh) },
		"it is followed": func(t *testing.T, n *node) { n.must(t, n.follower.CatchUp) },
		"it is folded":   func(t *testing.T, n *node) { n.must(t, n.Fold) },
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, open database) { testBackIntoAFinalDay(t, open, notice) })
		})
	}
}

func testBackIntoAFinalDay(t *testing.T, open database, notice func(*testing.T, *node)) {
	c, day := running(evening), beacon.DayOf(evening)
	n := start(t, open, c, nil)
	n.upFor(t, 6)
	ids := n.register(t, 2, evening)
	always, later := ids[0], ids[1]
	beats := func(of beacon.HotspotID) func(int) {
		seq := uint64(0)
		return func(int) {
			seq++
			n.beat(t, of, beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 1e6})
		}
	}
	one, two := beats(always), beats(later)
	n.runs(t, c, 15, one)
	c.pass(time.Hour)
	n.runs(t, c, 20, one) // nobody minds
	n.final(t, day+1, true)
	c.pass(-time.Hour - 20*time.Minute)
	notice(t, n)
	for m := range 10 { // it takes long until it folds
		one(m)
		two(m)
		n.must(t, n.Mark)
		n.must(t, n.Refresh) // it looks every second, but not before the first beat
		c.run(time.Minute)
	}
	n.toTheEnd(t, c, one)
	want := beacon.Facts{Served: 60, Expected: 60, Outside: 1380, Bytes: 80e6}
	if got := diskFacts(t, n, day, always); got != want {
		t.Errorf("the record of the day says %+v; want %+v", got, want)
	}
	want.Served, want.Bytes = 13, 10e6
	if got := diskFacts(t, n, day, later); got != want {
		t.Errorf("of a hotspot that was heard only once the clock was right, it says %+v; want %+v", got, want)
	}
}

// The clock is set back while a fold by the old time is under way, between two groups of
// hotspots. What memory has forgotten meanwhile is still in the records.
func TestClock_BackWhileFolding(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c, f, day := running(evening), &faulty{}, beacon.DayOf(evening)
		n := start(t, open, c, func(s Store) Store { f.Store = s; return f })
		n.upFor(t, 6)
		ids := n.register(t, telemetry.HotspotsAtATime+1, evening)
		last := slices.Max(ids)
		seq := uint64(0)
		beat := func(int) {
			seq++
			n.beat(t, last, beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 1e6})
		}
		n.runs(t, c, 15, beat)
		c.pass(time.Hour)
		n.runs(t, c, 20, beat)
		n.final(t, day+1, true)
		var beating errgroup.Group
		for _, id := range ids { // so that all are folded
			beating.Go(func() error { return n.try(t.Context(), id, beacon.Heartbeat{Boot: 2, Seq: 1}) })
		}
		if err := beating.Wait(); err != nil {
			t.Fatal(err)
		}
		f.putRecords = func(next func() error) error {
			f.putRecords = nil
			c.pass(-time.Hour - 20*time.Minute)
			n.works(t)
			beat(0)
			return next()
		}
		if err := n.Fold(t.Context()); err == nil {
			t.Error("the fold succeeded")
		}
		n.toTheEnd(t, c, beat)
		if got := diskFacts(t, n, day, last); got.Served != 60 || got.Expected != 60 || got.Bytes != (15+20+1+45)*1e6 {
			t.Errorf("the record of the day says %+v", got)
		}
	})
}

// A hotspot is linked while the clock is days ahead. Once the clock is right, it is in
// service from then on, on every server and after a restart; what others did before stays.
func TestClock_LinkedWhileAhead(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c, day := running(evening), beacon.DayOf(evening)
		n := start(t, open, c, nil)
		n.upFor(t, 6)
		before := n.register(t, 1, evening)[0]
		n.runs(t, c, 15, nothing)
		c.pass(3 * 24 * time.Hour)
		n.must(t, n.Fold)
		linked := n.register(t, 1, c.now().Add(time.Minute))[0]
		seq := uint64(0)
		beat := func(int) {
			seq++
			n.beat(t, linked, beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 1e6})
		}
		n.runs(t, c, 15, beat)
		c.pass(-3 * 24 * time.Hour)
		n.must(t, n.Fold)
		n.toTheEnd(t, c, beat)
		want := beacon.Facts{Served: 30, Expected: 30, Outside: 1410, Bytes: 45e6}
		got := diskFacts(t, n, day, linked)
		got.Served, got.Expected, got.Excused = got.Served+got.Excused, got.Expected+got.Excused, 0
		if got != want {
			t.Errorf("the record of the day says %+v; want %+v", got, want)
		}
		for id, since := range map[beacon.HotspotID]time.Time{before: evening, linked: evening.Add(30 * time.Minute)} {
			h, err := n.db.Hotspots.Hotspot(t.Context(), id)
			if err != nil || !h.ActiveSince().Equal(since) {
				t.Errorf("in service since %s, %v; want %s", h.ActiveSince(), err, since)
			}
		}
	})
}

// A shop closes while the clock is ahead, and its device boots twice. Once the clock is
// right, all that it carried since it was last heard by the right clock is paid, whatever
// notices first that the clock is right: the heartbeat, or the server in the same minute.
func TestClock_WhateverNoticesFirst(t *testing.T) {
	for name, notice := range map[string]func(t *testing.T, n *node){
		"the heartbeat": func(*testing.T, *node) {},
		"a mark":        func(t *testing.T, n *node) { n.must(t, n.Mark) },
		"a refresh":     func(t *testing.T, n *node) { n.must(t, n.Refresh) },
		"the follower":  func(t *testing.T, n *node) { n.must(t, n.follower.CatchUp) },
		"a fold":        func(t *testing.T, n *node) { n.must(t, n.Fold) },
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, open database) { testWhateverNotices(t, open, notice) })
		})
	}
}

func testWhateverNotices(t *testing.T, open database, notice func(*testing.T, *node)) {
	before := evening.Add(-20 * time.Minute)
	c, day := running(before), beacon.DayOf(before)
	n := start(t, open, c, nil)
	n.upFor(t, 6)
	shop := n.shop(t, before, 18)
	seq := uint64(0)
	beat := func(boot uint64) func(int) {
		return func(int) {
			seq++
			n.beat(t, shop, beacon.Heartbeat{Boot: boot, Seq: seq, Bytes: seq * 1e6})
		}
	}
	n.runs(t, c, 15, beat(1))
	c.pass(3 * 24 * time.Hour)
	n.must(t, n.Fold)
	n.runs(t, c, 4, beat(1))
	seq = 0
	n.runs(t, c, 4, beat(2)) // it closes in between
	c.pass(-3 * 24 * time.Hour)
	notice(t, n)
	seq = 0
	beat(3)(0)
	n.toTheEnd(t, c, nothing)
	if got := diskFacts(t, n, day, shop); got.Bytes != (19+4+1)*1e6 {
		t.Errorf("the record of the day says %+v; want %d bytes", got, (19+4+1)*1_000_000)
	}
}

// shop registers a hotspot that closes some minutes after a time, each day.
func (n *node) shop(t testing.TB, since time.Time, minutes int) beacon.HotspotID {
	t.Helper()
	id := n.register(t, 1, since)[0]
	n.edit(t, id, func(h *beacon.Hotspot) {
		h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC", Weekly: []beacon.WeeklySpan{{
			Days: []beacon.Weekday{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, Open: 6 * 60, Close: since.Hour()*60 + since.Minute() + minutes,
		}}}
	})
	return id
}

// The clock is ahead twice, the second time by less. What was linked meanwhile is in
// service once the clock is right, the second time as the first.
func TestClock_LinkedWhileAheadAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c, day := running(evening), beacon.DayOf(evening)
		n := start(t, open, c, nil)
		n.upFor(t, 6)
		n.runs(t, c, 10, nothing)
		var linked beacon.HotspotID
		for _, ahead := range []time.Duration{365 * 24 * time.Hour, 3 * 24 * time.Hour} {
			c.pass(ahead)
			n.must(t, n.Fold)
			linked = n.register(t, 1, c.now())[0]
			n.runs(t, c, 5, nothing)
			c.pass(-ahead)
			n.must(t, n.Fold)
			n.runs(t, c, 15, nothing)
		}
		seq := uint64(0)
		n.toTheEnd(t, c, func(int) {
			seq++
			n.beat(t, linked, beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 1e6})
		})
		if got := diskFacts(t, n, day, linked); got.Served != 10 || got.Bytes != 10e6 {
			t.Errorf("the record of the day says %+v; want 10 minutes served", got)
		}
	})
}

// The clock is ahead twice, the second time by less and for long. A hotspot that was linked
// the first time is changed the second time: its last change has not come by any clock. That
// does not keep another, linked the second time, from being in service once the clock is right.
func TestClock_LinkedWhileAheadForLong(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := running(evening)
		c.witnessed = true
		n := start(t, open, c, nil)
		n.upFor(t, 6)
		n.runs(t, c, 10, nothing)
		var linked []beacon.HotspotID
		for _, ahead := range []time.Duration{365 * 24 * time.Hour, 3 * 24 * time.Hour} {
			c.pass(ahead)
			linked = append(linked, n.register(t, 1, c.now())...)
			n.edit(t, linked[0], func(h *beacon.Hotspot) { h.Settings.CoverageRadiusM++ })
			n.runs(t, c, 15, nothing)
			c.pass(-ahead)
			n.runs(t, c, 15, nothing)
		}
		for i, since := range []time.Time{evening.Add(25 * time.Minute), evening.Add(55 * time.Minute)} {
			h, err := n.db.Hotspots.Hotspot(t.Context(), linked[i])
			if err != nil || !h.ActiveSince().Equal(since) {
				t.Errorf("hotspot %d is in service since %s, %v; want %s", i, h.ActiveSince(), err, since)
			}
		}
	})
}

// The service counts as up from the moment at which it is noticed that the clock was set
// back, not from the record of it a little later: a hotspot that is heard in between is
// heard while the service is up.
func TestClock_UpSinceItIsNoticed(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := running(evening.Add(59 * time.Second))
		n := start(t, open, c, nil)
		n.upFor(t, 6)
		hotspot := n.register(t, 1, evening)[0]
		n.runs(t, c, 15, nothing)
		c.pass(24 * time.Hour)
		n.must(t, n.Fold)
		n.runs(t, c, 5, nothing)
		c.pass(-24 * time.Hour)
		noticed := int64(beacon.MinuteOf(c.now()))
		n.beat(t, hotspot, beacon.Heartbeat{Boot: 1, Seq: 1})
		c.run(2 * time.Second)
		n.must(t, n.Mark)
		spans, err := n.db.Clocks.Spans(t.Context(), noticed)
		if err != nil || !slices.Contains(spans, beacon.ServiceSpan{From: noticed, To: noticed + 1}) {
			t.Errorf("the service was up in %v, %v; want from minute %d on", spans, err, noticed)
		}
	})
}

// The clock is a day ahead and right again. What it recorded of the next day is forgotten:
// when that day comes, nothing of it is a fact. What was carried is paid, even if the server
// is killed while the clock is ahead.
func TestClock_NoFactOfADayThatHasNotCome(t *testing.T) {
	for name, killed := range map[string]bool{"it runs on": false, "it is killed": true} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, open database) { testNoFactOfTomorrow(t, open, killed) })
		})
	}
}

func testNoFactOfTomorrow(t *testing.T, open database, killed bool) {
	c, day := running(evening), beacon.DayOf(evening)
	c.witnessed = true
	start := func() *node { return start(t, open, c, nil) }
	n := start()
	n.upFor(t, 6)
	hotspot := n.register(t, 1, evening)[0]
	beat := func(boot uint64) func(int) {
		seq := uint64(0)
		return func(int) {
			seq++
			n.beat(t, hotspot, beacon.Heartbeat{Boot: boot, Seq: seq, Bytes: seq * 1e6})
		}
	}
	n.runs(t, c, 10, beat(1))
	c.pass(24 * time.Hour)
	n.must(t, n.Fold)
	n.runs(t, c, 9, beat(2))
	n.must(t, n.Fold)
	n.must(t, n.Fold) // by now the journal is trimmed
	if killed {
		n.stop()
	}
	c.pass(-24 * time.Hour)
	if killed {
		n = start()
	}
	n.runs(t, c, 15, beat(3))
	if rows, err := n.db.Records.Records(t.Context(), day+1, []beacon.HotspotID{hotspot}); err != nil || len(rows) > 0 {
		t.Errorf("there is a record of tomorrow, %v", err)
	}
	n.toTheEnd(t, c, nothing)
	if got := diskFacts(t, n, day, hotspot); got.Bytes != (10+9+15)*1e6 {
		t.Errorf("the record of the day says %+v; want %d bytes", got, (10+9+15)*1_000_000)
	}
}

// The clock is a day ahead over midnight: by it the hotspot was heard on the new day, and
// the old day becomes final. What a shop that has closed meanwhile carried since it was
// last heard by the right clock is paid, even if the server is killed before the clock is
// right.
func TestClock_AheadOverMidnight(t *testing.T) {
	for name, tc := range map[string]struct{ killed, boots bool }{
		"it runs on":                         {false, false},
		"it runs on, and the device boots":   {false, true},
		"it is killed":                       {true, false},
		"it is killed, and the device boots": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, open database) { testAheadOverMidnight(t, open, tc.killed, tc.boots) })
		})
	}
}

func testAheadOverMidnight(t *testing.T, open database, killed, boots bool) {
	before := midnight.Add(-40 * time.Minute)
	c, day := running(before), beacon.DayOf(midnight)
	c.witnessed = true
	start := func() *node { return start(t, open, c, nil) }
	n := start()
	n.upFor(t, 6)
	shop := n.shop(t, before, 30)
	boot, seq := uint64(1), uint64(0)
	beat := func(int) {
		seq++
		n.beat(t, shop, beacon.Heartbeat{Boot: boot, Seq: seq, Bytes: seq * 1e6})
	}
	n.runs(t, c, 20, beat)
	c.pass(24 * time.Hour)
	n.must(t, n.Fold)
	n.runs(t, c, 35, beat) // it closes, and the day ends
	n.final(t, day, true)
	if killed {
		n.stop()
	}
	c.pass(-24 * time.Hour)
	if killed {
		n = start()
	}
	if boots {
		boot, seq = 2, 0
	}
	n.runs(t, c, 15, beat) // the first of these is like the moment at which the clock is right
	for of, want := range map[beacon.Day]uint64{day - 1: 20e6, day: 36e6} {
		if got := diskFacts(t, n, of, shop); got.Bytes != want {
			t.Errorf("the record of %s says %+v; want %d bytes", of, got, want)
		}
	}
}
