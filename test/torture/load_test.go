//go:build linux

package torture_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// share is how many of a hundred operations are of a kind.
type share struct {
	kind   kind
	weight int
}

// mix is what people and devices do all day.
var mix = []share{
	{beat, 40},
	{register, 15},
	{change, 15},
	{read, 10},
	{nearby, 10},
	{covered, 5},
	{earned, 5},
}

const (
	clients = 16
	devices = 2 * clients // each client has its own: a device is one thing after the other
)

// user owns hotspots.
type user struct {
	*harness.Client
	id string
}

// load is many users and devices that ask all sorts of things of a server, and
// what they know afterwards. A test of a fault reads:
//
//	load := newLoad(t, s)
//	running := load.on(s)
//	running.until(300)
//	s.Kill()
//	running.stop()
//	s = harness.Start(t, db)
//	load.check(t, s)
//
// and ends with load.checkAll.
type load struct {
	*history
	seed    uint64
	rng     *rand.Rand // of the test itself: when to hurt
	mix     []share
	admin   *harness.Client
	users   []*user
	devices []*harness.Device
	number  atomic.Int64 // of the next hotspot
	rounds  uint64
}

// newLoad makes the users and devices on a server that stands.
func newLoad(t *testing.T, s *harness.Server) *load {
	t.Helper()
	l := newUsers(t, s)
	l.devices = harness.LinkDevices(t, l.admin, s, 0, devices)
	return l
}

// newUsers is a load without devices, for tests that say what is done.
func newUsers(t *testing.T, s *harness.Server) *load {
	t.Helper()
	l := &load{history: newHistory(), seed: level.Seed(t), mix: mix, admin: harness.NewClient(t, harness.CreateKey(t, s.DB, "admin").Key)}
	l.rng = rand.New(rand.NewPCG(l.seed, 0))
	for range rounds(12, 12, 48) {
		u, _ := l.newUser(t, s)
		l.users = append(l.users, u)
	}
	l.number.Store(devices)
	return l
}

// newUser makes a user with a key.
func (l *load) newUser(t *testing.T, s *harness.Server) (u *user, key string) {
	t.Helper()
	made := l.admin.Ask(t, http.MethodPost, s.URL+"/v1/keys", harness.Fields{"user_id": "new", "scopes": []string{"hotspots:write", "hotspots:verify", "rewards:read"}}) // exempt from quotas
	if t.Failed() {
		t.FailNow()
	}
	u = &user{harness.NewClient(t, made["key"].(string)), made["user_id"].(string)}
	u.HTTP = l.admin.HTTP // one pool of connections
	return u, made["id"].(string)
}

// reserve registers a hotspot that no client changes: it is the test's own. The load
// must not run yet.
func (l *load) reserve(t *testing.T, s *harness.Server) *hotspot {
	t.Helper()
	n := int(l.number.Add(1)) - 1
	hotspot, a := l.register(t.Context(), s, l.users[0], n, clients, harness.MACOf(n))
	if a.Outcome() != harness.Done {
		t.Fatalf("registration %d was answered %d %s %v", n, a.Status, a.Code, a.Err)
	}
	l.there = l.there[:len(l.there)-1]
	return hotspot
}

// running is a load at work.
type running struct {
	t       testing.TB
	load    *load
	servers []*harness.Server
	acked   atomic.Int64
	waiting sync.Map // how many clients wait for a server: *atomic.Int64 by *harness.Server
	end     context.CancelFunc
	clients sync.WaitGroup
}

// on lets the clients ask, each one thing after the other, until they are
// stopped or their server is gone.
func (l *load) on(t testing.TB, servers ...*harness.Server) *running {
	ctx, end := context.WithCancel(t.Context())
	r := &running{t: t, load: l, servers: servers, end: end}
	l.rounds++
	for i := range clients {
		c := &client{running: r, number: i, rng: rand.New(rand.NewPCG(l.seed, l.rounds<<8|uint64(i)))}
		r.clients.Go(func() {
			for ctx.Err() == nil && c.step(context.WithoutCancel(ctx)) {
			}
		})
	}
	return r
}

// until waits for a number of operations that were acknowledged.
func (r *running) until(operations int) {
	r.t.Helper()
	enough := r.acked.Load() + int64(operations)
	harness.Eventually(r.t, fmt.Sprintf("%d operations", operations), func() bool { return r.acked.Load() >= enough })
}

// waitingFor counts the clients that wait for a server.
func (r *running) waitingFor(s *harness.Server) *atomic.Int64 {
	n, _ := r.waiting.LoadOrStore(s, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// stop lets all clients finish what they are at.
func (r *running) stop() {
	r.t.Helper()
	r.end()
	r.clients.Wait()
	for _, s := range r.servers {
		r.load.checkLog(r.t, s)
	}
}

// client is one of those who ask.
type client struct {
	*running
	number int
	rng    *rand.Rand
}

// step asks one thing; it is false when the server is gone.
func (c *client) step(ctx context.Context) bool {
	s := c.servers[c.rng.IntN(len(c.servers))]
	c.waitingFor(s).Add(1)
	a := c.ask(ctx, s, c.choose())
	c.waitingFor(s).Add(-1)
	if a.Outcome() == harness.Done {
		c.acked.Add(1)
	}
	if a.Err == nil && a.Status != http.StatusServiceUnavailable {
		return true
	}
	select {
	case <-s.Exited:
		return false
	case <-time.After(10 * time.Millisecond): // a connection broke, or it was told to come back: not all at once again
		return true
	}
}

// choose rolls the dice for what to do next.
func (c *client) choose() kind {
	n := c.rng.IntN(100)
	for _, m := range c.load.mix {
		if n -= m.weight; n < 0 {
			return m.kind
		}
	}
	panic("the weights do not add up to 100")
}
