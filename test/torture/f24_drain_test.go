//go:build linux

package torture_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF24_Drain: a server is told to stop under load. Whatever it had accepted, it
// answers; what it acknowledged is stored; and it exits with 0.
func TestF24_Drain(t *testing.T) { harness.Stores(t, testDrain) }

func testDrain(t *testing.T, db string) {
	key := harness.CreateKey(t, db, "hotspots:write,hotspots:verify").Key
	var acknowledged sync.Map // the SSIDs
	for round := range rounds(1, 3, 25) {
		s := harness.Start(t, db)
		load := drainLoad{acknowledged: &acknowledged}
		var clients sync.WaitGroup
		for i := range 8 {
			clients.Go(func() { load.run(t.Context(), s, key, round*100_000+i*10_000) })
		}
		harness.Eventually(t, "load", func() bool { return load.answered.Load() > 50 })
		_, drained := beIdle(t, s)
		for i := range 4 {
			half := beginHalf(t, s, key, round*100_000+90_000+i)
			clients.Go(func() { load.finish(t, half, drained) })
		}
		began := time.Now()
		s.Stop(t)
		took := time.Since(began)
		clients.Wait()
		t.Logf("%d answers, then an exit after %v; %d connections ended before the server had read their request",
			load.answered.Load(), took, load.checkCut(t, s))
	}
	s := harness.Start(t, db)
	c := harness.NewClient(t, key)
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
	answered     atomic.Int64
	cut          sync.Map // by address, how many answers came on connections that ended without one
	acknowledged *sync.Map
}

// run sends one request after the other on raw connections, so that it is known
// which connection was given up by whom, until no connection can be made.
func (l *drainLoad) run(ctx context.Context, s *harness.Server, key string, n int) {
	for ctx.Err() == nil {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			return // nobody listens any more: nothing was accepted
		}
		in := bufio.NewReader(conn)
		for got := 0; ; got++ {
			n++
			_, err := io.WriteString(conn, registration(key, n))
			last := false
			if err == nil {
				last, err = l.answer(in, n)
			}
			if err != nil {
				l.cut.Store(conn.LocalAddr().String(), unanswered{got, err})
			}
			if err != nil || last {
				break
			}
		}
		conn.Close()
	}
}

// unanswered is a connection that ended without an answer to the last request.
type unanswered struct {
	answers int
	err     error
}

// checkCut counts connections that ended without an answer, and holds the server to
// it that it had not read that request. A listener that closes resets those that
// nobody has taken yet; and a client that is slow to use a connection again may find
// that it was closed. No server can help that: it never knew of the request. One
// that it had read stands in its log.
func (l *drainLoad) checkCut(t *testing.T, s *harness.Server) (n int) {
	log := s.Log(t)
	l.cut.Range(func(address, value any) bool {
		n++
		c := value.(unanswered)
		if read := strings.Count(log, fmt.Sprintf(`"remote":%q`, address)); read > c.answers {
			t.Errorf("of %d requests that were read on a connection %d were answered: %v", read, c.answers, c.err)
		}
		return true
	})
	return n
}

// half is a request of which one half is sent.
type half struct {
	conn net.Conn
	rest string
	n    int
}

func beginHalf(t *testing.T, s *harness.Server, key string, n int) half {
	t.Helper()
	conn := dial(t, s)
	request := registration(key, n)
	if _, err := io.WriteString(conn, request[:len(request)-20]); err != nil {
		t.Fatal(err)
	}
	return half{conn, request[len(request)-20:], n}
}

// finish sends the other half when the server has closed the connections that have
// nothing under way. It has to wait for this one, and to say that it is the last.
func (l *drainLoad) finish(t *testing.T, h half, drained <-chan struct{}) {
	<-drained
	_, err := io.WriteString(h.conn, h.rest)
	last := false
	if err == nil {
		last, err = l.answer(bufio.NewReader(h.conn), h.n)
	}
	if err != nil || !last {
		t.Errorf("a request that was half sent was lost: %v; or the answer did not say Connection: close: %v", err, !last)
	}
}

func registration(key string, n int) string {
	body := fmt.Sprintf(`{"name":"Drain %d","type":"home","location":{"lat":1,"lng":1},"device":{"ssid":"net-%d","mac_address":%q}}`, n, n, harness.MACOf(n))
	return fmt.Sprintf("POST /v1/hotspots HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		key, len(body), body)
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
	return response.Close, nil
}
