package httpserver

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver/fastpath"
)

// When more than half of all connections are taken (one of them is about to be),
// none is kept after its answer; below that, all are. On the fast path and by net/http.
func TestServe_CrowdedKeepsNoConnection(t *testing.T) {
	for _, request := range []string{plainSamples[0], inLines("GET / HTTP/1.1", "Host: x", "Pragma: not-plain")} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		front := &Handler{
			Next:    http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { WriteBody(w, http.StatusOK, []byte("{}")) }),
			Now:     time.Now,
			Log:     slog.New(slog.DiscardHandler),
			Observe: func(*http.Request, RequestInfo) {},
		}
		srv := NewServer(front, front.Log)
		door := limitListener(ln, 6)
		others := newHandover(door.Addr(), front.draining.Load)
		l := fastpath.New(door, front.fastPath(others))
		go func() { _ = srv.Serve(l) }()
		go func() { _ = srv.Serve(others) }()
		defer srv.Shutdown(context.Background())
		for i, wantClose := range []bool{false, false, true} {
			c := call(t, ln.Addr().String())
			until(t, func() bool { return len(door.slots) == i+2 })
			c.Say(t, request)
			if response, _ := c.Hear(t); response.Close != wantClose {
				t.Errorf("connection %d is closed after its answer: %v; want %v", i, response.Close, wantClose)
			}
		}
	}
}
