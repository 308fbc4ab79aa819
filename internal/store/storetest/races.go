package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

func macRace(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	const rounds, racers = 5, 16
	for round := range rounds {
		var won atomic.Int32
		var all sync.WaitGroup
		for racer := range racers {
			all.Go(func() {
				h := Hotspot(round*racers + racer)
				h.Device.MAC = mac(round)
				err := insist(func() error {
					err := nodes[racer%2].Hotspots.InsertHotspot(t.Context(), h, Actor, nil)
					return err
				})
				if err == nil {
					won.Add(1)
					return
				}
				wantKind(t, "a racer", err, beacon.Conflict)
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("round %d: %d of %d got the MAC; want 1", round, won.Load(), racers)
		}
	}
}

// insist repeats a write until it is not rejected. A store gives up on a write that
// lost too often against others, as it may on a busy machine, and guarantees that
// nothing was written.
func insist(write func() error) error {
	for began := time.Now(); ; {
		err := write()
		var known *beacon.Error
		if !errors.As(err, &known) || known.Kind != beacon.Overloaded || time.Since(began) > Patience {
			return err
		}
	}
}

// noLostUpdate: eight goroutines at two nodes increment one row.
func noLostUpdate(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	h := Hotspot(1)
	insert(t, nodes[0], h)
	const writers, times = 8, 20
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for range times {
				edit(t, nodes[writer%2], h.ID)
			}
		})
	}
	all.Wait()
	got := must(nodes[0].Hotspots.Hotspot(t.Context(), h.ID))
	if want := h.Settings.MaxConnections + writers*times; got.Settings.MaxConnections != want || got.Version != 1+writers*times {
		t.Errorf("counted to %d, version %d; want %d, %d", got.Settings.MaxConnections, got.Version, want, 1+writers*times)
	}
}

// edit adds a connection to those that a hotspot allows, however many others write it.
func edit(t testing.TB, db *store.DB, id beacon.HotspotID) {
	t.Helper()
	err := insist(func() error {
		_, err := db.Hotspots.UpdateHotspot(t.Context(), id, Actor, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
			h.Settings.MaxConnections++
			return true, nil
		})
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// streamsOfTwoNodes: eight writers at two nodes, and a follower that reads while they
// write. It must read every change, in order, without a gap, and the row must be
// visible by then.
func streamsOfTwoNodes(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	const writers, times = 8, 25
	var written [2]atomic.Int64
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(writer)))
			for n := range times {
				node := nodes[writer%2]
				h := Hotspot(writer*times + n)
				insertQuietly(t, node, h, &written[writer%2])
				for range random.IntN(3) {
					updateSlowly(t, node, h.ID, random.IntN(200), &written[writer%2])
				}
				_ = node.Hotspots.InsertHotspot(t.Context(), h, Actor, nil) // writes nothing: the MAC is taken
			}
		})
	}
	finished := make(chan struct{})
	go func() { all.Wait(); close(finished) }()

	f := follower{t: t, db: nodes[0], seen: map[string]int64{}, versions: map[string]int64{}}
	for running := true; running; {
		select {
		case <-finished:
			running = false
		default:
		}
		f.follow()
		runtime.Gosched() // else each yield of a writer, which holds the lock, lasts a whole time slice of this goroutine
	}
	for i, node := range nodes {
		if f.seen[node.Node()] != written[i].Load() || f.seen[node.Node()] == 0 {
			t.Errorf("the follower met %d changes of node %d; %d were acknowledged", f.seen[node.Node()], i, written[i].Load())
		}
	}
	live := 0
	var mu sync.Mutex
	err := nodes[1].Hotspots.EachHotspot(t.Context(), time.Time{}, func(h beacon.Hotspot) error {
		mu.Lock()
		defer mu.Unlock()
		live++
		if f.versions[string(h.ID)] != h.Version {
			t.Errorf("%s: the follower has version %d; it is %d", h.ID, f.versions[string(h.ID)], h.Version)
		}
		return nil
	})
	if err != nil || live != writers*times {
		t.Errorf("%d hotspots, %v; want %d", live, err, writers*times)
	}
}

func insertQuietly(t *testing.T, db *store.DB, h beacon.Hotspot, written *atomic.Int64) {
	err := insist(func() error {
		err := db.Hotspots.InsertHotspot(t.Context(), h, Actor, nil)
		return err
	})
	if err != nil {
		t.Error(err)
		return
	}
	written.Add(1)
}

// updateSlowly makes transactions of different lengths, so that those of the two nodes
// overlap in many ways.
func updateSlowly(t *testing.T, db *store.DB, id beacon.HotspotID, yields int, written *atomic.Int64) {
	err := insist(func() error {
		_, err := db.Hotspots.UpdateHotspot(t.Context(), id, Actor, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
			for range yields {
				runtime.Gosched()
			}
			h.Settings.MaxConnections++
			return true, nil
		})
		return err
	})
	if err != nil {
		t.Error(err)
		return
	}
	written.Add(1)
}

type follower struct {
	t        *testing.T
	db       *store.DB
	seen     map[string]int64 // by node
	versions map[string]int64 // by hotspot
}

// follow reads the new changes up to the current heads.
func (f *follower) follow() {
	for node, head := range must(f.db.Changes.Heads(f.t.Context())) {
		for f.seen[node] < head {
			changes := must(f.db.Changes.Changes(f.t.Context(), node, f.seen[node], 10))
			if len(changes) == 0 {
				f.t.Fatalf("%s: head %d, but nothing after %d", node, head, f.seen[node])
			}
			ids := make([]beacon.HotspotID, len(changes))
			for i, c := range changes {
				f.seen[node]++
				if c.Seq != f.seen[node] {
					f.t.Fatalf("%s: change %d comes where %d was due", node, c.Seq, f.seen[node])
				}
				ids[i] = beacon.HotspotID(c.Target)
			}
			rows := map[string]int64{}
			for _, h := range must(f.db.Hotspots.HotspotsByID(f.t.Context(), ids)) {
				rows[string(h.ID)] = h.Version
				f.versions[string(h.ID)] = max(f.versions[string(h.ID)], h.Version)
			}
			for _, c := range changes {
				if rows[c.Target] < c.Version {
					f.t.Errorf("change to version %d of %s is visible before the row (version %d)", c.Version, c.Target, rows[c.Target])
				}
			}
		}
	}
}

// sharedStream: several writers use one stream at once, as the command line may. Every
// write succeeds, and the stream has no gap.
func sharedStream(t *testing.T, database Database) {
	const writers, each = 4, 6
	var group sync.WaitGroup
	for w := range writers {
		db := database.openNode(t, store.SharedNode)
		group.Go(func() {
			for n := range each {
				k := key(beacon.KeyID(fmt.Sprintf("key_%d_%d", w, n)))
				if err := insist(func() error { return db.Keys.InsertKey(t.Context(), k, Actor, nil) }); err != nil {
					t.Errorf("writer %d, key %d: %v", w, n, err)
				}
			}
		})
	}
	group.Wait()
	db := database.open(t)
	changes := must(db.Changes.Changes(t.Context(), store.SharedNode, 0, 1000))
	if len(changes) != writers*each {
		t.Errorf("the stream has %d changes; want %d", len(changes), writers*each)
	}
	for i, c := range changes {
		if c.Seq != int64(i+1) {
			t.Fatalf("change %d of the stream has the number %d", i+1, c.Seq)
		}
	}
	equal(t, "heads", must(db.Changes.Heads(t.Context())), map[string]int64{store.SharedNode: writers * each})
}
