//go:build linux

package torture_test

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/rig/books"
	"github.com/beacon-wifi/beacon/store/storetest"
)

// TestF14_Thrice sends beats three times and more, some of them late and
// in another order, to two servers. The day is closed with the minutes and the
// bytes of a generator that knows when each beat first arrived: no beat counts
// twice.
func TestF14_Thrice(t *testing.T) {
	t.Parallel() // it mostly waits
	db := storetest.Postgres(t)
	admin := rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
	clock := rig.NewClock(time.Date(2026, 10, 31, 23, 40, 0, 0, time.UTC), thriceRate)
	flags := clock.Flags()
	servers := []*rig.Server{rig.Start(t, db, flags...)}
	flags = clock.Flags() // some moments later
	servers = append(servers, rig.Start(t, db, flags...))
	var all []*thrice
	for i, d := range rig.LinkDevices(t, admin, servers[0], 0, 12) {
		h := admin.Ask(t, http.MethodGet, servers[0].URL+"/v1/hotspots/"+d.Hotspot, nil)
		linked, err := time.Parse(time.RFC3339, h["device"].(rig.Fields)["linked_at"].(string))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &thrice{Diary: &rig.Diary{Device: d, Active: rig.MinuteOf(linked), Chance: []float64{0.9, 0.4, 0.15}[i%3]}, servers: servers, first: map[uint64]time.Time{}})
	}
	until := time.Date(2026, 10, 31, 23, 57, 0, 0, time.UTC)
	var beating sync.WaitGroup
	for _, d := range all {
		beating.Go(func() { d.beatUntil(t, admin, clock, until) })
	}
	beating.Wait()
	tables := rig.OpenSQL(t, db)
	rig.Eventually(t, "the day is closed", func() bool {
		return books.Number(t, tables, `SELECT count(*) FROM reward_days WHERE closed_at <> 0`) > 0
	})
	sent, unsure := 0, 0
	for _, d := range all {
		for _, s := range servers {
			unsure += d.check(t, admin, s)
		}
		sent += d.sent
	}
	if books.Audit(t, tables); unsure > sent {
		t.Error("too little is known to prove anything")
	}
	t.Logf("%d beats were sent; of %d minutes it is not known whether they were served", sent, unsure)
}

// thriceRate is how fast the clock runs: two minutes in a second.
const thriceRate = 120

// thrice is a device that sends beats three times and more.
type thrice struct {
	*rig.Diary
	servers []*rig.Server
	first   map[uint64]time.Time // when each beat first came
	past    []rig.Fields         // beats that were sent twice
	sent    int
}

// beatUntil beats in a rhythm, until some time before midnight.
func (d *thrice) beatUntil(t *testing.T, c *rig.Client, clock *rig.Clock, until time.Time) {
	rhythm := time.NewTicker(time.Minute / thriceRate)
	defer rhythm.Stop()
	quiet := until.Add(-8 * time.Minute)
	for clock.Now().Before(until) && !t.Failed() {
		silent := d.Chance < 0.5 && clock.Now().After(quiet) // it has nothing new to say, and says it all the same
		if len(d.Heard) == 0 || !silent && rand.Float64() < d.Chance {
			d.beatTwice(t, c)
		}
		d.repeatOld(t, c, silent)
		<-rhythm.C
	}
	if now := clock.Now(); now.Month() != time.October {
		t.Errorf("it is %v already: this machine is too slow", now)
	}
}

// beatTwice sends one or two new beats, in any order, and each to both servers.
func (d *thrice) beatTwice(t *testing.T, c *rig.Client) {
	bodies := []rig.Fields{d.Next()}
	if rand.IntN(3) == 0 {
		bodies = append(bodies, d.Next())
		slices.Reverse(bodies)
	}
	first := rand.IntN(2)
	for _, body := range bodies {
		d.deliver(t, c, body, first, true)
	}
	for _, body := range bodies { // the other may not have heard of it yet
		d.deliver(t, c, body, 1-first, false)
	}
	d.Acked = d.Bytes
	d.past = append(d.past, bodies...)
}

// repeatOld sends beats once more, often long after: they say nothing about now.
func (d *thrice) repeatOld(t *testing.T, c *rig.Client, all bool) {
	if len(d.past) < 4 && !all {
		return
	}
	rand.Shuffle(len(d.past), func(i, k int) { d.past[i], d.past[k] = d.past[k], d.past[i] })
	again := d.past
	if !all {
		again, d.past = d.past[:2], d.past[2:]
	}
	for _, body := range again {
		d.deliver(t, c, body, rand.IntN(2), false)
	}
}

// deliver sends a beat, and notes when it was heard. Whether a beat that came
// before counts at the time at which it comes again is not known where the other
// server may be a second behind.
func (d *thrice) deliver(t *testing.T, c *rig.Client, body rig.Fields, server int, fresh bool) {
	a := d.Send(t.Context(), c, d.servers[server], body)
	d.sent++
	if a.Status != http.StatusOK {
		t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
		return
	}
	from := rig.MinuteOf(a.At.Add(-a.Took * thriceRate))
	first, known := d.first[body["seq"].(uint64)]
	if !known {
		d.first[body["seq"].(uint64)] = a.At
	}
	if fresh || a.At.Sub(first) < 3*time.Second*thriceRate {
		d.Note(from, rig.MinuteOf(a.At), fresh)
	}
}

// check compares the closed day with what the device remembers.
func (d *thrice) check(t *testing.T, c *rig.Client, s *rig.Server) (unsure int) {
	t.Helper()
	e, _, _ := books.Fetch[books.Explanation](t, c, s.URL+"/v1/hotspots/"+d.Hotspot+"/rewards/explain?date=2026-10-31")
	served := d.Served()
	end := rig.MinuteOf(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	var surely, maybe, expected int64
	for m := d.Active; m < end; m++ {
		expected++
		if served.Surely[m] {
			surely++
		}
		if served.Maybe[m] {
			maybe++
		}
	}
	f := e.Facts
	if f.Served < surely || f.Served > maybe || f.Expected != expected || f.Bytes != d.Totals().Sent || e.Open || f.Excused != 0 {
		t.Errorf("%s: the day is %+v; want %d to %d of %d minutes served, and %d bytes", d.SSID, f, surely, maybe, expected, d.Totals().Sent)
	}
	return int(maybe - surely)
}
