//go:build linux

package torture_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF25_Leaks: the same work again and again, with all that leaves something
// behind where nobody tidies up: requests given up halfway, streams of events,
// wrong keys, connections that are dropped. After each round the server has as
// many connections, listeners and goroutines as before, and its memory does not grow.
func TestF25_Leaks(t *testing.T) {
	t.Parallel() // it mostly waits
	db := filepath.Join(t.TempDir(), "beacon.db")
	s := harness.Start(t, db, "--log-level", "info", "--admin-addr", "127.0.0.1:0")
	admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	devices := harness.LinkDevices(t, admin, s, 0, 20)
	metrics := metricsOf(t, s)

	news := harness.NewListener(t, admin.Key)
	ctx, leave := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() { _ = news.Listen(ctx, s) }) // until it leaves
	defer listening.Wait()
	defer leave()

	n, round := 100, 0
	work := func() {
		n = messUp(t, admin, s, devices, n)
		round++
		admin.Patch(t.Context(), s, devices[0].Hotspot, harness.Fields{"name": fmt.Sprintf("Round %d", round)})
		harness.Eventually(t, "all events are told", func() bool { return news.Count("hotspot.updated") == round })
	}
	// Two sockets listen, and one is the stream of news. While the server is asked for
	// its metrics, it has one more.
	quiet := func() bool {
		admin.HTTP.CloseIdleConnections()
		return metrics.read(t, "beacon_event_listeners") == 1 && openSockets(t, s) <= 3
	}
	work() // pools and caches fill, connections to the database are made
	harness.Eventually(t, "nobody but the listener is there", quiet)
	goroutines, memory := metrics.read(t, "go_goroutines"), resident(t, s)
	for range rounds(3, 4, 40) {
		work()
		abandonStreams(t, admin, s, metrics)
		harness.Eventually(t, "nobody but the listener is there", quiet)
		harness.Eventually(t, "as few goroutines as before", func() bool { return metrics.read(t, "go_goroutines") < goroutines+streams })
	}
	t.Logf("memory: %d MB, then %d MB", memory>>20, resident(t, s)>>20)
	if grown := resident(t, s) - memory; grown > 64<<20 { // what a garbage collector may owe us
		t.Errorf("the server's memory grows: by %d MB", grown>>20)
	}
}

// messUp makes a round of requests, most of which are not brought to their end.
func messUp(t *testing.T, c *harness.Client, s *harness.Server, devices []*harness.Device, n int) int {
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { abandonBody(t, s, c.Key) })
		all.Go(func() { devices[i].Beat(t.Context(), c, s) })
		all.Go(func() { c.Register(t.Context(), s, n+i) })
		all.Go(func() {
			c.Do(t.Context(), http.MethodGet, s.URL+nearbyPath, nil, "Authorization", fmt.Sprintf("Bearer bcn_wrong%d", n+i))
			c.Do(t.Context(), http.MethodGet, s.URL+"/v1/coverage?north=41&south=40&east=-73&west=-75", nil)
		})
	}
	all.Wait()
	c.HTTP.CloseIdleConnections()
	return n + 20
}

const streams = 5 // a key may have ten

// abandonStreams leaves streams of events, after which nothing happens that would
// make the server write to them. It must notice all the same. A stream that was
// there before and stays is the clock for that: when the server tells it that
// nothing happened, it would write to the others next.
func abandonStreams(t *testing.T, c *harness.Client, s *harness.Server, metrics metrics) {
	t.Helper()
	stays, leave := openStream(t, c, s)
	alive := make(chan struct{})
	go func() {
		defer close(alive)
		for lines := bufio.NewScanner(stays.Body); lines.Scan() && !strings.HasPrefix(lines.Text(), ": nothing new"); {
		}
	}()
	for range streams {
		_, leave := openStream(t, c, s)
		leave()
	}
	harness.Eventually(t, "the server notices that listeners have left", func() bool {
		select {
		case <-alive:
			t.Fatal("listeners that have left are only noticed by writing to them")
		default:
		}
		return metrics.read(t, "beacon_event_listeners") == 2
	})
	leave()
	<-alive
}

// openStream listens to events from now on, until it leaves.
func openStream(t *testing.T, c *harness.Client, s *harness.Server) (response *http.Response, leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.Key)
	response, err = (&http.Client{Transport: c.HTTP.Transport}).Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("events: %v %v", response, err)
	}
	return response, func() { cancel(); response.Body.Close() }
}

// abandonBody announces a body, and is gone in the middle of it.
func abandonBody(t *testing.T, s *harness.Server, key string) {
	conn := dial(t, s)
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/hotspots HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", key)
}
