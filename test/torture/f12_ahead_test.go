//go:build linux

package torture_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestF12_FarAhead starts a server whose clock is far ahead of what the database
// knows, or sets it so while it runs. It serves, and takes heartbeats, but closes no day
// that has not come. Once the clock is right again, every day earns as if nothing had
// been.
func TestF12_FarAhead(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		kind := "sqlite"
		if harness.IsPostgres(db) {
			kind = "postgres"
		}
		for _, test := range []struct {
			name    string
			ahead   time.Duration
			lasts   time.Duration
			restart bool
		}{
			{"a year", 365 * day, 6 * time.Hour, true},
			{"three days", 3 * day, 4 * time.Hour, true},
			{"a year, while it runs", 365 * day, 6 * time.Hour, false},
		}[:rounds(1, 3, 3)] {
			t.Run(test.name, func(t *testing.T) {
				var w *wrongClock
				var right time.Time
				for inTime := false; !inTime && !t.Failed(); {
					w = newWrongClock(t, harness.NewDatabase(t, kind))
					right = w.clock.Now()
					if test.restart {
						w.server.Stop(t)
					}
					from := right.Add(test.ahead)
					began := time.Now()
					w.clock.run(t, from, from.Add(test.lasts))
					if test.restart {
						w.start(t)
					}
					harness.Eventually(t, "the wrong time has passed", func() bool {
						w.beat(t)
						done := w.closed(t) > 0 || w.clock.Now().Equal(from.Add(test.lasts)) && w.waits(t)
						// By the machine's clock the day is over if it stood still: once more then.
						inTime = right.Add(time.Since(began) * jumpRate).Before(right.Truncate(day).Add(day))
						return t.Failed() || done || !inTime
					})
					if !inTime {
						w.server.Stop(t)
					}
				}
				if n := w.closed(t); n != 0 {
					t.Fatalf("%d days are closed, and none is over", n)
				}
				if n := audit.Number(t, w.tables, `SELECT count(*) FROM reward_months`); n != 0 {
					t.Errorf("%d months are settled, and none is over", n)
				}
				w.server.Stop(t)
				w.clock.hold(t, right.Add(test.lasts))
				w.start(t)
				w.goOn(t, "2026-11-10")
				w.goOn(t, "2026-11-11")
				w.server.Stop(t)
				audit.Audit(t, w.tables)
			})
		}
	})
}

// wrongClock is a server with a hotspot, whose clock a test sets wrong.
type wrongClock struct {
	clock   *heldClock
	server  *harness.Server
	staff   *harness.Client
	tables  *sql.DB
	db      string
	devices []*harness.Device
}

// newWrongClock lets a server run for an hour on the afternoon of 2026-11-10.
func newWrongClock(t *testing.T, db string) *wrongClock {
	t.Helper()
	begin := time.Date(2026, 11, 10, 13, 0, 0, 0, time.UTC)
	w := &wrongClock{clock: newHeldClock(t, begin, jumpRate), db: db, tables: harness.OpenSQL(t, db)}
	w.staff = harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	w.clock.hold(t, begin) // a device that is linked later is not in service before
	w.start(t)
	w.devices = harness.LinkDevices(t, w.staff, w.server, 0, 1)
	even := begin.Add(15 * time.Minute) // for so long that the server believes its clock
	w.clock.run(t, begin, even)
	harness.Eventually(t, "the clock has run evenly", func() bool {
		w.beat(t)
		return w.clock.Now().Equal(even)
	})
	w.beatUntil(t, begin.Add(time.Hour))
	w.clock.passFold(t, w.server)
	return w
}

func (w *wrongClock) start(t *testing.T) {
	t.Helper()
	w.server = w.clock.Start(t, w.db, w.clock.Flags()...)
}

func (w *wrongClock) beat(t *testing.T) {
	t.Helper()
	for _, d := range w.devices {
		harness.Eventually(t, "a beat is taken", func() bool {
			w.server.Running(t)
			a := d.Beat(t.Context(), w.staff, w.server)
			if a.Status != 200 && a.Status != 503 && a.Status != 0 { // a machine that stands still is overloaded, or ends connections: devices send again
				t.Fatalf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
			}
			return a.Status == 200
		})
	}
}

