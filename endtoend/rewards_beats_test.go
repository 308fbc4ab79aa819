//go:build linux

package endtoend_test

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/store/storetest"
)

// TestRewardsBeatsThrice sends beats three times and more, some of them late and
// in another order, to two servers. The day is closed with the minutes and the
// bytes of a generator that knows when each beat first arrived: no beat counts
// twice.
func TestRewardsBeatsThrice(t *testing.T) {
	t.Parallel() // it mostly waits
	db := storetest.Postgres(t)
	admin := newClient(t, createKey(t, db, "admin").Key)
	clock := &simulatedClock{at: time.Date(2026, 10, 31, 23, 40, 0, 0, time.UTC), real: time.Now(), rate: thriceRate}
	flags := clock.flags()
	servers := []*server{start(t, db, flags...)}
	flags = clock.flags() // some moments later
	servers = append(servers, start(t, db, flags...))
	var all []*thrice
	for i, d := range linkDevices(t, admin, servers[0], 0, 12) {
		h := admin.ask(t, http.MethodGet, servers[0].url+"/v1/hotspots/"+d.hotspot, nil)
		linked, err := time.Parse(time.RFC3339, h["device"].(fields)["linked_at"].(string))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &thrice{diary: &diary{device: d, active: minuteOf(linked), chance: []float64{0.9, 0.4, 0.15}[i%3]}, servers: servers, first: map[uint64]time.Time{}})
	}
	until := time.Date(2026, 10, 31, 23, 57, 0, 0, time.UTC)
	var beating sync.WaitGroup
	for _, d := range all {
		beating.Go(func() { d.beatUntil(t, admin, clock, until) })
	}
	beating.Wait()
	books := openSQL(t, db)
	eventually(t, 60*time.Second, "the day is closed", func() bool {
		return number(t, books, `SELECT count(*) FROM reward_days WHERE closed_at <> 0`) > 0
	})
	sent, unsure := 0, 0
	for _, d := range all {
		for _, s := range servers {
			unsure += d.check(t, admin, s)
		}
		sent += d.sent
	}
	if auditBooks(t, books); unsure > sent {
		t.Error("too little is known to prove anything")
	}
	t.Logf("%d beats were sent; of %d minutes it is not known whether they were served", sent, unsure)
}

// thriceRate is how fast the clock runs: two minutes in a second.
const thriceRate = 120

// thrice is a device that sends beats three times and more.
type thrice struct {
	*diary
	servers []*server
	first   map[uint64]time.Time // when each beat first came
	past    []fields             // beats that were sent twice
	sent    int
}

// beatUntil beats in a rhythm, until some time before midnight.
func (d *thrice) beatUntil(t *testing.T, c *client, clock *simulatedClock, until time.Time) {
	rhythm := time.NewTicker(time.Minute / thriceRate)
	defer rhythm.Stop()
	quiet := until.Add(-8 * time.Minute)
	for clock.now().Before(until) && !t.Failed() {
		silent := d.chance < 0.5 && clock.now().After(quiet) // it has nothing new to say, and says it all the same
		if len(d.heard) == 0 || !silent && rand.Float64() < d.chance {
			d.beatTwice(t, c)
		}
		d.repeatOld(t, c, silent)
		<-rhythm.C
	}
	if now := clock.now(); now.Month() != time.October {
		t.Errorf("it is %v already: this machine is too slow", now)
	}
}

// beatTwice sends one or two new beats, in any order, and each to both servers.
func (d *thrice) beatTwice(t *testing.T, c *client) {
	bodies := []fields{d.next()}
	if rand.IntN(3) == 0 {
		bodies = append(bodies, d.next())
		slices.Reverse(bodies)
	}
	first := rand.IntN(2)
	for _, body := range bodies {
		d.deliver(t, c, body, first, true)
	}
	for _, body := range bodies { // the other may not have heard of it yet
		d.deliver(t, c, body, 1-first, false)
	}
	d.acked = d.bytes
	d.past = append(d.past, bodies...)
}

// repeatOld sends beats once more, often long after: they say nothing about now.
func (d *thrice) repeatOld(t *testing.T, c *client, all bool) {
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
func (d *thrice) deliver(t *testing.T, c *client, body fields, server int, fresh bool) {
	a := d.send(t.Context(), c, d.servers[server], body)
	d.sent++
	if a.status != http.StatusOK {
		t.Errorf("a beat was answered %d %s %v", a.status, a.code, a.err)
		return
	}
	from := minuteOf(a.at.Add(-a.took * thriceRate))
	first, known := d.first[body["seq"].(uint64)]
	if !known {
		d.first[body["seq"].(uint64)] = a.at
	}
	if fresh || a.at.Sub(first) < 3*time.Second*thriceRate {
		d.heard = append(d.heard, hearing{from, minuteOf(a.at), fresh})
	}
}

// check compares the closed day with what the device remembers.
func (d *thrice) check(t *testing.T, c *client, s *server) (unsure int) {
	t.Helper()
	e, _, _ := fetch[rewardExplanation](t, c, s.url+"/v1/hotspots/"+d.hotspot+"/rewards/explain?date=2026-10-31")
	served := d.served()
	end := minuteOf(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	var surely, maybe, expected int64
	for m := d.active; m < end; m++ {
		expected++
		if served.surely[m] {
			surely++
		}
		if served.maybe[m] {
			maybe++
		}
	}
	f := e.Facts
	if f.Served < surely || f.Served > maybe || f.Expected != expected || f.Bytes != d.totals().sent || e.Open || f.Excused != 0 {
		t.Errorf("%s: the day is %+v; want %d to %d of %d minutes served, and %d bytes", d.ssid, f, surely, maybe, expected, d.totals().sent)
	}
	return int(maybe - surely)
}
