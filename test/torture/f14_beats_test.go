//go:build linux

package torture_test

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestF14_Thrice sends beats three times and more, some of them late and
// in another order, to two servers. The day is closed with the minutes and the
// bytes of a generator that knows when each beat first arrived: no beat counts
// twice. Time stands still while devices beat, so that they know that for sure.
func TestF14_Thrice(t *testing.T) {
	t.Parallel() // it mostly waits
	seed := level.Seed(t)
	db := storetest.Postgres(t)
	admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	clock := newHeldClock(t, time.Date(2026, 10, 31, 23, 25, 0, 0, time.UTC), 1200)
	clock.hold(t, clock.At)
	servers := []*harness.Server{clock.Start(t, db, clock.Flags()...), clock.Start(t, db, clock.Flags()...)}
	var all []*thrice
	for i, d := range harness.LinkDevices(t, admin, servers[0], 0, 12) {
		all = append(all, &thrice{
			Diary: &harness.Diary{Device: d, Active: harness.MinuteOf(clock.Now()), Chance: []float64{0.9, 0.4, 0.15}[i%3]}, servers: servers,
			random: rand.New(rand.NewPCG(seed, uint64(i))), heard: map[uint64]bool{},
		})
	}
	until := time.Date(2026, 10, 31, 23, 58, 0, 0, time.UTC)
	for minute := 1; clock.Now().Before(until); minute++ {
		quiet := clock.Now().After(until.Add(-12 * time.Minute))
		var beating sync.WaitGroup
		for _, d := range all {
			beating.Go(func() { d.beat(t, admin, quiet) })
		}
		beating.Wait()
		if t.Failed() {
			t.FailNow()
		}
		if clock.hold(t, clock.Now().Add(time.Minute)); minute%5 == 0 {
			clock.passFold(t, servers[0]) // it looks for days to close in the same rhythm
		}
	}
	clock.goOn(t)
	tables := harness.OpenSQL(t, db)
	harness.Eventually(t, "the day is closed", func() bool {
		return audit.Number(t, tables, `SELECT count(*) FROM reward_days WHERE closed_at <> 0`) > 0
	})
	sent, served := 0, int64(0)
	for _, d := range all {
		for _, s := range servers {
			served += d.check(t, admin, s)
		}
		sent += d.sent
	}
	if audit.Audit(t, tables); served == 0 || sent < 3*len(all) {
		t.Error("too little is known to prove anything")
	}
	t.Logf("%d beats were sent, in %d minutes of service", sent, served/int64(len(servers)))
}

// thrice is a device that sends beats three times and more.
type thrice struct {
	*harness.Diary
	random  *rand.Rand
	servers []*harness.Server
	heard   map[uint64]bool  // the beats that have come
	past    []harness.Fields // beats that were sent twice
	sent    int
}

// beat sends what a device sends in a minute, some time before midnight.
func (d *thrice) beat(t *testing.T, c *harness.Client, quiet bool) {
	silent := d.Chance < 0.5 && quiet // it has nothing new to say, and says it all the same
	if len(d.Heard) == 0 || !silent && d.random.Float64() < d.Chance {
		d.beatTwice(t, c)
	}
	d.repeatOld(t, c, silent)
}

// beatTwice sends one or two new beats, in any order, and each to both servers.
func (d *thrice) beatTwice(t *testing.T, c *harness.Client) {
	bodies := []harness.Fields{d.Next()}
	if d.random.IntN(3) == 0 {
		bodies = append(bodies, d.Next())
		slices.Reverse(bodies)
	}
	first := d.random.IntN(2)
	for _, body := range bodies {
		d.deliver(t, c, body, first)
	}
	for _, body := range bodies { // the other may not have heard of it yet
		d.deliver(t, c, body, 1-first)
	}
	d.Acked = d.Bytes
	d.past = append(d.past, bodies...)
}

// repeatOld sends beats once more, often long after: they say nothing about now.
func (d *thrice) repeatOld(t *testing.T, c *harness.Client, all bool) {
	if len(d.past) < 4 && !all {
		return
	}
	d.random.Shuffle(len(d.past), func(i, k int) { d.past[i], d.past[k] = d.past[k], d.past[i] })
	again := d.past
	if !all {
		again, d.past = d.past[:2], d.past[2:]
	}
	for _, body := range again {
		d.deliver(t, c, body, d.random.IntN(2))
	}
}

// deliver sends a beat, and notes when it was first heard.
func (d *thrice) deliver(t *testing.T, c *harness.Client, body harness.Fields, server int) {
	a := d.Send(t.Context(), c, d.servers[server], body)
	d.sent++
	if a.Status != http.StatusOK {
		t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
		return
	}
	if seq := body["seq"].(uint64); !d.heard[seq] {
		d.heard[seq] = true
		d.Note(harness.MinuteOf(a.At), harness.MinuteOf(a.At), true)
	}
}

// check compares the closed day with what the device remembers, and returns the
// minutes in which it served.
func (d *thrice) check(t *testing.T, c *harness.Client, s *harness.Server) (served int64) {
	t.Helper()
	e, _, _ := audit.Fetch[audit.Explanation](t, c, s.URL+"/v1/hotspots/"+d.Hotspot+"/rewards/explain?date=2026-10-31")
	served = servedBefore(d.Diary, endOfOctober)
	f, expected := e.Facts, int64(harness.MinuteOf(endOfOctober)-d.Active)
	if f.Served != served || f.Expected != expected || f.Bytes != d.Totals().Sent || e.Open || f.Excused != 0 {
		t.Errorf("%s: the day is %+v; want %d of %d minutes served, and %d bytes", d.SSID, f, served, expected, d.Totals().Sent)
	}
	return served
}

// servedBefore counts the minutes before a moment in which a device served. All of
// them are sure: the clock stood still whenever it was heard.
func servedBefore(d *harness.Diary, end time.Time) (n int64) {
	served := d.Served().Surely
	for m := d.Active; m < harness.MinuteOf(end); m++ {
		if served[m] {
			n++
		}
	}
	return n
}
