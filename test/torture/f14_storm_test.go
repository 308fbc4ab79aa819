//go:build linux

package torture_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestF14_Storm sends every beat three times, in any order and late, and all of
// them once more days later, when their month is settled. The day is closed with
// the minutes and bytes of devices that know when each beat first arrived (I7);
// the settled month stays as it is, and what is new counts where it came. Time
// stands still while devices send, so that they know for sure when a beat arrived.
func TestF14_Storm(t *testing.T) { harness.Stores(t, testStorm) }

var (
	lastOfOctober = audit.DayOf(time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC))
	endOfOctober  = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
)

func testStorm(t *testing.T, db string) {
	seed := level.Seed(t)
	staff := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	clock := newHeldClock(t, endOfOctober.Add(-3*time.Hour), 1200)
	clock.hold(t, clock.At)
	w := &storm{staff: staff, clock: clock, server: clock.Start(t, db, clock.Flags()...)}
	for i, d := range harness.LinkDevices(t, staff, w.server, 0, rounds(16, 40, 2000)) {
		w.devices = append(w.devices, &stormy{
			Diary: &harness.Diary{Device: d, Active: harness.MinuteOf(clock.Now())}, random: rand.New(rand.NewPCG(seed, uint64(i))), first: map[string]bool{},
		})
	}
	w.blow(t, rounds(60, 100, 100))
	clock.run(t, endOfOctober.Add(-10*time.Minute), time.Time{})
	tables := harness.OpenSQL(t, db)
	harness.Eventually(t, "the day is closed", func() bool {
		w.server.Running(t)
		return audit.Number(t, tables, `SELECT count(*) FROM reward_days WHERE closed_at <> 0`) > 0
	})
	for _, d := range w.devices {
		d.check(t, w)
	}
	t.Logf("%d beats were sent, %d of them for the first time, in %d minutes of service", w.sent.Load(), w.fresh.Load(), w.served)
	if w.sent.Load() < 3*w.fresh.Load()-int64(len(w.devices)) || w.served == 0 {
		t.Error("too little was sent to prove anything")
	}
	w.server.Stop(t)

	// Three days later.
	clock.run(t, endOfOctober.Add(72*time.Hour-12*time.Minute), time.Time{})
	w.server = clock.Start(t, db, clock.Flags()...)
	harness.Eventually(t, "october is settled", func() bool {
		w.server.Running(t)
		return audit.Number(t, tables, `SELECT count(*) FROM reward_months`) > 0
	})
	sealed := audit.Sealed(t, tables)
	w.repeatAll(t)
	audit.StillSealed(t, sealed, audit.Sealed(t, tables))
	audit.Compare(t, staff, w.server, tables, audit.Users(t, tables, 3)...)
	w.server.Stop(t) // it goes on closing days
	audit.SettledOnce(t, db, "2026-10", clock.Flags()...)
	if rows, statements := audit.Audit(t, tables); rows < len(w.devices) || statements == 0 {
		t.Errorf("the books have %d rows and %d statements", rows, statements)
	}
}

// storm is many devices that send everything several times.
type storm struct {
	staff   *harness.Client
	clock   *heldClock
	server  *harness.Server
	devices []*stormy

	sent, fresh atomic.Int64
	served      int64 // minutes
}

// stormy is one of the devices.
type stormy struct {
	*harness.Diary
	random *rand.Rand
	outbox []harness.Fields // under way, in any order
	past   []harness.Fields // all that ever were
	first  map[string]bool  // the beats that have come
}

// blow lets the devices send for some minutes, and then all that is under way.
func (w *storm) blow(t *testing.T, minutes int) {
	t.Helper()
	for minute := range minutes {
		each(w.devices, func(d *stormy) { d.gust(t, w) })
		if t.Failed() {
			t.FailNow()
		}
		if w.clock.hold(t, w.clock.Now().Add(time.Minute)); minute%20 == 19 {
			w.clock.passFold(t, w.server)
		}
	}
	each(w.devices, func(d *stormy) { d.empty(t, w) })
	if t.Failed() {
		t.FailNow()
	}
}

// keptBoots is how many boots of a day the next one tells apart (decision D25).
const keptBoots = 8

