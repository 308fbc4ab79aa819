package events_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

type streams struct {
	store.ChangeTable
	store.EventTable
}

// onEveryStore runs a test with a function that opens one database once more, as
// another process would.
func onEveryStore(t *testing.T, test func(t *testing.T, open func() *store.DB)) {
	opener := func(t *testing.T, open func() (*store.DB, error)) func() *store.DB {
		return func() *store.DB {
			db, err := open()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			return db
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "beacon.db")
		test(t, opener(t, func() (*store.DB, error) {
			return sqlite.Open(t.Context(), path, sqlite.Options{Now: storetest.Now, Wait: storetest.Patience})
		}))
	})
	t.Run("postgres", func(t *testing.T) {
		url := storetest.Patient(t, storetest.Postgres(t))
		test(t, opener(t, func() (*store.DB, error) {
			return postgres.Open(t.Context(), url, postgres.Options{Now: storetest.Now})
		}))
	})
}

// world is a network with several processes, and all that happens in it.
type world struct {
	t       *testing.T
	seed    uint64
	dbs     []*store.DB
	hubs    []*events.Hub
	written atomic.Bool  // the writers are done
	total   atomic.Int64 // how many events there will be, once that is known
	steps   atomic.Int64 // of sequencers that went well
	thrown  atomic.Int64 // those that failed
}

const (
	processes = 3
	writers   = 8
	readers   = 6
)

var hotspots = level.Rounds(15, 40, 40) // of each writer

// Sequencers fight over the lease, forget to stop, and are cut off in the middle
// of their writes, while many write and others announce who is online. Readers
// come back at random to a random process. All of them hear of everything, once,
// and in the same order; and that order is right.
func TestEvents_EveryoneHearsTheSame(t *testing.T) {
	onEveryStore(t, func(t *testing.T, open func() *store.DB) {
		w := &world{t: t, seed: level.Seed(t)}
		for range processes {
			db := open()
			w.dbs = append(w.dbs, db)
			w.hubs = append(w.hubs, startHub(t, db.Events))
		}
		var writing, fighting, reading sync.WaitGroup
		for i := range writers {
			writing.Go(func() { w.write(i) })
		}
		for i := range processes {
			fighting.Go(func() { w.fight(i) })
		}
		heard := make([][]beacon.Event, readers)
		for i := range readers {
			reading.Go(func() { heard[i] = w.read(i) })
		}
		writing.Wait()
		w.written.Store(true)
		fighting.Wait()
		w.finish()
		reading.Wait()
		t.Logf("%d events; %d steps went well and %d failed", w.total.Load(), w.steps.Load(), w.thrown.Load())
		for i := range readers {
			if !slices.Equal(heard[i], heard[0]) {
				t.Errorf("reader %d heard something else than reader 0", i)
			}
		}
		w.judge(heard[0])
	})
}

func (w *world) random(who, number int) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, uint64(who)<<32|uint64(number)))
}

// write registers hotspots and changes those of others, through any process. The
// time of a change tells the version: a second for each.
func (w *world) write(number int) {
	random := w.random(1, number)
	for i := range hotspots {
		h := storetest.Hotspot(number*hotspots + i)
		if err := w.dbs[random.IntN(processes)].Hotspots.InsertHotspot(w.t.Context(), h, storetest.Actor, nil); err != nil {
			w.t.Errorf("seed %d: InsertHotspot: %v", w.seed, err)
		}
		for range 4 {
			w.change(random, storetest.Hotspot(random.IntN(writers*hotspots)).ID)
		}
	}
}

