package storetest

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

// hold keeps the committer busy with an edit, so that the following operations queue up
// and form one group. It returns a function that ends the edit.
func hold(t *testing.T, db *store.DB, id beacon.HotspotID) (release func()) {
	t.Helper()
	entered, gate, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once sync.Once
	go func() {
		defer close(done)
		_, err := db.Hotspots.UpdateHotspot(context.WithoutCancel(t.Context()), id, Actor, beacon.HotspotUpdated, func(*beacon.Hotspot) (bool, error) {
			once.Do(func() { close(entered) })
			<-gate
			return false, nil
		})
		if err != nil {
			t.Errorf("the operation in front: %v", err)
		}
	}()
	<-entered
	return func() { close(gate); <-done }
}

// Patience is how long tests wait for what must happen. It only ends a test that hangs.
const Patience = 5 * time.Minute

func waitFor(t *testing.T, db *store.DB, waiting int) {
	t.Helper()
	for start := time.Now(); db.Waiting() != waiting; runtime.Gosched() {
		if time.Since(start) > Patience {
			t.Fatalf("%d operations wait; want %d", db.Waiting(), waiting)
		}
	}
}

// poisonedOperation: in a group of ten, one cannot be written. Only that one fails.
func poisonedOperation(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(0))
	poison := Hotspot(5)
	poison.ID = Hotspot(0).ID // not the MAC, which would be an ordinary conflict
	release := hold(t, db, Hotspot(0).ID)
	var all sync.WaitGroup
	const group = 10
	errs := make([]error, group+1)
	for n := 1; n <= group; n++ {
		all.Go(func() {
			h := Hotspot(n)
			if n == 5 {
				h = poison
			}
			errs[n] = db.Hotspots.InsertHotspot(t.Context(), h, repeatedBy(string(h.Device.MAC), Now, "made"), nil)
		})
	}
	waitFor(t, db, group)
	release()
	all.Wait()
	for n := 1; n <= group; n++ {
		if n == 5 {
			wantKind(t, "the poisoned one", errs[n], beacon.Internal)
		} else if errs[n] != nil {
			t.Errorf("hotspot %d suffers from the poisoned one: %v", n, errs[n])
		}
	}
	_, total, err := db.Hotspots.HotspotsOf(t.Context(), "usr_tester", "", 0, 1)
	if total != group || err != nil {
		t.Errorf("%d hotspots, %v; want %d", total, err, group)
	}
	wantHead(t, db, group)
	f := follower{t: t, db: db, seen: map[string]int64{}, versions: map[string]int64{}}
	f.follow()
	// Its idempotency record was rolled back with it.
	if err := db.Hotspots.InsertHotspot(t.Context(), Hotspot(5), repeatedBy(string(mac(5)), Now, "made"), nil); err != nil {
		t.Errorf("the healed one: %v", err)
	}
}

func panickingEdit(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(1))
	_, err := db.Hotspots.UpdateHotspot(t.Context(), Hotspot(1).ID, Actor, beacon.HotspotUpdated, func(*beacon.Hotspot) (bool, error) {
		panic("a mistake in an edit")
	})
	wantKind(t, "a panic", err, beacon.Internal)
	insert(t, db, Hotspot(2))
	wantHead(t, db, 2)
}