// gust makes a new beat, three of it, and sends some of those that are under way.
func (d *stormy) gust(t *testing.T, w *storm) {
	body := d.Next()
	d.past = append(d.past, body)
	for range 3 {
		d.outbox = append(d.outbox, body)
	}
	d.random.Shuffle(len(d.outbox), func(i, k int) { d.outbox[i], d.outbox[k] = d.outbox[k], d.outbox[i] })
	// No beat stays under way for so long that it counts as known (64 of its boot).
	for oldest := d.oldest(); len(d.outbox) > 20 || d.Seq-oldest > 50; oldest = d.oldest() {
		d.deliver(t, w)
	}
	if d.random.IntN(40) == 0 && d.Boot < keptBoots-1 {
		d.empty(t, w)
		d.Reboot()
	}
}

func (d *stormy) empty(t *testing.T, w *storm) {
	for len(d.outbox) > 0 && !t.Failed() {
		d.deliver(t, w)
	}
}

// oldest is the number of the oldest beat that is under way.
func (d *stormy) oldest() uint64 {
	oldest := d.Seq
	for _, body := range d.outbox {
		oldest = min(oldest, body["seq"].(uint64))
	}
	return oldest
}

// deliver sends one that is under way, and notes when it first came.
func (d *stormy) deliver(t *testing.T, w *storm) {
	last := len(d.outbox) - 1
	body := d.outbox[last]
	d.outbox = d.outbox[:last]
	a := d.Send(t.Context(), w.staff, w.server, body)
	w.sent.Add(1)
	if a.Status == http.StatusServiceUnavailable { // a machine that stands still: devices send again
		d.outbox = append(d.outbox, body)
		return
	}
	if a.Status != http.StatusOK {
		t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
		return
	}
	name := fmt.Sprint(body["boot_id"], " ", body["seq"])
	if d.first[name] {
		return
	}
	d.first[name] = true
	w.fresh.Add(1)
	d.Note(harness.MinuteOf(a.At), harness.MinuteOf(a.At), true)
}

// check compares the closed day with what the device remembers.
func (d *stormy) check(t *testing.T, w *storm) {
	t.Helper()
	e, _, _ := audit.Fetch[audit.Explanation](t, w.staff, w.server.URL+"/v1/hotspots/"+d.Hotspot+"/rewards/explain?date="+lastOfOctober.String())
	served, expected := servedBefore(d.Diary, endOfOctober), int64(harness.MinuteOf(endOfOctober)-d.Active)
	f := e.Facts
	if f.Served != served || f.Expected != expected || f.Bytes != d.Totals().Sent || e.Open || f.Excused != 0 {
		t.Errorf("%s: the day is %+v; want %d of %d minutes served, and %d bytes", d.SSID, f, served, expected, d.Totals().Sent)
	}
	w.served += served
}

// repeatAll sends the beats of the settled month once more, and one that is new.
func (w *storm) repeatAll(t *testing.T) {
	t.Helper()
	each(w.devices, func(d *stormy) {
		before := d.Bytes
		for _, body := range d.past[max(0, len(d.past)-rounds(30, 100, 10)):] {
			if a := d.Send(t.Context(), w.staff, w.server, body); a.Status != http.StatusOK {
				t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
			}
		}
		fresh := d.Next()
		future := maps.Clone(fresh)
		future["timestamp"] = endOfOctober.Add(40 * day).Format(time.RFC3339) // which is ignored: only the server's clock counts
		if a := d.Send(t.Context(), w.staff, w.server, future); a.Status != http.StatusOK {
			t.Errorf("a beat with a time was answered %d %s %v", a.Status, a.Code, a.Err)
		}
		if a := d.Send(t.Context(), w.staff, w.server, fresh); a.Status != http.StatusOK {
			t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
		}
		e, _, _ := audit.Fetch[audit.Explanation](t, w.staff, w.server.URL+"/v1/hotspots/"+d.Hotspot+"/rewards/explain")
		if e.Facts.Bytes != d.Bytes-before || e.Date[:7] != "2026-11" {
			t.Errorf("%s: %d bytes are new, and %s has %+v", d.SSID, d.Bytes-before, e.Date, e.Facts)
		}
	})
}
