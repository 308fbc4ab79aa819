package telemetry_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// fast is a speed test of a premium hotspot.
var fast = beacon.SpeedTest{DownMbps: 200, UpMbps: 30, LatencyMs: 9}

// The service is down for longer than a day. Each day that it was down from end to end has
// a record of each hotspot in service, with its tier, whenever the outage began and whether
// or not the hotspot is heard before the day is final.
func TestFinalBefore_WholeDaysDown(t *testing.T) {
	const day = 24 * time.Hour
	type down struct{ from, long time.Duration }
	outages := map[string]down{
		"40 h from 20:00":    {20 * time.Hour, 40 * time.Hour},
		"40 h from 10:00":    {10 * time.Hour, 40 * time.Hour},
		"48 h from 06:00":    {6 * time.Hour, 48 * time.Hour},
		"48 h from midnight": {day, 48 * time.Hour},
		"25 h from 23:59":    {day - time.Minute, 25 * time.Hour},
		"six days":           {13 * time.Hour, 6 * day},
		"31 days":            {10 * time.Hour, 31 * day},
		"three months":       {10 * time.Hour, 92 * day},
	}
	random := rand.New(rand.NewPCG(level.Seed(t), 361))
	for n := range level.Rounds(2, 4, 30) { // begun and ended at any hour
		outages[fmt.Sprintf("at random %d", n)] = down{time.Duration(random.Int64N(int64(day))), 2*day + time.Duration(random.Int64N(int64(4*day)))}
	}
	for name, down := range outages {
		for _, heard := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				onBoth(t, func(t *testing.T, open database) { wholeDaysDown(t, open, down.from, down.long, heard) })
			})
		}
	}
}

func wholeDaysDown(t *testing.T, open database, from, long time.Duration, heard bool) {
	const day = 24 * time.Hour
	midnight := morning.Truncate(day)
	c := &testClock{at: midnight.Add(from - 30*time.Minute)}
	n := start(t, open, c, nil)
	id := n.register(t, 1, c.now())[0]
	silent := n.register(t, 1, c.now())[0]
	for seq := range uint64(30) {
		n.must(t, n.Mark)
		n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: seq + 1, Bytes: seq, Test: fast})
		if seq%5 == 0 {
			n.must(t, n.Fold)
		}
		c.pass(time.Minute)
	}
	fresh := n.register(t, 1, c.now())[0] // nobody folds before the outage
	n.stop()
	c.set(midnight.Add(from + long))
	n = start(t, open, c, nil)
	n.must(t, n.Mark)
	if heard {
		n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 31, Bytes: 100})
	}
	c.pass(10 * time.Minute)
	n.must(t, n.Mark)
	n.must(t, n.follower.CatchUp)
	n.must(t, n.Fold)
	today := beacon.DayOf(c.now())
	n.final(t, today, true)
	first := beacon.DayOf(midnight.Add(from + day - 1))
	for d := first; d < today; d++ {
		if got, want := diskFacts(t, n, d, id), (beacon.Facts{Excused: 1440, Tier: beacon.Premium}); got != want {
			t.Fatalf("of %v the record says %+v; want %+v", d, got, want)
		}
		for _, id := range []beacon.HotspotID{silent, fresh} {
			if got, want := diskFacts(t, n, d, id), (beacon.Facts{Excused: 1440}); got != want {
				t.Fatalf("of %v the record of one that was never heard says %+v; want %+v", d, got, want)
			}
		}
	}
	if first == today {
		t.Error("no day is examined")
	}
}

// A server is off for six days, and staff say what day it is. What was decided before is not
// changed, and all days are there.
func TestFinalBefore_StaffConfirmTheDate(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := running(morning)
		c.witnessed = true
		n := start(t, open, c, nil)
		id := n.register(t, 1, morning)[0]
		seq := uint64(0)
		beats := func(int) {
			seq++
			n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 1e6, Test: fast})
		}
		n.runs(t, c, 30, beats)
		n.stop()
		c.run(6 * 24 * time.Hour)
		n = start(t, open, c, nil)
		n.runs(t, c, 30, beats)
		day := beacon.DayOf(morning)
		if before, known := n.FinalBefore(); known && before > day {
			t.Fatalf("days before %v are final before anyone has said what day it is", before)
		}
		if err := n.db.Clocks.ConfirmClock(t.Context(), c.now(), beacon.Actor{Request: "test"}, c.now()); err != nil {
			t.Fatal(err)
		}
		n.runs(t, c, 90, beats)
		n.final(t, day+6, true)
		for d := day + 1; d < day+6; d++ {
			if got, want := diskFacts(t, n, d, id), (beacon.Facts{Excused: 1440, Tier: beacon.Premium}); got != want {
				t.Errorf("of %v the record says %+v; want %+v", d, got, want)
			}
		}
	})
}