func cancelledContext(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(0))
	ctx, cancel := context.WithCancel(t.Context())
	release := hold(t, db, Hotspot(0).ID)
	left, stayed := make(chan error, 1), make(chan error, 1)
	go func() {
		err := db.Hotspots.InsertHotspot(ctx, Hotspot(1), Actor, nil)
		left <- err
	}()
	go func() {
		err := db.Hotspots.InsertHotspot(t.Context(), Hotspot(2), Actor, nil)
		stayed <- err
	}()
	waitFor(t, db, 2)
	cancel()
	err := <-left // at once, although the group is stuck
	wantKind(t, "who leaves before its turn", err, beacon.Overloaded)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want context.Canceled in it", err)
	}
	release()
	if err := <-stayed; err != nil {
		t.Errorf("who stays suffers: %v", err)
	}
	_, err = db.Hotspots.Hotspot(t.Context(), Hotspot(1).ID)
	wantKind(t, "what was called off", err, beacon.NotFound)
	wantHead(t, db, 2)

	err = db.Hotspots.InsertHotspot(ctx, Hotspot(3), Actor, nil)
	wantKind(t, "a write that comes too late", err, beacon.Overloaded)
	_, err = db.Hotspots.Hotspot(ctx, Hotspot(0).ID)
	wantKind(t, "a read that comes too late", err, beacon.Overloaded)
}

// leavingMidway: a caller leaves when its write is in the database and not yet committed.
// Of such a write nothing stays: a hotspot without its change would be unknown to every
// server until the next start, and to the audit log for ever.
func leavingMidway(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(0))
	ctx, cancel := context.WithCancel(t.Context())
	release := hold(t, db, Hotspot(0).ID)
	left, stayed, gone := make(chan error, 1), make(chan error, 1), make(chan struct{})
	go func() {
		left <- db.Hotspots.InsertHotspot(ctx, Hotspot(1), repeatedBy("first", Now, "made"), func(_, _, _ int) error {
			cancel() // the transaction has begun
			<-gone
			return nil
		})
		close(gone)
	}()
	go func() { stayed <- db.Hotspots.InsertHotspot(t.Context(), Hotspot(2), Actor, nil) }()
	waitFor(t, db, 2)
	release()
	wantKind(t, "who leaves midway", <-left, beacon.Internal)
	if err := <-stayed; err != nil {
		t.Errorf("who stays suffers: %v", err)
	}
	_, err := db.Hotspots.Hotspot(t.Context(), Hotspot(1).ID)
	wantKind(t, "what was left midway", err, beacon.NotFound)
	wantHead(t, db, 2)
	if err := db.Hotspots.InsertHotspot(t.Context(), Hotspot(1), repeatedBy("first", Now, "made"), nil); err != nil {
		t.Errorf("who comes back: %v", err)
	}
}

// panickingDone: a mistake in the caller's code, once its hotspots are written.
func panickingDone(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(0))
	err := db.Hotspots.InsertHotspots(t.Context(), []beacon.Hotspot{Hotspot(1)}, Actor, nil, func([]error) error { panic("a mistake") })
	wantKind(t, "a panic", err, beacon.Internal)
	_, err = db.Hotspots.Hotspot(t.Context(), Hotspot(1).ID)
	wantKind(t, "what it has written", err, beacon.NotFound)
	wantHead(t, db, 1)
}

// fullQueue: the database is slower than its clients. Some are rejected at once; the
// others are served.
func fullQueue(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(0))
	release := hold(t, db, Hotspot(0).ID)
	const crowd = 5000
	results := make(chan error, crowd)
	for range crowd {
		go func() { results <- db.Keys.RevokeKey(t.Context(), "key_unknown", Now, Actor) }()
	}
	wantKind(t, "one too many", <-results, beacon.Overloaded)
	release()
	served := 0
	for range crowd - 1 {
		e, ok := errors.AsType[*beacon.Error](<-results)
		if !ok || e.Kind != beacon.NotFound && e.Kind != beacon.Overloaded {
			t.Fatalf("one of the crowd: %v", e)
		}
		if e.Kind == beacon.NotFound {
			served++
		}
	}
	if served < 100 {
		t.Errorf("%d of %d were served", served, crowd)
	}
	waitFor(t, db, 0)
}

