//go:build linux

package torture_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF18_SlowClients: crowds that open connections and then send, or read, next
// to nothing. All are let go, others are served meanwhile, and no file stays open
// behind them.
func TestF18_SlowClients(t *testing.T) {
	t.Parallel() // it mostly waits
	db := filepath.Join(t.TempDir(), "beacon.db")
	s := harness.Start(t, db, "--log-level", "warn")
	c := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	calm := c.Do(t.Context(), http.MethodGet, s.URL+nearbyPath, nil)
	if calm.Status != http.StatusOK {
		t.Fatalf("nearby answered %d %v", calm.Status, calm.Err)
	}
	before := openFiles(t, s)
	crowd := rounds(100, 200, 1000) // of each kind; one address may have 5,000
	t.Run("crowds", func(t *testing.T) {
		var all sync.WaitGroup
		for name, begins := range slowBeginnings(c.Key) {
			all.Go(func() {
				t.Run(name, func(t *testing.T) { testSlowCrowd(t, c, s, crowd, begins) })
			})
		}
		all.Wait()
	})
	harness.Eventually(t, "as few open files as before", func() bool { return openFiles(t, s) <= before+10 })
	s.Running(t)
}

// slowBeginnings are what slow clients send at once, by what they are slow with.
func slowBeginnings(key string) map[string]string {
	return map[string]string{
		"says nothing":    "",
		"headers":         "GET /v1/hotspots/nearby HTTP/1.1\r\nHost: beacon\r\nX-Slow: ",
		"one header each": "GET /v1/hotspots/nearby HTTP/1.1\r\n",
		"body": "POST /v1/hotspots HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer " + key +
			"\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n" + `{"name":"`,
	}
}

func testSlowCrowd(t *testing.T, c *harness.Client, s *harness.Server, crowd int, begins string) {
	slow := make([]net.Conn, crowd)
	for i := range slow {
		slow[i] = dial(t, s)
		if err := slow[i].SetDeadline(time.Time{}); err != nil { // it is the server that is to end it
			t.Fatal(err)
		}
		fmt.Fprint(slow[i], begins)
	}
	served := keepAsking(t, c, s)
	letGo(t, s, slow)
	others := served()
	t.Logf("%d connections; %d requests of others, 99 %% within %v", crowd, len(others), others.quantile(0.99))
}

// letGo sends a byte now and then on connections, and wants each to be closed by
// the server: earlier than one that began later, asked something in order, and is
// idle since. By the server's own clock that one has 90 s, and the slow ones ten.
func letGo(t *testing.T, s *harness.Server, slow []net.Conn) {
	t.Helper()
	idle, idleEnded := beIdle(t, s)
	var closing sync.WaitGroup
	for _, conn := range slow {
		closing.Go(func() {
			_, _ = io.Copy(io.Discard, conn) // until the server closes it, in whatever way
		})
	}
	closed := make(chan struct{})
	go func() { closing.Wait(); close(closed) }()
	drip := time.NewTicker(200 * time.Millisecond)
	defer drip.Stop()
	for {
		select {
		case <-closed:
			idle.Close()
			return
		case <-idleEnded:
			t.Error("slow clients are still connected when one that was idle is let go")
			for _, conn := range slow {
				conn.Close()
			}
			return
		case <-drip.C:
			for _, conn := range slow {
				_, _ = conn.Write([]byte("x"))
			}
		}
	}
}

// beIdle asks something on a connection, and then nothing more. The channel is closed
// when the connection is.
func beIdle(t *testing.T, s *harness.Server) (conn net.Conn, ended <-chan struct{}) {
	t.Helper()
	conn = dial(t, s)
	fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: beacon\r\n\r\n")
	answers := bufio.NewReader(conn)
	response, err := http.ReadResponse(answers, nil)
	if err != nil || response.StatusCode != http.StatusOK || response.Close {
		t.Fatalf("an idle connection began with %v %v", response, err)
	}
	end := make(chan struct{})
	go func() {
		defer close(end)
		_, _ = io.Copy(io.Discard, response.Body)
		_, _ = io.Copy(io.Discard, answers)
	}()
	return conn, end
}

// keepAsking asks for what is nearby until it is told to end, at least ten times,
// and returns how long each request took.
func keepAsking(t *testing.T, c *harness.Client, s *harness.Server) (end func() latencies) {
	ending, took := make(chan struct{}), make(chan latencies)
	go func() {
		var all latencies
		stop := ending
		pause := time.NewTicker(10 * time.Millisecond)
		defer pause.Stop()
		for ended := false; !ended || len(all) < 10; {
			select {
			case <-stop:
				stop, ended = nil, true
			case <-pause.C:
			}
			a := c.Do(t.Context(), http.MethodGet, s.URL+nearbyPath, nil)
			if a.Status != http.StatusOK {
				t.Errorf("beside slow clients, nearby answered %d %s %v", a.Status, a.Code, a.Err)
			}
			all = append(all, a.Took)
		}
		slices.Sort(all)
		took <- all
	}()
	return func() latencies { close(ending); return <-took }
}