func (w *world) change(random *rand.Rand, id beacon.HotspotID) {
	kinds := []beacon.ChangeKind{beacon.HotspotUpdated, beacon.HotspotVerified, beacon.HotspotLinked, beacon.HotspotUnlinked}
	if random.IntN(20) == 0 {
		kinds = []beacon.ChangeKind{beacon.HotspotDeleted}
	}
	kind, db := kinds[random.IntN(len(kinds))], w.dbs[random.IntN(processes)]
	_, err := db.Hotspots.UpdateHotspot(w.t.Context(), id, storetest.Actor, kind, func(h *beacon.Hotspot) (bool, error) {
		h.UpdatedAt = h.CreatedAt.Add(time.Duration(h.Version) * time.Second)
		if kind == beacon.HotspotDeleted {
			h.DeletedAt = h.UpdatedAt
		}
		return true, nil
	})
	if e, ok := errors.AsType[*beacon.Error](err); err != nil && (!ok || e.Kind != beacon.NotFound) {
		w.t.Errorf("seed %d: UpdateHotspot: %v", w.seed, err)
	}
	refusal := beacon.Change{Kind: beacon.LinkRefused, Target: string(id), At: storetest.Now}
	if err := db.Changes.NoteRefusal(w.t.Context(), refusal); err != nil {
		w.t.Errorf("seed %d: NoteRefusal: %v", w.seed, err)
	}
}

// fight takes the lease for a moment, again and again, and uses it for longer
// than that.
func (w *world) fight(number int) {
	random, db := w.random(2, number), w.dbs[number]
	holder := fmt.Sprint("process ", number)
	for !w.written.Load() {
		ttl := time.Duration(1+random.IntN(20)) * time.Millisecond
		l, taken, err := db.Leases.TakeLease(w.t.Context(), "events", holder, time.Now(), ttl)
		if err != nil || !taken {
			continue
		}
		s := events.NewSequencer(streams{db.Changes, db.Events}, nil, clock.Of(atStoreTime), w.hubs[number].Wake, silent)
		for range 1 + random.IntN(10) {
			ctx, cancel := context.WithTimeout(w.t.Context(), time.Duration(random.IntN(40_000))*time.Microsecond)
			if err := s.Step(ctx, l); err != nil {
				w.thrown.Add(1)
			} else {
				w.steps.Add(1)
			}
			cancel()
			if random.IntN(3) == 0 {
				h := storetest.Hotspot(random.IntN(5)) // which may not be registered yet
				online := beacon.Transition{Hotspot: h.ID, User: h.Operator, Online: random.IntN(2) == 0, At: storetest.Now}
				_ = db.Events.Announce(w.t.Context(), l, []beacon.Transition{online}) // who lost the lease cannot
			}
		}
	}
}

