//go:build linux

package torture_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF10_Replicas: three servers on one database, all connections of which end
// twice a second. Everyone writes through all of them, and some beside them in
// transactions that stay open for a while. One server is frozen in the middle of
// its work, one is killed; then the first sleeps and the other is cut off from the
// database, while others write. In the end each shows exactly what the database
// holds, and nothing was missed.
func TestF10_Replicas(t *testing.T) {
	t.Parallel() // it mostly waits
	r := newReplicas(t)
	r.checkStaleness(t)
	stopCutting := r.cutConnections(t)
	stopWriting := r.writeSlowly(t)
	stopDeleting := r.registerAndDelete(t)

	running := r.load.on(t, r.servers...)
	for range rounds(1, 1, 8) {
		running.until(300)
		r.servers[2].Freeze(t)
		harness.Eventually(t, "everyone waits for the server that is frozen", func() bool {
			return running.waitingFor(r.servers[2]).Load() == clients
		})
		r.servers[2].Signal(t, syscall.SIGCONT)
	}
	running.until(100)
	running.stop()

	for range rounds(1, 1, 8) {
		running = r.load.on(t, r.servers[:2]...)
		running.until(100)
		r.servers[1].Kill()
		running.stop()
		r.restart(t, 1)
		r.servers[2].Freeze(t)
		r.cutOff(t, func() { // last, or a fresh start would hide what was missed
			running = r.load.on(t, r.servers[0])
			running.until(200)
			running.stop()
		})
		r.servers[2].Signal(t, syscall.SIGCONT)
	}
	stopDeleting()
	stopWriting()
	stopCutting()
	r.load.converges(t, r.servers...)
	r.load.checkAll(t, r.servers[0])
}

// replicas are servers on one database.
type replicas struct {
	db      string
	servers []*harness.Server
	proxy   *harness.Proxy // between the database and server 1
	behind  string
	load    *load

	starting sync.Mutex // a server that starts gives up when it is cut off
}

func newReplicas(t *testing.T) *replicas {
	t.Helper()
	r := &replicas{db: harness.NewDatabase(t, "postgres")}
	r.proxy, r.behind = harness.ThroughProxy(t, r.db)
	for i := range 3 {
		r.servers = append(r.servers, harness.Start(t, r.address(t, i)))
	}
	r.load = newLoad(t, r.servers[0])
	return r
}

// cutOff keeps server 1 from the database until it has noticed, while something
// else is done.
func (r *replicas) cutOff(t *testing.T, meanwhile func()) {
	t.Helper()
	outages := func() int { return strings.Count(r.servers[1].Log(t), "cannot follow the changes") }
	before := outages()
	r.proxy.Set(harness.Cut)
	defer r.proxy.Set(harness.Healed)
	harness.Eventually(t, "the server misses its database", func() bool { return outages() > before })
	meanwhile()
}

func (r *replicas) restart(t *testing.T, i int) {
	t.Helper()
	r.starting.Lock()
	defer r.starting.Unlock()
	r.servers[i] = harness.Start(t, r.address(t, i))
}

// address names the connections of a server, to tell them from those of the test.
func (r *replicas) address(t testing.TB, i int) string {
	t.Helper()
	db := r.db
	if i == 1 {
		db = r.behind
	}
	address, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	settings := address.Query()
	settings.Set("application_name", fmt.Sprintf("replica%d", i))
	address.RawQuery = settings.Encode()
	return address.String()
}

// cutConnections ends the connections of all servers, again and again.
func (r *replicas) cutConnections(t *testing.T) (stop func()) {
	t.Helper()
	pool := harness.OpenSQL(t, r.db)
	ctx, cancel := context.WithCancel(t.Context())
	var ended atomic.Int64
	var cutting sync.WaitGroup
	cutting.Go(func() {
		ticker := time.NewTicker(500 * time.Millisecond)
		defer ticker.Stop()
		for ; ctx.Err() == nil; <-ticker.C {
			var n int64
			r.starting.Lock()
			err := pool.QueryRowContext(t.Context(), `SELECT count(*) FROM
				(SELECT pg_terminate_backend(pid) FROM pg_stat_activity
					WHERE datname = current_database() AND application_name LIKE 'replica%') AS ended`).Scan(&n)
			r.starting.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			ended.Add(n)
		}
	})
	return func() {
		harness.Eventually(t, "enough connections were ended", func() bool { return ended.Load() >= 20 || t.Failed() })
		cancel()
		cutting.Wait()
		t.Logf("%d connections were ended", ended.Load())
	}
}

// checkStaleness registers through one server after the other: each hotspot comes to
// the maps of all.
func (r *replicas) checkStaleness(t *testing.T) {
	t.Helper()
	longest := time.Duration(0)
	for i := range 2 * len(r.servers) {
		n := int(r.load.number.Add(1)) - 1
		r.load.admin.MustRegister(t, r.servers[i%len(r.servers)], n)
		answered := time.Now()
		for _, s := range r.servers {
			harness.Eventually(t, "a new hotspot on every server", func() bool {
				return len(hotspotIDs(r.load.admin.Do(t.Context(), http.MethodGet, s.URL+placeOf(&hotspot{number: n}), nil))) == 1
			})
		}
		longest = max(longest, time.Since(answered))
	}
	t.Logf("a write was visible everywhere after %v at the most", longest)
}

// registerAndDelete does so through the one server that is neither frozen nor
// killed.
func (r *replicas) registerAndDelete(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	var deleted atomic.Int64
	writing.Go(func() {
		admin, s, rng := r.load.admin, r.servers[0], rand.New(rand.NewPCG(r.load.seed, 101))
		for ctx.Err() == nil {
			a := admin.Register(t.Context(), s, int(r.load.number.Add(1))-1)
			if a.Outcome() == harness.Done && admin.Do(t.Context(), http.MethodDelete, s.URL+"/v1/hotspots/"+a.Fields(t)["id"].(string), nil).Outcome() == harness.Done {
				deleted.Add(1)
			}
			time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond) // the pause of a client
		}
	})
	return func() {
		harness.Eventually(t, "enough hotspots were deleted", func() bool { return deleted.Load() >= 10 })
		cancel()
		writing.Wait()
		t.Logf("%d hotspots were deleted", deleted.Load())
	}
}

// writeSlowly changes hotspots beside the servers, in transactions that stay open
// for a while: the order of commits is then not that of anything else.
func (r *replicas) writeSlowly(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	var written atomic.Int64
	for i := range uint64(4) {
		db, rng := harness.OpenStore(t, r.db), rand.New(rand.NewPCG(r.load.seed, 102+i))
		writing.Go(func() {
			for ctx.Err() == nil {
				d := r.load.devices[rng.IntN(len(r.load.devices))] // of which the history knows nothing but beats
				if err := changeSlowly(t.Context(), db, rng, beacon.HotspotID(d.Hotspot)); err == nil {
					written.Add(1)
				}
			}
		})
	}
	return func() {
		harness.Eventually(t, "enough slow transactions were committed", func() bool { return written.Load() >= 20 })
		cancel()
		writing.Wait()
		t.Logf("%d slow transactions were committed", written.Load())
	}
}

func changeSlowly(ctx context.Context, db *store.DB, rng *rand.Rand, id beacon.HotspotID) error {
	_, err := db.Hotspots.UpdateHotspot(ctx, id, storetest.Actor, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
		h.UpdatedAt = time.Now().UTC().Truncate(time.Microsecond)
		h.Name = fmt.Sprintf("Slowly %d", rng.Int32())
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond) // the length of the transaction
		return true, nil
	})
	return err
}
