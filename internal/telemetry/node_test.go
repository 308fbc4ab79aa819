package telemetry_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/replica"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/internal/telemetry"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// morning is when most tests begin.
var morning = time.Date(2026, 11, 14, 9, 0, 0, 0, time.UTC)

// testClock is a clock that a test sets.
type testClock struct {
	rate float64 // see clock.Config; by default nobody knows
	mu   sync.Mutex
	at   time.Time
	real time.Time // what the machine's clock says; zero: what it does

	witnessed bool // servers compare it with what is on disk
}

// of makes it the clock of a server.
func (c *testClock) of(n *node, log *slog.Logger) *clock.Clock {
	cfg := clock.Config{Now: c.now, Rate: c.rate, Lease: n.lease, Log: log}
	if !c.real.IsZero() {
		cfg.Machine = c.machine
	}
	if c.witnessed {
		cfg.Store = n.db.Clocks
	}
	return clock.New(cfg)
}

// running is a clock that runs evenly, as long as only run moves it.
func running(at time.Time) *testClock { return &testClock{rate: 1, at: at, real: at} }

// run lets time pass.
func (c *testClock) run(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.real = c.at.Add(d), c.real.Add(d)
}

func (c *testClock) machine() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.real
}

func (c *testClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *testClock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

func (c *testClock) pass(d time.Duration) time.Time {
	c.set(c.now().Add(d))
	return c.now()
}

// database opens one database as often as it is called: as many nodes.
type database func(t testing.TB) *store.DB

func onSQLite(t testing.TB) database {
	path := filepath.Join(t.TempDir(), "beacon.db")
	return func(t testing.TB) *store.DB {
		t.Helper()
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: morning, Wait: storetest.Patience})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
}

func onPostgres(t testing.TB) database {
	url := storetest.Patient(t, storetest.Postgres(t))
	return func(t testing.TB) *store.DB {
		t.Helper()
		db, err := postgres.Open(t.Context(), url, postgres.Options{Now: morning})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
}

// onBoth runs a test on both engines. make test has it on SQLite alone: what the two have
// in common is held by store/storetest.
func onBoth(t *testing.T, test func(*testing.T, database)) {
	t.Parallel() // it mostly waits for commits
	for name, open := range map[string]func(testing.TB) database{"sqlite": onSQLite, "postgres": onPostgres} {
		if name == "postgres" && level.Now() == level.Test {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// node is one server's telemetry, driven by hand.
type node struct {
	*telemetry.Telemetry
	db       *store.DB
	fleet    *fleet.Fleet
	follower *replica.Follower
	stop     func()
}

// Store is all that a node needs of a database.
type Store interface {
	telemetry.Journal
	telemetry.Store
}

type tables struct {
	store.JournalTable
	store.RecordTable
	store.ClockTable
	store.HotspotTable
	store.EventTable
}

func (t tables) Node() string { return t.JournalTable.Node() }

type followed struct {
	store.ChangeTable
	store.HotspotTable
	store.SettingTable
}

// otherEvents is what else happens.
type otherEvents func() error

func (e otherEvents) Step(context.Context, lease.Lease) error { return e() }
func (otherEvents) Appended()                                 {}

func (n *node) lease() (lease.Lease, bool) {
	l, ok, err := n.db.Leases.TakeLease(context.Background(), "keeper", n.db.Node(), time.Now(), time.Minute)
	return l, ok && err == nil
}

// start brings a node up on a database. Wrap may put faults in its way.
func start(t testing.TB, open database, c *testClock, wrap func(Store) Store) *node {
	t.Helper()
	n := &node{db: open(t)}
	n.fleet = fleet.New(func(h beacon.Hotspot, _ *beacon.Hotspot) string { return string(h.ID) })
	var st Store = tables{n.db.Journal, n.db.Records, n.db.Clocks, n.db.Hotspots, n.db.Events}
	if wrap != nil {
		st = wrap(st)
	}
	log := slog.New(slog.DiscardHandler)
	n.Telemetry = telemetry.New(telemetry.Config{
		Journal: st, Store: st, Fleet: n.fleet, Clock: c.of(n, log), Log: log, Events: otherEvents(func() error { return nil }), Lease: n.lease,
		AppendTimeout: 5 * time.Minute, // few tests are about how long a beat may wait, and a machine may be slow
	})
	n.follower = replica.NewFollower(n.fleet, followed{n.db.Changes, n.db.Hotspots, n.db.Settings}, new(clock.Heard), func(beacon.KeyID, beacon.ChangeKind) {}, n.Telemetry, log)
	if err := n.follower.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.must(t, n.Restore)
	n.must(t, n.follower.CatchUp)
	n.must(t, n.Restored)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { n.Write(ctx) })
	n.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		_, _, _ = n.db.Leases.TakeLease(context.Background(), "keeper", n.db.Node(), time.Now(), -time.Minute)
		if err := n.db.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(n.stop)
	return n
}

// register adds hotspots that are verified and linked.
func (n *node) register(t testing.TB, count int, at time.Time) []beacon.HotspotID {
	t.Helper()
	var ids []beacon.HotspotID
	for range count {
		h := storetest.Hotspot(int(serial()))
		h.ID = beacon.HotspotID(id.New(beacon.HotspotPrefix, at))
		h.Location.Point = geo.Point{Lat: 40.7, Lng: -74}
		h.Location.VerifiedAt, h.Device.LinkedAt, h.Device.KeyHash = at, at, [32]byte{1}
		h.Settings.OperatingHours, h.PastHours, h.PastService = nil, nil, nil
		h.CreatedAt, h.UpdatedAt, h.Version = at, at, 1
		if err := n.db.Hotspots.InsertHotspot(t.Context(), h, beacon.Actor{Request: "test"}, nil); err != nil {
			t.Fatal(err)
		}
		if err := n.fleet.Apply(h); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, h.ID)
	}
	return ids
}

var serials struct {
	sync.Mutex
	last int64
}

func serial() int64 {
	serials.Lock()
	defer serials.Unlock()
	serials.last++
	return serials.last
}

// beat sends a beat to the node and waits for its answer.
func (n *node) beat(t testing.TB, hotspot beacon.HotspotID, beat beacon.Heartbeat) {
	t.Helper()
	if err := n.try(t.Context(), hotspot, beat); err != nil {
		t.Fatal(err)
	}
}

func (n *node) try(ctx context.Context, hotspot beacon.HotspotID, beat beacon.Heartbeat) error {
	spot, ok := n.fleet.Find(hotspot)
	if !ok {
		return fmt.Errorf("%s is not in the fleet", hotspot)
	}
	_, err := n.Take(ctx, spot, beat)
	return err
}

func (n *node) metrics(t testing.TB, hotspot beacon.HotspotID, at time.Time) beacon.Metrics {
	t.Helper()
	m, ok := n.fleet.Metrics(hotspot, at)
	if !ok {
		t.Fatalf("%s has no metrics", hotspot)
	}
	m.Uncounted, m.UncountedAt = beacon.Counted, time.Time{} // only the node that received the beat knows
	return m
}

func (n *node) must(t testing.TB, do func(context.Context) error) {
	t.Helper()
	if err := do(t.Context()); err != nil {
		t.Fatal(err)
	}
}
