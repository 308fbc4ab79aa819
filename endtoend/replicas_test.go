//go:build linux

package endtoend_test

import (
	"context"
	"database/sql"
	"encoding/json"
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

	_ "github.com/jackc/pgx/v5/stdlib" // to end connections from outside

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/store"
	"github.com/beacon-wifi/beacon/store/storetest"
)

// TestReplicas: three servers on one database, eight writers through random
// ones of them, and two beside them that hold transactions open for random
// times. Meanwhile one server is frozen, one killed and started again, and one
// loses its connections again and again. In the end each shows exactly what the
// database holds.
func TestReplicas(t *testing.T) {
	db := storetest.Postgres(t)
	r := startReplicas(t, db)
	handle := rig.OpenStore(t, db)
	direct := rig.OpenStore(t, db)

	load, stopLoad := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() { r.write(load) })
	}
	for range 2 {
		writers.Go(func() { r.writeSlowly(load, direct) })
	}
	stale := r.measureStaleness(t, 24)
	t.Logf("a write was visible on all replicas after %v at the most, %v on average", stale.longest, stale.mean())
	if stale.late > 1 { // one may fall into a moment in which the machine does something else
		t.Errorf("%d of %d writes took more than a second to be visible everywhere", stale.late, stale.samples)
	}
	r.hurt(t)
	stopLoad()
	writers.Wait()

	want := rig.Truth(t, handle)
	t.Logf("%d writes done, %d refused, %d unknown; %d hotspots", r.count[rig.Done].Load(), r.count[rig.Refused].Load(), r.count[rig.Unknown].Load(), len(want))
	if len(want) < 100 {
		t.Errorf("only %d hotspots: the load was too thin", len(want))
	}
	for i := range r.servers {
		took := r.client.Converges(t, r.server(i), want, int(r.next.Load()), 2*time.Second)
		t.Logf("replica %d equals the database %v after the look at it", i, took)
	}
}

// replicas are three servers on one database.
type replicas struct {
	db      string
	client  *rig.Client
	servers [3]atomic.Pointer[rig.Server]
	down    [3]atomic.Bool // not to be written through right now
	next    atomic.Int64
	count   map[rig.Outcome]*atomic.Int64

	mu  sync.Mutex
	ids []string // of hotspots that were registered, alive or not
}

func startReplicas(t *testing.T, db string) *replicas {
	t.Helper()
	r := &replicas{db: db, count: map[rig.Outcome]*atomic.Int64{rig.Done: {}, rig.Refused: {}, rig.Unknown: {}}}
	for i := range r.servers {
		r.servers[i].Store(rig.Start(t, r.address(t, i)))
	}
	r.client = rig.NewClient(t, rig.CreateKey(t, db, "hotspots:write").Key)
	return r
}

// address names the connections of a replica, to tell them apart.
func (r *replicas) address(t testing.TB, i int) string {
	t.Helper()
	address, err := url.Parse(r.db)
	if err != nil {
		t.Fatal(err)
	}
	settings := address.Query()
	settings.Set("application_name", fmt.Sprintf("replica%d", i))
	address.RawQuery = settings.Encode()
	return address.String()
}

func (r *replicas) server(i int) *rig.Server { return r.servers[i].Load() }

// any gives a replica that answers.
func (r *replicas) any() *rig.Server {
	for {
		if i := rand.IntN(len(r.servers)); !r.down[i].Load() {
			return r.server(i)
		}
	}
}

func (r *replicas) anyID() (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ids) == 0 {
		return "", false
	}
	return r.ids[rand.IntN(len(r.ids))], true
}

// write registers, changes and deletes until ctx ends.
func (r *replicas) write(ctx context.Context) {
	always := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		var a rig.Answer
		id, ok := r.anyID()
		switch dice := rand.IntN(10); {
		case dice < 4 || !ok:
			a = r.client.Register(always, r.any(), int(r.next.Add(1)))
			var made struct{ ID string }
			if a.Outcome() == rig.Done && json.Unmarshal(a.Data, &made) == nil {
				r.mu.Lock()
				r.ids = append(r.ids, made.ID)
				r.mu.Unlock()
			}
		case dice < 9:
			a = r.client.Patch(always, r.any(), id, rig.Fields{
				"name": fmt.Sprintf("Changed %d", rand.Int32()), "settings": rig.Fields{"coverage_radius_m": 10 + rand.IntN(490)},
			})
		default:
			a = r.client.Do(always, http.MethodDelete, r.any().URL+"/v1/hotspots/"+id, nil)
		}
		r.count[a.Outcome()].Add(1)
		time.Sleep(rand.N(20 * time.Millisecond)) // the pause of a client, not a wait for anything
	}
}

