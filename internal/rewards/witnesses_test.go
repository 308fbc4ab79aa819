package rewards_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// machine is a server of a world whose clock the test sets, and whose monotonic clock
// it moves.
type machine struct {
	process
	w    *world
	off  time.Duration // how far its clock is ahead of the world's
	real time.Time     // its monotonic clock
	log  bytes.Buffer
}

func (w *world) machine(db store.RewardTables, over clock.Store) *machine {
	m := &machine{process: w.rewards(db), w: w, real: time.Now()}
	_, databaseTells := over.(*withClock)
	m.Clock = clock.New(clock.Config{
		Store: over, Rate: 1, RealTime: databaseTells,
		Now:     func() time.Time { return w.now.Add(m.off) },
		Machine: func() time.Time { return m.real },
		Lease:   func() (lease.Lease, bool) { return m.Lease() },
		Log:     slog.New(slog.NewTextHandler(&m.log, nil)),
	})
	return m
}

// run lets time pass, in steps of half a minute.
func (m *machine) run(t testing.TB, d time.Duration) {
	t.Helper()
	for end := m.w.now.Add(d); m.w.now.Before(end); {
		m.w.now, m.real = m.w.now.Add(30*time.Second), m.real.Add(30*time.Second)
		m.look(t)
	}
}

func (m *machine) look(t testing.TB) {
	t.Helper()
	for _, step := range []func(context.Context) error{m.Clock.Step, m.Step} {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func (m *machine) said(text string) bool { return strings.Contains(m.log.String(), text) }

// running makes a world in which a server has run for an hour, up to 22:00 on
// 2026-11-10, and a hotspot served all day. Other is the same database, as another
// server opens it.
func running(t *testing.T, open opener) (w *world, m *machine, other *store.DB) {
	t.Helper()
	begin := at("2026-11-10T21:00:00Z")
	db, other := open(t, begin)
	t.Cleanup(func() { _ = other.Close() })
	w = newWorld(t, db, begin, 1)
	w.did(w.register(t, w.users[0]), whole)
	w.midnight(t) // its record is written
	w.now = begin
	m = w.machine(w.db.Rewards(), w.db.Clocks)
	m.run(t, time.Hour)
	return w, m, other
}

// opener opens a new database twice.
type opener func(t *testing.T, now time.Time) (one, other *store.DB)

func sqliteTwice(t *testing.T, now time.Time) (one, other *store.DB) {
	file := filepath.Join(t.TempDir(), "beacon.db")
	return twice(t, func() (*store.DB, error) { return sqlite.Open(t.Context(), file, sqlite.Options{Now: now}) })
}

func postgresTwice(t *testing.T, now time.Time) (one, other *store.DB) {
	address := storetest.Postgres(t)
	return twice(t, func() (*store.DB, error) { return postgres.Open(t.Context(), address, postgres.Options{Now: now}) })
}

func twice(t *testing.T, open func() (*store.DB, error)) (one, other *store.DB) {
	t.Helper()
	one, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if other, err = open(); err != nil {
		t.Fatal(err)
	}
	return one, other
}

func nobody() (lease.Lease, bool) { return lease.Lease{}, false }

// closedDays returns how many days are closed.
func (w *world) closedDays(t *testing.T) (n int) {
	t.Helper()
	err := w.db.Ledger.Books(t.Context(), func(b ledger.Books) error {
		all, err := b.Closings(t.Context())
		n = len(all)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// final makes telemetry say that all days are final that are over by a clock.
type final struct {
	*world
	m *machine
}

func (f final) FinalBefore() (beacon.Day, bool) { return beacon.DayOf(f.m.Clock.Now()), true }

// TestWitnesses_Ahead: a clock that is ahead of what the database knows closes days
// only after it ran for long, or never. Off and restarted, or set while it runs, is the
// same.
func TestWitnesses_Ahead(t *testing.T) {
	level.Repeats(t)
	const hour, day = time.Hour, 24 * time.Hour
	for _, test := range []struct {
		name    string
		ahead   time.Duration
		lasts   time.Duration
		restart bool
		closed  bool
	}{
		{"a night off", 9 * hour, 50 * time.Minute, true, false},
		{"a night off, later", 9 * hour, 62 * time.Minute, true, true},
		{"three days", 3 * day, 25 * time.Minute, true, false},
		{"three days, while it runs", 3 * day, 7 * hour, false, false},
		{"a weekend off", 64 * hour, 481 * time.Minute, true, true},
		{"a weekend suspended", 64 * hour, 481 * time.Minute, false, true},
		{"a year", 365 * day, 75 * time.Minute, true, false},
		{"a year, while it runs", 365 * day, 75 * time.Minute, false, false},
		{"a month, for a day", 30 * day, 23 * hour, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, m, _ := running(t, sqliteTwice)
			if test.restart {
				m = w.machine(w.db.Rewards(), w.db.Clocks)
			}
			m.off = test.ahead
			m.Closer.Telemetry = final{w, m}
			right := w.now
			m.run(t, test.lasts)
			// Days that are truly over are closed whatever the clock says.
			over := int(beacon.DayOf(w.now) - beacon.DayOf(right))
			if n := w.closedDays(t); test.closed != (n > over) {
				t.Errorf("%d days are closed at %s, by %s", n, w.now, m.Clock.Now())
			}
			if agreed := m.Clock.Agreed(); agreed != test.closed {
				t.Errorf("the clock is believed: %v", agreed)
			}
			if !test.closed && test.ahead > day && !m.said("no day is closed by it") {
				t.Errorf("nobody was told: %s", m.log.String())
			}
		})
	}
}

// TestWitnesses_OtherServer: no day is closed before it is over by the clock of each
// server that lives, and the one to blame is named.
func TestWitnesses_OtherServer(t *testing.T) {
	level.Repeats(t)
	test := func(t *testing.T, open opener) {
		w, good, other := running(t, open)
		bad := w.machine(other.Rewards(), other.Clocks)
		bad.off = 3 * 24 * time.Hour
		bad.Closer.Telemetry = final{w, bad}
		good.Lease = nobody
		for range 2 * 60 * 12 { // to 10:00
			w.now = w.now.Add(30 * time.Second)
			for _, m := range []*machine{good, bad} {
				m.real = m.real.Add(30 * time.Second)
				m.look(t)
			}
		}
		if through := w.closedThrough(t); through.String() != "2026-11-10" {
			t.Errorf("at %s, days up to %s are closed", w.now, through)
		}
		if bad.Clock.Agreed() || !good.Clock.Agreed() {
			t.Errorf("the wrong clock is believed: %v, the right one: %v", bad.Clock.Agreed(), good.Clock.Agreed())
		}
		if !bad.said("the clock of this server is ahead") || !good.said("the clock of another server is ahead") {
			t.Errorf("the wrong one says %s\nthe right one says %s", bad.log.String(), good.log.String())
		}
	}
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, sqliteTwice) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, postgresTwice) })
}

