package openfeeds_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
)

func TestFeeds_Readers(t *testing.T) {
	n := town(t, false)
	var blocked []*slowWriter
	ended := make(chan int, openfeeds.MaxReaders)
	start := func(from string) {
		w := &slowWriter{connection: connection{httptest.NewRecorder()}, began: make(chan bool), resume: make(chan bool)}
		r := httptest.NewRequest("GET", "/open/hotspots.geojson", nil)
		r.RemoteAddr = from
		go func() {
			n.feeds.ServeHTTP(w, r)
			ended <- w.Code
		}()
		<-w.began
		blocked = append(blocked, w)
	}
	ask := func(from string) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("HEAD", "/open/hotspots.geojson", nil)
		r.RemoteAddr = from
		n.feeds.ServeHTTP(w, r)
		return w.Code
	}
	for range openfeeds.MaxReadersAnAddress {
		start("192.0.2.1:1")
	}
	if got := ask("192.0.2.1:2"); got != http.StatusTooManyRequests {
		t.Errorf("one more from the address: %d", got)
	}
	for i := len(blocked); i < openfeeds.MaxReaders; i++ {
		start(fmt.Sprintf("192.0.2.%d:1", 10+i))
	}
	if got := ask("192.0.2.2:1"); got != http.StatusServiceUnavailable {
		t.Errorf("one more than there are places: %d", got)
	}
	for _, w := range blocked {
		close(w.resume)
	}
	for range blocked {
		if got := <-ended; got != http.StatusOK {
			t.Errorf("a download ended with %d", got)
		}
	}
	if got := ask("192.0.2.1:1"); got != http.StatusOK {
		t.Errorf("after all have ended: %d", got)
	}
}

// slowWriter blocks at the first piece of a body.
type slowWriter struct {
	connection
	began, resume chan bool
	seen          bool
}

func (w *slowWriter) Write(text []byte) (int, error) {
	if !w.seen {
		w.seen = true
		close(w.began)
		<-w.resume
	}
	return w.connection.Write(text)
}

// The memory that a feed takes does not depend on how many hotspots it has.
func TestFeeds_Memory(t *testing.T) {
	allocations := func(hotspots int) float64 {
		n := newNetwork(edge.Limits{}, "http://x")
		for i := range hotspots {
			n.add(t, beacon.Public, i, geo.Point{Lat: 1, Lng: float64(i) / 1e4})
		}
		return testing.AllocsPerRun(3, func() {
			if err := n.feeds.WriteGeoJSON(io.Discard); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(100), allocations(5000); many > few+5 {
		t.Errorf("100 hotspots take %v allocations, 5000 take %v", few, many)
	}
}
