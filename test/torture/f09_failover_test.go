//go:build linux

package torture_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestF09_Restart: PostgreSQL crashes under load and comes back.
func TestF09_Restart(t *testing.T) {
	t.Parallel() // it mostly waits
	cluster := harness.NewCluster(t)
	s := harness.Start(t, cluster.URL())
	load := newLoad(t, s)
	for range rounds(1, 2, 20) {
		running := load.on(t, s)
		running.until(50 + load.rng.IntN(150))
		cluster.Restart(t)
		t.Logf("writes succeeded %v after PostgreSQL was back", load.writes(t, s))
		running.until(50)
		running.stop()
		load.converges(t, s) // of what has an unknown outcome, memory hears a moment later
		load.check(t, s)
	}
	cluster.Restart(t) // and once while nobody writes: connections die without anyone's notice
	t.Logf("writes succeeded %v after PostgreSQL was back", load.writes(t, s))
	load.checkAll(t, s)
}

// TestF09_Pooler: behind a PgBouncer that lends each transaction another session, it, the
// database and the server die under load.
func TestF09_Pooler(t *testing.T) {
	level.Needs(t, level.Check)
	t.Parallel() // it mostly waits
	cluster := harness.NewCluster(t)
	pooler := harness.NewPooler(t, cluster.URL())
	db := pooler.URL(t, cluster.URL())
	s := harness.Start(t, db)
	load := newLoad(t, s)
	for range rounds(1, 1, 10) {
		for _, fault := range []func(){
			func() { pooler.Kill(); pooler.Start(t) },
			func() { cluster.Restart(t) },
			func() { s.Kill() },
		} {
			running := load.on(t, s)
			running.until(50 + load.rng.IntN(100))
			fault()
			running.stop()
			if !s.Runs() {
				s = harness.Start(t, db)
			}
			t.Logf("writes succeeded after %v", load.writes(t, s))
			load.converges(t, s) // of what has an unknown outcome, memory hears a moment later
			load.check(t, s)
		}
	}
	load.checkAll(t, s)
}

// TestF09_Failover: the primary crashes under load and a standby takes its place,
// to which every commit went before it was acknowledged.
func TestF09_Failover(t *testing.T) {
	t.Parallel() // it mostly waits
	f := newFailover(t)
	for range rounds(1, 1, 10) {
		standby := f.primary.NewStandby(t)
		f.primary.Synchronous(t, true)
		running := f.load.on(t, f.servers...)
		running.until(200)
		noticed := f.outages(t) + len(f.servers)
		f.primary.Stop(t)
		harness.Eventually(t, "the servers miss their database", func() bool { return f.outages(t) >= noticed })
		f.moveTo(t, standby)
		running.until(100)
		running.stop()
		f.check(t)
	}
	f.load.checkAll(t, f.servers[0])
}

// TestF09_StandbyAway: before the primary crashes it loses its standby for a
// while. Then nothing can be acknowledged, and what nobody was told of may vanish
// with the primary; but then no server may go on to show it.
func TestF09_StandbyAway(t *testing.T) {
	level.Needs(t, level.Check)
	t.Parallel() // it mostly waits
	f := newFailover(t)
	for range rounds(1, 1, 3) {
		standby := f.primary.NewStandby(t)
		f.primary.Synchronous(t, true)
		running := f.load.on(t, f.servers...)
		running.until(200)
		standby.Stop(t)
		inDoubt := func() int { return f.load.count(register, harness.Unknown) + f.load.count(change, harness.Unknown) }
		enough := inDoubt() + 2
		harness.Eventually(t, "writes are in doubt", func() bool { return inDoubt() >= enough })
		for _, s := range f.servers { // what the primary shows now must not stay
			adminOf(t, s).awaitFollower(t)
		}
		f.primary.Stop(t)
		standby.Start(t)
		f.moveTo(t, standby)
		running.until(100)
		running.stop()
		f.check(t)
	}
	f.load.checkAll(t, f.servers[0])
}

// failover is two servers on a database that moves.
type failover struct {
	primary *harness.Cluster
	proxy   *harness.Proxy
	servers []*harness.Server
	load    *load
}

