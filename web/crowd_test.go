package web

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// When more than half of all connections are taken (one of them is about to be),
// none is kept after its
// answer; below that, all are.
func TestServe_CrowdedKeepsNoConnection(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	door := limitListener(ln, 6)
	front := &Front{
		Next:    http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { WriteBody(w, http.StatusOK, []byte("{}")) }),
		Now:     time.Now,
		Log:     slog.New(slog.DiscardHandler),
		Observe: func(*http.Request, Exchange) {},
	}
	srv := NewServer(front, front.Log)
	go func() { _ = srv.Serve(door) }()
	defer srv.Shutdown(context.Background())
	for i, wantClose := range []bool{false, false, true} {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if response.Close != wantClose {
			t.Errorf("connection %d is closed after its answer: %v; want %v", i, response.Close, wantClose)
		}
	}
}
