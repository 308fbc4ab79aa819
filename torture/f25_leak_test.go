//go:build linux

package torture_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// TestF25_Leaks: the same work again and again, with all that leaves something
// behind where nobody tidies up: requests given up halfway, streams of events,
// wrong keys, connections that are dropped. After each round the server has as
// many goroutines and open files as before, and its memory does not grow.
func TestF25_Leaks(t *testing.T) {
	db := filepath.Join(t.TempDir(), "beacon.db")
	s := rig.Start(t, db, "--log-level", "info", "--admin-addr", "127.0.0.1:0")
	admin := rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
	devices := rig.LinkDevices(t, admin, s, 0, 20)
	metrics := adminAddress(t, s) + "/metrics"

	news := rig.NewListener(t, admin.Key)
	ctx, leave := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() { _ = news.Listen(ctx, s) }) // until it leaves
	defer listening.Wait()
	defer leave()

	n, round := 100, 0
	work := func() {
		n = messUp(t, admin, s, devices, n)
		round++
		admin.Patch(t.Context(), s, devices[0].Hotspot, rig.Fields{"name": fmt.Sprintf("Round %d", round)})
		rig.Eventually(t, "all events are told", func() bool { return news.Count("hotspot.updated") == round })
	}
	work() // pools and caches fill, connections to the database are made
	before := calm(t, metrics, s)
	var after state
	for range rounds(4, 4, 40) {
		work()
		abandon(t, admin, s)
		rig.Eventually(t, "as few goroutines and open files as before", func() bool {
			after = look(t, metrics, s)
			return after.goroutines < before.goroutines+streams && after.files < before.files+streams
		})
	}
	t.Logf("before %+v, after %+v", before, after)
	if after.memory > before.memory+64<<20 { // what a garbage collector may owe us
		t.Errorf("the server's memory grows: %d MB, then %d MB", before.memory>>20, after.memory>>20)
	}
}

// messUp makes a round of requests, most of which are not brought to their end.
func messUp(t *testing.T, c *rig.Client, s *rig.Server, devices []*rig.Device, n int) int {
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

// abandon leaves streams of events when nothing happens any more that would end
// them.
func abandon(t *testing.T, c *rig.Client, s *rig.Server) {
	var all sync.WaitGroup
	for range streams {
		all.Go(func() { abandonStream(t, c, s) })
	}
	all.Wait()
}

const streams = 5 // a key may have ten, and of the round before fewer than five may be left

// abandonStream listens to events from now on, and is gone before there is one:
// the server never writes to a connection that is no more.
func abandonStream(t *testing.T, c *rig.Client, s *rig.Server) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/events", nil)
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("Authorization", "Bearer "+c.Key)
	response, err := c.HTTP.Do(request)
	if err != nil {
		t.Errorf("events: %v", err)
		return
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("events were answered %d", response.StatusCode)
	}
}

// abandonBody announces a body, and is gone in the middle of it.
func abandonBody(t *testing.T, s *rig.Server, key string) {
	conn := dial(t, s)
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/hotspots HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", key)
}

// state is what a server keeps.
type state struct{ goroutines, files, memory int }

func look(t *testing.T, metrics string, s *rig.Server) state {
	return state{goroutines(t, metrics), openFiles(t, s), resident(t, s)}
}

// calm looks for two seconds, in which those who left are noticed, and tells the
// least that was seen: a look is a request too.
func calm(t *testing.T, metrics string, s *rig.Server) state {
	t.Helper()
	least := look(t, metrics, s)
	for began := time.Now(); time.Since(began) < 2*time.Second; {
		now := look(t, metrics, s)
		least.goroutines, least.files = min(least.goroutines, now.goroutines), min(least.files, now.files)
	}
	return least
}

var goroutinesLine = regexp.MustCompile(`(?m)^go_goroutines (\d+)`)

func goroutines(t *testing.T, metrics string) int {
	t.Helper()
	response, err := http.Get(metrics)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	text, err := io.ReadAll(response.Body)
	found := goroutinesLine.FindSubmatch(text)
	if err != nil || found == nil {
		t.Fatalf("no count of goroutines in %.200s: %v", text, err)
	}
	n, _ := strconv.Atoi(string(found[1])) // digits
	return n
}

var adminLine = regexp.MustCompile(`"msg":"admin interface","addr":"([^"]+)"`)

// adminAddress is where a server shows its metrics, as its log says.
func adminAddress(t *testing.T, s *rig.Server) string {
	t.Helper()
	var found []string
	rig.Eventually(t, "the log names the admin interface", func() bool {
		found = adminLine.FindStringSubmatch(s.Log(t))
		return found != nil
	})
	return "http://" + found[1]
}