// beatUntil lets time pass by the minute, with heartbeats in each. The clock waits for
// them: no machine is too slow to be online.
func (w *wrongClock) beatUntil(t *testing.T, until time.Time) {
	t.Helper()
	for ; w.clock.Now().Before(until); w.clock.hold(t, w.clock.Now().Add(time.Minute)) {
		w.beat(t)
	}
}

func (w *wrongClock) closed(t *testing.T) int64 {
	t.Helper()
	return audit.Number(t, w.tables, `SELECT count(*) FROM reward_days WHERE closed_at <> 0`)
}

// waits reports whether the server says that it closes no day by this clock.
func (w *wrongClock) waits(t *testing.T) bool {
	t.Helper()
	return strings.Contains(w.server.Log(t), "no day is closed by it")
}

// goOn lets the end of a day pass, with heartbeats, and wants the day closed and paid.
// It returns what was carried by midnight.
func (w *wrongClock) goOn(t *testing.T, date string) (carried uint64) {
	t.Helper()
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	day := audit.DayOf(at)
	midnight := (day + 1).Time()
	from := midnight.Add(-2 * time.Hour)
	if now := w.clock.Now(); now.After(from) {
		from = now
	}
	w.clock.hold(t, from)
	w.beatUntil(t, midnight)
	carried = w.devices[0].Totals().Sent
	w.clock.run(t, w.clock.Now(), midnight.Add(3*time.Hour))
	harness.Eventually(t, date+" is closed", func() bool {
		w.server.Running(t)
		return audit.Number(t, w.tables, `SELECT count(*) FROM reward_days WHERE closed_at <> 0 AND day = $1`, int64(day)) > 0
	})
	if n := audit.Number(t, w.tables, `SELECT count(*) FROM (SELECT * FROM ledger UNION ALL SELECT * FROM ledger_again) AS written
		WHERE day = $1 AND availability > 0 AND revision = (SELECT revision FROM reward_revision)`, int64(day)); n != int64(len(w.devices)) {
		t.Errorf("%s: %d hotspots earned; want %d", date, n, len(w.devices))
	}
	if through := audit.Day(audit.Number(t, w.tables, `SELECT max(day) FROM reward_days`)); through > day {
		t.Errorf("days up to %s are closed on %s", through, w.clock.Now())
	}
	return carried
}

// TestF12_OneAhead lets two servers run on one database, the one that closes days with
// a clock that is three days ahead. Each day is closed when it is over by both, all of
// it counts, and each server says whose clock is wrong.
func TestF12_OneAhead(t *testing.T) {
	level.Needs(t, level.Check) // it is TestF12_FarAhead, with another server
	w := newWrongClock(t, harness.NewDatabase(t, "postgres"))
	w.server.Stop(t)
	w.clock.hold(t, w.clock.Now().Add(8*time.Hour)) // an hour before midnight or so
	wrong := newHeldClock(t, w.clock.Now().Add(3*day), jumpRate)
	wrong.hold(t, wrong.At)
	bad := wrong.Start(t, w.db, append(wrong.Flags(), "--admin-addr", "127.0.0.1:0")...)
	harness.Eventually(t, "the wrong one is to close days", func() bool { return strings.Contains(bad.Log(t), "this server now holds the lease") })
	w.server = w.clock.Start(t, w.db, append(w.clock.Flags(), "--admin-addr", "127.0.0.1:0")...)
	wrong.goOn(t)
	carried := w.goOn(t, "2026-11-10")
	harness.Eventually(t, "both say whose clock is wrong", func() bool {
		return strings.Contains(bad.Log(t), "the clock of this server is ahead") &&
			strings.Contains(w.server.Log(t), "the clock of another server is ahead")
	})
	if got := metricsOf(t, bad).read(t, "beacon_clock_believed"); got != 0 {
		t.Errorf("the wrong clock is believed: %v", got)
	}
	if strings.Contains(bad.Log(t)+w.server.Log(t), "correct its clock") {
		t.Error("the right server is told to set its clock")
	}
	counted := audit.Number(t, w.tables, `SELECT CAST(sum(bytes) AS bigint) FROM ledger`)
	if counted < int64(carried) {
		t.Errorf("%d bytes are counted; %d had been sent by the end of the day", counted, carried)
	}
	bad.Stop(t)
	w.server.Stop(t)
	audit.Audit(t, w.tables)
}