// TestWitnesses_Database: no day is closed before it is over by the database's clock.
func TestWitnesses_Database(t *testing.T) {
	w, _, _ := running(t, sqliteTwice)
	off := -30 * time.Hour
	m := w.machine(w.db.Rewards(), &withClock{w.db.Clocks, func() time.Time { return w.now.Add(off) }})
	m.run(t, 8*time.Hour)
	if n := w.closedDays(t); n != 0 {
		t.Errorf("%d days are closed before they are over by the database", n)
	}
	if !m.said("the clock of the database is behind") {
		t.Errorf("nobody is told: %s", m.log.String())
	}
	off = 40 * 24 * time.Hour // ahead, it keeps nobody from closing
	m.run(t, time.Hour)
	if through := w.closedThrough(t); through.String() != "2026-11-10" {
		t.Errorf("days up to %s are closed", through)
	}
	if !m.Clock.Agreed() {
		t.Error("the server's clock is not believed")
	}
}

// TestWitnesses_ServerEnded: a server that lives no more is no witness.
func TestWitnesses_ServerEnded(t *testing.T) {
	w, _, other := running(t, sqliteTwice)
	behind := w.machine(other.Rewards(), other.Clocks)
	behind.off, behind.Lease = -30*time.Hour, nobody
	m := w.machine(w.db.Rewards(), w.db.Clocks)
	for range 60 * 2 * 4 { // to 02:00
		w.now = w.now.Add(30 * time.Second)
		for _, m := range []*machine{m, behind} {
			m.real = m.real.Add(30 * time.Second)
			m.look(t)
		}
	}
	if n := w.closedDays(t); n != 0 {
		t.Errorf("%d days are closed while a server lives for which none is over", n)
	}
	m.run(t, 5*time.Minute)
	if n := w.closedDays(t); n != 1 {
		t.Errorf("%d days are closed after that server has ended", n)
	}
	m.run(t, 2*time.Hour)
	state, err := w.db.Clocks.ClockState(t.Context())
	if err != nil || len(state.Marks) != 1 {
		t.Errorf("marks of servers that have ended stay: %+v, %v", state.Marks, err)
	}
}

// withClock is a database that has a clock.
type withClock struct {
	store.ClockTable
	now func() time.Time
}

func (d *withClock) ClockState(ctx context.Context) (clock.State, error) {
	s, err := d.ClockTable.ClockState(ctx)
	s.Database = d.now()
	return s, err
}

// A clock was ahead, and its server recorded that it was up then. That time has not
// come: if nothing runs when it does, that is an outage.
func TestWitnesses_SpansAhead(t *testing.T) {
	for name, open := range map[string]opener{"sqlite": sqliteTwice, "postgres": postgresTwice} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, m, other := running(t, open)
			m.off = 3 * 24 * time.Hour
			m.look(t)
			for _, up := range []time.Time{w.now, w.now.Add(m.off)} {
				if err := other.Clocks.ExtendSpan(t.Context(), int64(beacon.MinuteOf(up)), int64(beacon.MinuteOf(up))+10); err != nil {
					t.Fatal(err)
				}
			}
			spans := func() int {
				all, err := other.Clocks.Spans(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				return len(all)
			}
			before := spans()
			m.run(t, 20*time.Minute)
			if n := spans(); n != before { // who knows which clock is right
				t.Errorf("%d of %d spans are there while the clock is ahead", n, before)
			}
			m.off = 0
			m.run(t, 9*time.Minute)
			if n := spans(); n != before {
				t.Errorf("%d of %d spans are there before the clock is trusted", n, before)
			}
			m.run(t, 2*time.Minute)
			if n := spans(); n != before-1 {
				t.Errorf("%d spans are there; want %d", n, before-1)
			}
		})
	}
}
