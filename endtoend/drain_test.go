//go:build linux

package endtoend_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/store/storetest"
)

// TestDrain: a server is told to stop under load. Whatever it had accepted, it
// answers; what it acknowledged is stored; and it exits with 0 in time.
func TestDrain(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testDrain(t, filepath.Join(t.TempDir(), "beacon.db")) })
	t.Run("postgres", func(t *testing.T) { testDrain(t, storetest.Postgres(t)) })
}

func testDrain(t *testing.T, db string) {
	key := rig.CreateKey(t, db, "hotspots:write").Key
	var acknowledged sync.Map // the SSIDs
	for round := range 3 {
		s := rig.Start(t, db)
		load := drainLoad{acknowledged: &acknowledged}
		var clients sync.WaitGroup
		for i := range 8 {
			clients.Go(func() { load.run(t.Context(), s, key, round*100_000+i*10_000) })
		}
		rig.Eventually(t, 10*time.Second, "load", func() bool { return load.answered.Load() > 200 })
		began := time.Now()
		s.Stop(t, 10*time.Second)
		took := time.Since(began)
		clients.Wait()
		t.Logf("%d answers, then an exit after %v; %d requests were lost, %d connections reset in the queue of the kernel",
			load.answered.Load(), took, load.lost.Load(), load.neverSeen(t, s))
		if load.lost.Load() > 0 {
			t.Errorf("%d requests were lost; the first: %v", load.lost.Load(), load.first.Load())
		}
		if !load.noticed.Load() {
			t.Error("no answer said Connection: close")
		}
	}
	s := rig.Start(t, db)
	c := rig.NewClient(t, key)
	owned := c.Owned(t, s)
	acknowledged.Range(func(ssid, _ any) bool {
		if _, there := owned[ssid.(string)]; !there {
			t.Errorf("%s was acknowledged and is lost", ssid)
		}
		return true
	})
}

// drainLoad is clients that each use a connection as long as they may.
type drainLoad struct {
	answered, lost atomic.Int64
	noticed        atomic.Bool
	first          atomic.Value
	reset          sync.Map // the addresses of fresh connections that were reset
	acknowledged   *sync.Map
}

// run sends one request after the other on raw connections, so that it is known
// which connection was given up by whom, until no connection can be made.
func (l *drainLoad) run(ctx context.Context, s *rig.Server, key string, n int) {
	for ctx.Err() == nil {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			return // nobody listens any more: nothing was accepted
		}
		answers := bufio.NewReader(conn)
		for reused := false; ; reused = true {
			n++
			last, err := l.exchange(conn, answers, key, n)
			if errors.Is(err, errReset) && !reused {
				l.reset.Store(conn.LocalAddr().String(), true)
				break
			}
			if err != nil {
				l.lost.Add(1)
				l.first.CompareAndSwap(nil, fmt.Errorf("on a connection that was used before: %v: %w", reused, err))
				break
			}
			if last {
				break
			}
		}
		conn.Close()
	}
}

// errReset is of a connection that was reset. When a listener closes, the kernel
// does that to those that it has completed and the server has not yet taken: no
// server can help it, and nothing of theirs was ever read.
var errReset = errors.New("the connection was reset")

// neverSeen counts the fresh connections that were reset, and holds the server
// to it that it knew of none of them.
func (l *drainLoad) neverSeen(t *testing.T, s *rig.Server) (n int) {
	log := s.Log(t)
	l.reset.Range(func(address, _ any) bool {
		n++
		if strings.Contains(log, fmt.Sprintf("%q", address)) {
			t.Errorf("%s was reset although the server had its request", address)
		}
		return true
	})
	return n
}

func (l *drainLoad) exchange(conn net.Conn, answers *bufio.Reader, key string, n int) (last bool, err error) {
	body := fmt.Sprintf(`{"name":"Drain %d","type":"home","location":{"lat":1,"lng":1},"device":{"ssid":"net-%d","mac_address":%q}}`, n, n, rig.MACOf(n))
	_, err = fmt.Fprintf(conn, "POST /v1/hotspots HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		key, len(body), body)
	if err == nil {
		var response *http.Response
		if response, err = http.ReadResponse(answers, nil); err == nil {
			defer response.Body.Close()
			if _, err = io.Copy(io.Discard, response.Body); err == nil {
				l.answered.Add(1)
				if response.StatusCode == http.StatusCreated {
					l.acknowledged.Store(fmt.Sprintf("net-%d", n), true)
				}
				if response.Close {
					l.noticed.Store(true)
				}
				return response.Close, nil
			}
		}
	}
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return true, errors.Join(errReset, err)
	}
	return true, err
}

// TestStartAtOnce: two servers on a database that neither has seen.
func TestStartAtOnce(t *testing.T) {
	for name, db := range map[string]func() string{
		"sqlite":   func() string { return filepath.Join(t.TempDir(), "beacon.db") },
		"postgres": func() string { return storetest.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				db := db()
				one, first := rig.Launch(t, db)
				two, second := rig.Launch(t, db)
				one.URL, two.URL = <-first, <-second
				if one.URL == "" || two.URL == "" {
					t.Fatalf("the servers say: %s and %s", one.Log(t), two.Log(t))
				}
				c := rig.NewClient(t, rig.CreateKey(t, db, "hotspots:write").Key)
				c.MustRegister(t, one, 1)
				c.MustRegister(t, two, 2)
				want := rig.Truth(t, rig.OpenStore(t, db))
				if len(want) != 2 {
					t.Errorf("%d hotspots are there; want 2", len(want))
				}
				c.Converges(t, one, want, 2, 2*time.Second)
				c.Converges(t, two, want, 2, 2*time.Second)
				one.Kill()
				two.Kill()
			}
		})
	}
}

// TestStopWhileStarting: a server that still waits for its database is told to
// stop. It does, and that is no failure.
func TestStopWhileStarting(t *testing.T) {
	p, behind := rig.ThroughProxy(t, storetest.Postgres(t))
	p.Set(rig.Silent)
	s, _ := rig.Launch(t, behind)
	rig.Eventually(t, 10*time.Second, "the server knocks at the database", p.Busy)
	s.Stop(t, 5*time.Second)
}