// closeDrains: accepted writes are committed, later ones are rejected.
func closeDrains(t *testing.T, database Database) {
	reader := database.open(t)
	db, err := database(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	insert(t, db, Hotspot(0))
	release := hold(t, db, Hotspot(0).ID)
	const waiting = 300 // more than one group
	var all sync.WaitGroup
	for n := range waiting {
		all.Go(func() {
			if err := db.Hotspots.InsertHotspot(t.Context(), Hotspot(n+1), Actor, nil); err != nil {
				t.Errorf("accepted before Close: %v", err)
			}
		})
	}
	waitFor(t, db, waiting)
	closed := make(chan error, 1)
	go func() { closed <- db.Close() }()
	awaitClosing(t, db)
	go release()
	if err := <-closed; err != nil {
		t.Errorf("Close = %v", err)
	}
	if heads := must(reader.Changes.Heads(t.Context())); heads[db.Node()] != waiting+1 {
		t.Errorf("head %d once Close returned; want %d", heads[db.Node()], waiting+1)
	}
	all.Wait()
	err = db.Hotspots.InsertHotspot(t.Context(), Hotspot(1000), Actor, nil)
	wantKind(t, "a write after Close", err, beacon.Overloaded)
}

// awaitClosing waits until the store accepts no more writes. Those that it still
// accepts are canceled.
func awaitClosing(t *testing.T, db *store.DB) {
	t.Helper()
	for start := time.Now(); time.Since(start) < Patience; {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		err := db.Keys.RevokeKey(ctx, "key_unknown", Now, Actor)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			return
		}
	}
	t.Fatal("Close does not begin")
}

func reopen(t *testing.T, database Database) {
	first, err := database(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	insert(t, first, Hotspot(1))
	insertKeys(t, first, key("key_1"))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	db := database.open(t)
	if db.Node() == first.Node() {
		t.Errorf("two nodes of one name")
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("Ping = %v", err)
	}
	insert(t, db, Hotspot(2))
	equal(t, "the hotspot", must(db.Hotspots.Hotspot(t.Context(), Hotspot(1).ID)), Hotspot(1))
	equal(t, "the key", must(db.Keys.Key(t.Context(), "key_1")), key("key_1"))
	equal(t, "heads", must(db.Changes.Heads(t.Context())), map[string]int64{first.Node(): 2, db.Node(): 1})
}

// openAtOnce: many processes start on an empty database.
func openAtOnce(t *testing.T, database Database) {
	const starters = 6
	nodes := make([]*store.DB, starters)
	errs := make([]error, starters)
	var all sync.WaitGroup
	for i := range starters {
		all.Go(func() { nodes[i], errs[i] = database(t.Context(), "") })
	}
	all.Wait()
	for i, db := range nodes {
		if errs[i] != nil {
			t.Fatalf("starter %d: %v", i, errs[i])
		}
		insert(t, db, Hotspot(i))
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// watch: the callback gets every transaction with its stream and its outcome, and Pools
// shows the connections they use.
func watch(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(1)) // not watched yet
	var mu sync.Mutex
	heard := map[string]int{}
	db.Watch(func(c store.Commit) {
		mu.Lock()
		defer mu.Unlock()
		heard[c.Stream+" "+c.Outcome]++
		if c.Took <= 0 {
			t.Errorf("%+v took no time", c)
		}
	})
	insert(t, db, Hotspot(2), Hotspot(3))
	must(db.Journal.AppendBeats(t.Context(), batch(1)))
	again := Hotspot(4)
	again.ID = Hotspot(1).ID
	if err := db.Hotspots.InsertHotspot(t.Context(), again, beacon.Actor{}, nil); err == nil {
		t.Error("an id was taken twice")
	}
	must(db.Changes.Heads(t.Context())) // something is read
	mu.Lock()
	defer mu.Unlock()
	equal(t, "what was heard", heard, map[string]int{"changes committed": 2, "changes refused": 1, "journal committed": 1})
	write, read := db.Pools()
	if write.MaxOpenConnections < 1 || read.MaxOpenConnections < 1 || write.OpenConnections < 1 || read.OpenConnections < 1 {
		t.Errorf("the pools are %+v and %+v", write, read)
	}
}
