//go:build linux

package endtoend_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
)

// TestRewardsLife lives through the end of a month: operators register, staff
// verifies, devices beat, one is deleted and one unlinked minutes before
// midnight, the days are closed, and 72 hours later the month is settled. All
// the time everyone asks for everything, and every single answer adds up. In the
// end the statements are those of the facts, each is told of once, and to whom
// it belongs.
func TestRewardsLife(t *testing.T) { harness.Stores(t, testRewardsLife) }

// life is a small town at the end of October. Its clock stands still but for when
// the test lets a minute pass.
type life struct {
	db       string
	staff    *harness.Client
	clock    *harness.HeldClock
	server   *harness.Server
	who      map[string]*audit.Operator
	gone     *audit.Rewarded // deleted before midnight
	parted   *audit.Rewarded // unlinked before midnight
	onlooker map[string]*audit.Onlooker
}

func testRewardsLife(t *testing.T, db string) {
	l := newLife(t, db)
	l.watch(t, func() {
		l.passUntil(t, time.Date(2026, 10, 31, 23, 52, 30, 0, time.UTC))
		l.awaitCompared(t, "in_progress")
		l.remove(t, "bob", l.gone, "")
		l.remove(t, "cyd", l.parted, "/device")
		l.passUntil(t, time.Date(2026, 11, 1, 0, 1, 0, 0, time.UTC))
		l.awaitDay(t, "2026-10-31")
		l.awaitCompared(t, "finalizing")
	})
	l.server.Stop(t)

	// Some days later: the first days of November are closed at once.
	l.clock.Set(time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC))
	l.server = l.clock.Start(t, db)
	l.watch(t, func() {
		l.awaitDay(t, "2026-11-02")
		l.clock.Set(time.Date(2026, 11, 3, 23, 55, 0, 0, time.UTC))
		l.passUntil(t, time.Date(2026, 11, 3, 23, 59, 0, 0, time.UTC))
		if n := audit.Number(t, harness.OpenSQL(t, db), `SELECT count(*) FROM reward_months`); n != 0 {
			t.Errorf("%d months are settled, and the 72 hours are not over", n)
		}
		l.passUntil(t, time.Date(2026, 11, 4, 0, 5, 0, 0, time.UTC))
		l.awaitSettled(t)
		l.awaitCompared(t, "settled")
	})
	for name, o := range l.onlooker {
		o.Conclude(t, name)
	}
	l.checkStatements(t)
	l.checkEvents(t)
	if rows, statements := audit.Audit(t, harness.OpenSQL(t, db)); rows < 10 || statements != 3 {
		t.Errorf("the books have %d rows and %d statements", rows, statements)
	}
}

func newLife(t *testing.T, db string) *life {
	t.Helper()
	l := &life{db: db, who: map[string]*audit.Operator{}, onlooker: map[string]*audit.Onlooker{}}
	l.staff = harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	for _, name := range []string{"ada", "bob", "cyd", "dan"} {
		l.who[name] = audit.NewOperator(t, db)
		l.onlooker[name] = audit.NewOnlooker(l.who[name])
	}
	l.clock = harness.NewHeldClock(t, time.Date(2026, 10, 31, 23, 41, 30, 0, time.UTC))
	l.server = l.clock.Start(t, db)
	link := func(name string, n int, settings harness.Fields) *audit.Rewarded {
		return l.who[name].Link(t, l.staff, l.server, n, settings)
	}

	fast := link("ada", 0, nil)
	fast.Speed = harness.Fields{"down_mbps": 300, "up_mbps": 100, "latency_ms": 5}
	fast.Bytes = 70_000_000_000 // more than a day is paid for
	link("ada", 1, nil).Every = 6
	link("ada", 2, harness.Fields{"operating_hours": harness.Fields{
		"timezone": "UTC", "weekly": []any{}, "exceptions": []any{harness.Fields{"date": "2026-10-31", "closed": true}},
	}})
	link("ada", 3, nil).Every = 0
	l.gone = link("bob", 4, nil)
	link("bob", 5, nil)
	l.parted = link("cyd", 6, nil)
	return l
}

// watch lets all operators look while something happens.
func (l *life) watch(t *testing.T, during func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var looking sync.WaitGroup
	for _, o := range l.onlooker {
		looking.Go(func() {
			rhythm := time.NewTicker(20 * time.Millisecond) // devices need some of the machine, too
			defer rhythm.Stop()
			for ctx.Err() == nil && !t.Failed() {
				o.Look(t, l.server)
				<-rhythm.C
			}
		})
	}
	defer looking.Wait()
	defer stop()
	during()
}

// passUntil lets minutes pass. In each of them every device beats whose turn it is.
func (l *life) passUntil(t *testing.T, at time.Time) {
	t.Helper()
	for ; l.clock.Now().Before(at) && !t.Failed(); l.clock.Pass(time.Minute) {
		minute := l.clock.Now().Minute()
		var beating sync.WaitGroup
		for _, o := range l.who {
			for _, h := range o.Hotspots {
				if h.Frozen.Load() == nil && h.Every > 0 && minute%h.Every == 0 {
					beating.Go(func() { h.MustBeat(t, l.staff, l.server) })
				}
			}
		}
		beating.Wait()
	}
}

// awaitCompared waits until everyone who has a hotspot has compared a month in some
// state. They can: the clock stands still, and no device beats.
func (l *life) awaitCompared(t *testing.T, state string) {
	t.Helper()
	for name, o := range l.onlooker {
		harness.Eventually(t, name+" has compared a month that is "+state, func() bool {
			l.server.Running(t)
			return t.Failed() || o.Compared(state) > 0 || len(o.Hotspots) == 0 && o.Saw(state)
		})
	}
}

// remove deletes a hotspot, or its device, and remembers what the day was worth
// until then.
func (l *life) remove(t *testing.T, name string, h *audit.Rewarded, what string) {
	t.Helper()
	const day = "2026-10-31"
	o := l.who[name]
	before, _ := h.Explain(t, o.Client, l.server, day)
	if a := o.Client.Do(t.Context(), http.MethodDelete, l.server.URL+"/v1/hotspots/"+h.Hotspot+what, nil); a.Status != http.StatusNoContent {
		t.Fatalf("removing answered %d %s", a.Status, a.Code)
	}
	after, _ := h.Explain(t, o.Client, l.server, day)
	b, a := before.Facts, after.Facts
	if a.Served == 0 || a.Served != b.Served || a.Expected != b.Expected || a.Bytes != b.Bytes || a.Bytes != h.Totals().Acked {
		t.Errorf("before %s was removed the day had %+v, and afterwards %+v; %d bytes were acknowledged", h.SSID, b, a, h.Totals().Acked)
	}
	h.Frozen.Store(&a)
}

// awaitDay waits until a day is closed for everyone.
func (l *life) awaitDay(t *testing.T, day string) {
	t.Helper()
	audit.AwaitClosed(t, l.db, day, l.server, func() { l.passUntil(t, l.clock.Now().Add(5*time.Minute)) })
}

func (l *life) awaitSettled(t *testing.T) {
	t.Helper()
	db := harness.OpenSQL(t, l.db)
	harness.Eventually(t, "october is settled", func() bool {
		l.server.Running(t)
		return t.Failed() || audit.Number(t, db, `SELECT count(*) FROM reward_months`) > 0
	})
	for name, o := range l.onlooker {
		looks := o.Looks.Load()
		harness.Eventually(t, name+" has seen that", func() bool {
			return t.Failed() || o.Looks.Load() > looks+1 && (o.Paid.Load() > 2 || len(o.Hotspots) == 0)
		})
	}
}
