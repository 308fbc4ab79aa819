//go:build linux

package torture_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// TestF18_SlowClients: crowds that open connections and then send, or read, next
// to nothing. All but the idle are let go within 10 s, others are served
// meanwhile, and no file stays open behind them.
func TestF18_SlowClients(t *testing.T) {
	t.Parallel() // it mostly waits
	db := filepath.Join(t.TempDir(), "beacon.db")
	s := rig.Start(t, db, "--log-level", "warn")
	c := rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
	calm := c.Do(t.Context(), http.MethodGet, s.URL+nearbyPath, nil)
	if calm.Status != http.StatusOK {
		t.Fatalf("nearby answered %d %v", calm.Status, calm.Err)
	}
	before := openFiles(t, s)
	crowd := rounds(200, 200, 1000)           // of each kind; one address may have 5,000
	t.Run("crowds", func(t *testing.T) { // ends when all have
		for name, begins := range slowBeginnings(c.Key) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				testSlowCrowd(t, c, s, crowd, begins)
			})
		}
	})
	rig.Eventually(t, "as few open files as before", func() bool { return openFiles(t, s) <= before+10 })
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

func testSlowCrowd(t *testing.T, c *rig.Client, s *rig.Server, crowd int, begins string) {
	slow := make([]net.Conn, crowd)
	for i := range slow {
		slow[i] = dial(t, s)
		fmt.Fprint(slow[i], begins)
	}
	served := keepAsking(t, c, s)
	letGo(t, slow, 12*time.Second) // ten, and two for a machine that is busy
	others := served()
	t.Logf("%d connections; %d requests of others, 99 %% within %v", crowd, len(others), others.quantile(0.99))
	if others.quantile(0.99) > time.Second { // 200 ms, where nothing else runs on the machine
		t.Errorf("1 %% of the requests of others took more than %v", others.quantile(0.99))
	}
}

// letGo sends a byte now and then on connections, and wants each to be closed by
// the server.
func letGo(t *testing.T, slow []net.Conn, within time.Duration) {
	t.Helper()
	began := time.Now()
	var closing sync.WaitGroup
	for _, conn := range slow {
		closing.Go(func() {
			_ = conn.SetReadDeadline(began.Add(within))
			if _, err := io.Copy(io.Discard, conn); err != nil && strings.Contains(err.Error(), "timeout") {
				t.Errorf("a slow client is still connected after %v", within)
			}
		})
	}
	closed := make(chan struct{})
	go func() { closing.Wait(); close(closed) }()
	drip := time.NewTicker(200 * time.Millisecond)
	defer drip.Stop()
	for {
		select {
		case <-closed:
			return
		case <-drip.C:
			for _, conn := range slow {
				_, _ = conn.Write([]byte("x"))
			}
		}
	}
}

// keepAsking asks for what is nearby until it is told to end, and answers how
// long each request took.
func keepAsking(t *testing.T, c *rig.Client, s *rig.Server) (end func() latencies) {
	stop, took := make(chan struct{}), make(chan latencies)
	go func() {
		var all latencies
		pause := time.NewTicker(10 * time.Millisecond)
		defer pause.Stop()
		for {
			select {
			case <-stop:
				slices.Sort(all)
				took <- all
				return
			case <-pause.C:
			}
			a := c.Do(t.Context(), http.MethodGet, s.URL+nearbyPath, nil)
			if a.Status != http.StatusOK {
				t.Errorf("beside slow clients, nearby answered %d %s %v", a.Status, a.Code, a.Err)
			}
			all = append(all, a.Took)
		}
	}()
	return func() latencies { close(stop); return <-took }
}