// finish takes in what is left, and tells the readers how much there is.
func (w *world) finish() {
	var l lease.Lease
	for taken := false; !taken; {
		var err error
		if l, taken, err = w.dbs[0].Leases.TakeLease(w.t.Context(), "events", "the last", time.Now(), time.Hour); err != nil {
			w.t.Fatal(err)
		}
	}
	mustStep(w.t, events.NewSequencer(streams{w.dbs[0].Changes, w.dbs[0].Events}, nil, clock.Of(atStoreTime), func() {}, silent), l)
	_, newest, err := w.dbs[0].Events.EventHead(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	w.total.Store(newest)
}

// read hears of everything from the beginning, and comes and goes meanwhile.
func (w *world) read(number int) (heard []beacon.Event) {
	random := w.random(3, number)
	for {
		hub := w.hubs[random.IntN(processes)]
		s, err := hub.Subscribe(w.t.Context(), int64(len(heard)))
		if err != nil {
			w.t.Errorf("seed %d: Subscribe(%d): %v", w.seed, len(heard), err)
			return heard
		}
		for range random.IntN(20) {
			ctx, cancel := context.WithTimeout(w.t.Context(), time.Duration(random.IntN(50))*time.Millisecond)
			some, err := s.Next(ctx)
			if err != nil && ctx.Err() == nil {
				w.t.Errorf("seed %d: Next: %v", w.seed, err)
			}
			cancel()
			heard = append(heard, some...)
		}
		s.Close()
		if total := w.total.Load(); total > 0 && int64(len(heard)) >= total {
			return heard
		}
	}
}

// judge compares what was heard with what was written: the streams of changes.
func (w *world) judge(heard []beacon.Event) {
	created := map[string]time.Time{}
	for n := range writers * hotspots {
		h := storetest.Hotspot(n)
		created[string(h.ID)] = h.CreatedAt
	}
	versions := map[string]int{}
	online := map[string]bool{}
	changes := 0
	for i, e := range heard {
		if e.Seq != int64(i+1) {
			w.t.Fatalf("seed %d: number %d stands at place %d", w.seed, e.Seq, i+1)
		}
		if e.Kind == beacon.HotspotOnline || e.Kind == beacon.HotspotOffline {
			now := e.Kind == beacon.HotspotOnline
			if was, known := online[e.Target]; known && was == now {
				w.t.Errorf("seed %d: event %d: %s is %s again", w.seed, e.Seq, e.Target, e.Kind)
			}
			online[e.Target] = now
			continue
		}
		changes++
		versions[e.Target]++
		if version := 1 + int(e.At.Sub(created[e.Target])/time.Second); version != versions[e.Target] {
			w.t.Errorf("seed %d: event %d: %s is at version %d; want %d", w.seed, e.Seq, e.Target, version, versions[e.Target])
		}
	}
	if written := w.changes(); changes != written || written < writers*hotspots*2 || len(online) == 0 {
		w.t.Errorf("seed %d: %d changes became %d events, and %d hotspots came or went", w.seed, written, changes, len(online))
	}
}

// changes counts those that everyone should hear of.
func (w *world) changes() (count int) {
	for _, db := range w.dbs {
		all, err := db.Changes.Changes(w.t.Context(), db.Node(), 0, 1_000_000)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, c := range all {
			if c.Kind != beacon.LinkRefused {
				count++
			}
		}
	}
	return count
}

// Whole processes, as they run: the lease is handed on, and old events go.
func TestEvents_Processes(t *testing.T) {
	onEveryStore(t, func(t *testing.T, open func() *store.DB) {
		start := func(db *store.DB) (hub *events.Hub, keeper *lease.Holder, stop func()) {
			hub = startHub(t, db.Events)
			keeper = lease.NewHolder(db.Leases, "events", db.Node(), silent)
			s := events.NewSequencer(streams{db.Changes, db.Events}, keeper, clock.Of(atStoreTime), hub.Wake, silent)
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { keeper.Run(ctx) })
			running.Go(func() { s.Run(ctx) })
			stop = func() { cancel(); running.Wait() }
			t.Cleanup(stop)
			return hub, keeper, stop
		}
		first, second := open(), open()
		_, _, stop := start(first)
		hub, keeper, _ := start(second)
		register := func(n int) {
			t.Helper()
			if err := first.Hotspots.InsertHotspot(t.Context(), storetest.Hotspot(n), storetest.Actor, nil); err != nil {
				t.Fatal(err)
			}
		}
		s := subscribe(t, hub, -1)
		register(1)
		expect(t, s, 1, 1)
		stop()
		// After a clean end nobody has to wait until the lease has expired.
		l, taken, err := second.Leases.TakeLease(t.Context(), "events", "heir", time.Now(), time.Millisecond)
		if err != nil || !taken && l.Holder == first.Node() {
			t.Errorf("who has stopped still has the lease: %+v, %v", l, err)
		}
		register(2)
		expect(t, s, 2, 2)
		harness.Eventually(t, "the other prunes events", func() bool { // a machine that paused may have lost the lease
			l, held := keeper.Held()
			return held && l.Holder == second.Node() && second.Events.PruneEvents(t.Context(), l, storetest.Now.Add(time.Hour)) == nil
		})
		all, err := startHub(t, first.Events).Subscribe(t.Context(), 0) // all there is, after the first was deleted
		if err != nil {
			t.Fatal(err)
		}
		expect(t, all, 2, 2)
		if _, err := hub.Subscribe(t.Context(), 3); !errors.Is(err, events.ErrFuture) {
			t.Errorf("Subscribe(3) = %v; there are 2", err)
		}
		register(3)
		expect(t, s, 3, 3)
	})
}

// atStoreTime is the clock of what storetest makes.
func atStoreTime() time.Time { return storetest.Now }