// writeSlowly changes hotspots in transactions that stay open for a while: the
// order of commits is then not that of anything else.
func (r *replicas) writeSlowly(ctx context.Context, db *store.DB) {
	always := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		id, ok := r.anyID()
		if !ok {
			continue
		}
		_, err := db.UpdateHotspot(always, beacon.HotspotID(id), storetest.Actor, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
			time.Sleep(rand.N(60 * time.Millisecond)) // the length of the transaction
			h.Name = fmt.Sprintf("Slowly %d", rand.Int32())
			return true, nil
		})
		if e, ok := err.(*beacon.Error); ok && e.Kind != beacon.NotFound { //nolint:errorlint // the store gives no other
			r.count[rig.Unknown].Add(1)
		}
	}
}

// staleness is how long writes took to be seen everywhere.
type staleness struct {
	longest, sum  time.Duration
	samples, late int
}

func (s staleness) mean() time.Duration { return s.sum / time.Duration(max(s.samples, 1)) }

// measureStaleness registers through one replica after the other, and looks
// for each on all of them.
func (r *replicas) measureStaleness(t *testing.T, samples int) (s staleness) {
	t.Helper()
	for i := range samples {
		n := int(r.next.Add(1))
		id := r.client.MustRegister(t, r.server(i%len(r.servers)), n)
		lat, lng := rig.PlaceOf(n)
		answered := time.Now()
		for j := range r.servers {
			rig.Eventually(t, 5*time.Second, "a new hotspot on every replica", func() bool {
				a := r.client.Do(t.Context(), http.MethodGet,
					fmt.Sprintf("%s/v1/hotspots/nearby?status=all&limit=1&radius=1&lat=%v&lng=%v", r.server(j).URL, lat, lng), nil)
				return a.Status == http.StatusOK && strings.Contains(string(a.Data), id)
			})
		}
		took := time.Since(answered)
		s.longest, s.sum, s.samples = max(s.longest, took), s.sum+took, s.samples+1
		if took > time.Second {
			s.late++
		}
	}
	return s
}

// hurt does something else to each replica, all at the same time.
func (r *replicas) hurt(t *testing.T) {
	t.Helper()
	var all sync.WaitGroup
	all.Go(func() { // frozen, as a machine that swaps or is moved
		r.down[0].Store(true)
		r.server(0).Signal(t, syscall.SIGSTOP)
		time.Sleep(3 * time.Second) // for how long it is frozen
		r.server(0).Signal(t, syscall.SIGCONT)
		r.down[0].Store(false)
	})
	all.Go(func() { // its database connections are cut
		r.cutConnections(t, "replica1", 200*time.Millisecond, 3*time.Second)
	})
	r.down[2].Store(true) // killed and started again; here, because only this goroutine may end the test
	r.server(2).Kill()
	r.servers[2].Store(rig.Start(t, r.address(t, 2)))
	r.down[2].Store(false)
	all.Wait()
}

// cutConnections ends the connections of a name, again and again.
func (r *replicas) cutConnections(t *testing.T, name string, every, span time.Duration) {
	pool, err := sql.Open("pgx", r.db)
	if err != nil {
		t.Error(err)
		return
	}
	defer pool.Close()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	ended := 0
	for deadline := time.Now().Add(span); time.Now().Before(deadline); <-ticker.C {
		var n int
		err := pool.QueryRowContext(t.Context(),
			`SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1) AS ended`, name).Scan(&n)
		if err != nil {
			t.Error(err)
			return
		}
		ended += n
	}
	t.Logf("%d connections of %s were ended", ended, name)
	if ended == 0 {
		t.Errorf("no connection of %s was found", name)
	}
}