func newFailover(t *testing.T) *failover {
	t.Helper()
	f := &failover{primary: harness.NewCluster(t)}
	var behind string
	f.proxy, behind = harness.ThroughProxy(t, f.primary.URL())
	f.servers = []*harness.Server{f.start(t, behind), f.start(t, behind)}
	f.load = newLoad(t, f.servers[0])
	return f
}

func (*failover) start(t *testing.T, db string) *harness.Server {
	t.Helper()
	return harness.Start(t, db, "--admin-addr", "127.0.0.1:0")
}

// moveTo makes a standby the primary. The one before must be down.
func (f *failover) moveTo(t *testing.T, standby *harness.Cluster) {
	t.Helper()
	standby.Promote(t)
	f.proxy.Move(t, standby.URL())
	f.primary = standby
	for i, s := range f.servers {
		t.Logf("writes through server %d succeeded %v after the standby was promoted", i, f.load.writes(t, s))
	}
}

// outages is how often the servers have told that they cannot follow.
func (f *failover) outages(t *testing.T) (n int) {
	for _, s := range f.servers {
		n += strings.Count(s.Log(t), "cannot follow the changes")
	}
	return n
}

func (f *failover) check(t *testing.T) {
	t.Helper()
	f.load.converges(t, f.servers...)
	f.load.check(t, f.servers[0])
}

// writes waits until a server writes, and answers how long that took.
func (l *load) writes(t *testing.T, s *harness.Server) time.Duration {
	t.Helper()
	var a harness.Answer
	return harness.Eventually(t, "a registration succeeds", func() bool {
		a = l.admin.Register(t.Context(), s, int(l.number.Add(1))-1)
		return a.Status == http.StatusCreated
	})
}

// converges waits until all servers show what the database holds, and all beats
// that were acknowledged (I9).
func (l *load) converges(t *testing.T, servers ...*harness.Server) {
	t.Helper()
	want := harness.Truth(t, harness.OpenStore(t, servers[0].DB))
	for i, s := range servers {
		hotspots := l.admin.Converges(t, s, want, int(l.number.Load()))
		beats := harness.Eventually(t, fmt.Sprintf("server %d has all beats", i), func() bool {
			shown := l.admin.Readings(t, s)
			for _, d := range l.devices {
				if shown[d.SSID].Bytes < d.Totals().Acked {
					return false
				}
			}
			return true
		})
		t.Logf("server %d showed all %d hotspots after %v, and all beats %v later", i, len(want), hotspots, beats)
	}
}

// TestF09_LossyFailover: a standby takes over that did not have everything, as
// happens where commits do not wait for it. What it did not have is lost, that is
// how such databases are; but a server that knew of it may not go on from there. It
// ends, and the next one goes by what is there.
func TestF09_LossyFailover(t *testing.T) {
	onlyFull(t)
	t.Parallel() // it mostly waits
	f := newFailover(t)
	standby := f.primary.NewStandby(t)
	f.load.converges(t, f.servers...)
	standby.Stop(t)
	running := f.load.on(t, f.servers...)
	running.until(200)
	running.stop()
	f.load.writes(t, f.servers[0]) // at least this is lost
	f.load.converges(t, f.servers...)
	before := len(harness.Truth(t, harness.OpenStore(t, f.primary.URL())))

	f.primary.Stop(t)
	standby.Start(t)
	standby.Promote(t)
	f.proxy.Move(t, standby.URL())
	for i, s := range f.servers {
		select {
		case <-s.Exited:
			if code := s.Cmd.ProcessState.ExitCode(); code != 1 {
				t.Errorf("server %d ended with %d", i, code)
			}
		case <-time.After(harness.Patience):
			t.Fatalf("server %d goes on with what it knows, and the database has forgotten", i)
		}
		f.servers[i] = f.start(t, s.DB)
	}
	after := len(harness.Truth(t, harness.OpenStore(t, standby.URL())))
	t.Logf("%d of %d hotspots are lost", before-after, before)
	if after >= before {
		t.Error("nothing was lost: nothing was shown")
	}
	for _, s := range f.servers {
		f.load.writes(t, s)
	}
	want := harness.Truth(t, harness.OpenStore(t, standby.URL()))
	for _, s := range f.servers {
		f.load.admin.Converges(t, s, want, int(f.load.number.Load()))
	}
	checkChanges(t, standby.URL())
}
