package replica_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func openNode(t testing.TB, path string) *store.DB {
	t.Helper()
	return storetest.Opened(t)(sqlite.Open(t.Context(), path, sqlite.Options{Now: storetest.Now, Wait: storetest.Patience}))
}

type tables struct {
	store.ChangeTable
	store.HotspotTable
	store.SettingTable
}

// Two processes write to one file while a third follows: it misses nothing.
func TestFollower_RealStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	nodes := []*store.DB{openNode(t, path), openNode(t, path)}
	reader := openNode(t, path)
	insert(t, nodes[0], 0)

	f, fo := follow(t, tables{reader.Changes, reader.Hotspots, reader.Settings}, noKeys)
	const writers, each = 6, 40
	seed := level.Seed(t)
	var next atomic.Int64
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			db, random := nodes[w%len(nodes)], rand.New(rand.NewPCG(seed, uint64(w)))
			for range each {
				write(t, db, random, int(next.Add(1)))
			}
		})
	}
	written := make(chan struct{})
	go func() {
		all.Wait()
		close(written)
	}()
	steps := 0
	for going := true; going; steps++ {
		select {
		case <-written:
			going = false
		default:
		}
		mustStep(t, fo)
	}
	want := map[string]int64{}
	var mu sync.Mutex
	err := reader.Hotspots.EachHotspot(t.Context(), time.Time{}, func(h beacon.Hotspot) error {
		mu.Lock()
		defer mu.Unlock()
		want[string(h.ID)] = h.Version
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, versions(f)); diff != "" || len(want) < writers*each/2 || steps < 3 {
		t.Errorf("after %d steps the fleet differs from the %d hotspots of the store (-store +fleet):\n%s", steps, len(want), diff)
	}
}

// write registers a hotspot, and changes or deletes an earlier one.
func write(t *testing.T, db *store.DB, random *rand.Rand, n int) {
	insert(t, db, n)
	kind := beacon.HotspotUpdated
	earlier := storetest.Hotspot(random.IntN(n)).ID
	_, err := db.Hotspots.UpdateHotspot(context.Background(), earlier, storetest.Actor, kind, func(h *beacon.Hotspot) (bool, error) {
		h.Name = fmt.Sprintf("Changed by %d", n)
		if n%7 == 0 {
			h.DeletedAt = storetest.Now
		}
		return true, nil
	})
	if e, ok := err.(*beacon.Error); err != nil && (!ok || e.Kind != beacon.NotFound) { //nolint:errorlint // the store gives no other
		t.Error(err) // not there: deleted, or not yet registered
	}
}

func insert(t testing.TB, db *store.DB, n int) {
	if err := db.Hotspots.InsertHotspot(context.Background(), storetest.Hotspot(n), storetest.Actor, nil); err != nil {
		t.Error(err)
	}
}
