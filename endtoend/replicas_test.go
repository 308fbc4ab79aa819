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
	handle := openStore(t, db)
	direct := openStore(t, db)

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

	want := truth(t, handle)
	t.Logf("%d writes done, %d refused, %d unknown; %d hotspots", r.count[done].Load(), r.count[refused].Load(), r.count[unknown].Load(), len(want))
	if len(want) < 100 {
		t.Errorf("only %d hotspots: the load was too thin", len(want))
	}
	for i := range r.servers {
		took := r.client.converges(t, r.server(i), want, int(r.next.Load()), 2*time.Second)
		t.Logf("replica %d equals the database %v after the look at it", i, took)
	}
}

// replicas are three servers on one database.
type replicas struct {
	db      string
	client  *client
	servers [3]atomic.Pointer[server]
	down    [3]atomic.Bool // not to be written through right now
	next    atomic.Int64
	count   map[outcome]*atomic.Int64

	mu  sync.Mutex
	ids []string // of hotspots that were registered, alive or not
}

func startReplicas(t *testing.T, db string) *replicas {
	t.Helper()
	r := &replicas{db: db, count: map[outcome]*atomic.Int64{done: {}, refused: {}, unknown: {}}}
	for i := range r.servers {
		r.servers[i].Store(start(t, r.address(t, i)))
	}
	r.client = newClient(t, createKey(t, db, "hotspots:write").Key)
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

func (r *replicas) server(i int) *server { return r.servers[i].Load() }

// any gives a replica that answers.
func (r *replicas) any() *server {
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
		var a answer
		id, ok := r.anyID()
		switch dice := rand.IntN(10); {
		case dice < 4 || !ok:
			a = r.client.register(always, r.any(), int(r.next.Add(1)))
			var made struct{ ID string }
			if a.outcome() == done && json.Unmarshal(a.data, &made) == nil {
				r.mu.Lock()
				r.ids = append(r.ids, made.ID)
				r.mu.Unlock()
			}
		case dice < 9:
			a = r.client.patch(always, r.any(), id, fields{
				"name": fmt.Sprintf("Changed %d", rand.Int32()), "settings": fields{"coverage_radius_m": 10 + rand.IntN(490)},
			})
		default:
			a = r.client.do(always, http.MethodDelete, r.any().url+"/v1/hotspots/"+id, nil)
		}
		r.count[a.outcome()].Add(1)
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
			r.count[unknown].Add(1)
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
		id := r.client.mustRegister(t, r.server(i%len(r.servers)), n)
		lat, lng := placeOf(n)
		answered := time.Now()
		for j := range r.servers {
			eventually(t, 5*time.Second, "a new hotspot on every replica", func() bool {
				a := r.client.do(t.Context(), http.MethodGet,
					fmt.Sprintf("%s/v1/hotspots/nearby?status=all&limit=1&radius=1&lat=%v&lng=%v", r.server(j).url, lat, lng), nil)
				return a.status == http.StatusOK && strings.Contains(string(a.data), id)
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
		r.server(0).signal(t, syscall.SIGSTOP)
		time.Sleep(3 * time.Second) // for how long it is frozen
		r.server(0).signal(t, syscall.SIGCONT)
		r.down[0].Store(false)
	})
	all.Go(func() { // its database connections are cut
		r.cutConnections(t, "replica1", 200*time.Millisecond, 3*time.Second)
	})
	r.down[2].Store(true) // killed and started again; here, because only this goroutine may end the test
	r.server(2).kill()
	r.servers[2].Store(start(t, r.address(t, 2)))
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
