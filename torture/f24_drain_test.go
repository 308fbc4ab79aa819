//go:build linux

package torture_test

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

// TestF24_Drain: a server is told to stop under load. Whatever it had accepted, it
// answers; what it acknowledged is stored; and it exits with 0 in time.
func TestF24_Drain(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testDrain(t, filepath.Join(t.TempDir(), "beacon.db")) })
	t.Run("postgres", func(t *testing.T) { testDrain(t, storetest.Postgres(t)) })
}

func testDrain(t *testing.T, db string) {
	key := rig.CreateKey(t, db, "hotspots:write").Key
	var acknowledged sync.Map // the SSIDs
	for round := range rounds(3, 3, 25) {
		s := rig.Start(t, db)
		load := drainLoad{acknowledged: &acknowledged}
		var clients sync.WaitGroup
		for i := range 8 {
			clients.Go(func() { load.run(t.Context(), s, key, round*100_000+i*10_000) })
		}
		rig.Eventually(t, "load", func() bool { return load.answered.Load() > 200 })
		for i := range 4 {
			half := beginHalf(t, s, key, round*100_000+90_000+i)
			clients.Go(func() { load.finish(s, half) })
		}
		began := time.Now()
		s.Stop(t)
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

// half is a request of which one half is sent.
type half struct {
	conn net.Conn
	rest string
	n    int
}

func beginHalf(t *testing.T, s *rig.Server, key string, n int) half {
	t.Helper()
	conn := dial(t, s)
	request := registration(key, n)
	if _, err := io.WriteString(conn, request[:len(request)-20]); err != nil {
		t.Fatal(err)
	}
	return half{conn, request[len(request)-20:], n}
}

// finish sends the other half a second after the server took no more connections: it
// has to wait for this one.
func (l *drainLoad) finish(s *rig.Server, h half) {
	for {
		another, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			break
		}
		another.Close()
		time.Sleep(10 * time.Millisecond) // between two looks
	}
	time.Sleep(time.Second) // so slow is this client
	_, err := io.WriteString(h.conn, h.rest)
	if err == nil {
		_, err = l.answer(bufio.NewReader(h.conn), h.n)
	}
	if err != nil {
		l.lost.Add(1)
		l.first.CompareAndSwap(nil, fmt.Errorf("of a request that was half sent: %w", err))
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

func registration(key string, n int) string {
	body := fmt.Sprintf(`{"name":"Drain %d","type":"home","location":{"lat":1,"lng":1},"device":{"ssid":"net-%d","mac_address":%q}}`, n, n, rig.MACOf(n))
	return fmt.Sprintf("POST /v1/hotspots HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		key, len(body), body)
}

func (l *drainLoad) exchange(conn net.Conn, answers *bufio.Reader, key string, n int) (last bool, err error) {
	if _, err = io.WriteString(conn, registration(key, n)); err == nil {
		last, err = l.answer(answers, n)
	}
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return true, errors.Join(errReset, err)
	}
	return last || err != nil, err
}

// answer reads one, and notes what it says.
func (l *drainLoad) answer(answers *bufio.Reader, n int) (last bool, err error) {
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		return true, err
	}
	defer response.Body.Close()
	if _, err = io.Copy(io.Discard, response.Body); err != nil {
		return true, err
	}
	l.answered.Add(1)
	if response.StatusCode == http.StatusCreated {
		l.acknowledged.Store(fmt.Sprintf("net-%d", n), true)
	}
	if response.Close {
		l.noticed.Store(true)
	}
	return response.Close, nil
}
