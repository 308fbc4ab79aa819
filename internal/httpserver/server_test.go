package httpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// serve runs httpserver.Serve on a free port; the returned function asks it to stop
// and gives what it returned. The notice of its drain ends with notice, if that is not nil.
func serve(t *testing.T, notice <-chan time.Time, handler http.HandlerFunc) (addr string, stop func() error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	front := &httpserver.Handler{
		Next: handler, Refuse: refuse, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Observe: func(*http.Request, httpserver.RequestInfo) {},
		Times:   httpserver.Times{Notice: notice, Finish: 5 * time.Minute}, // a slow machine may need long
	}
	go func() { done <- httpserver.Serve(ctx, ln, front) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = stop() })
	return ln.Addr().String(), stop
}

// A request that was accepted before the drain gets its whole answer.
func TestServe_DrainFinishesRequests(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	addr, stop := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-release
		_, _ = io.WriteString(w, "whole")
	})
	answer := make(chan string, 1)
	go func() {
		response, err := http.Get("http://" + addr)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		answer <- string(body)
	}()
	<-arrived
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	// The listener is closed once the drain is past its notice.
	for conn, err := net.Dial("tcp", addr); err == nil; conn, err = net.Dial("tcp", addr) {
		conn.Close()
	}
	close(release)
	if got := <-answer; got != "whole" {
		t.Errorf("the request in flight got %q", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// Under load on keep-alive connections, a drain loses no request: whatever was
// sent on an open connection is answered.
func TestServe_DrainUnderLoad(t *testing.T) {
	notice := make(chan time.Time)
	addr, stop := serve(t, notice, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "ok") })
	var clients sync.WaitGroup
	busy := make(chan struct{}, 8)
	for range 8 {
		clients.Go(func() {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			reader := bufio.NewReader(conn)
			for n := 0; ; n++ {
				if n == 10 {
					busy <- struct{}{}
				}
				fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: beacon\r\n\r\n")
				response, err := http.ReadResponse(reader, nil)
				if err != nil {
					t.Errorf("request %d was lost: %v", n, err)
					return
				}
				if body, err := io.ReadAll(response.Body); err != nil || string(body) != "ok" {
					t.Errorf("request %d: %q, %v", n, body, err)
					return
				}
				if response.Close {
					return // told to go elsewhere
				}
			}
		})
	}
	for range 8 {
		<-busy
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	clients.Wait() // all were told to go elsewhere
	close(notice)
	if err := <-stopped; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestServe_ReportsABrokenListener(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	front := &httpserver.Handler{Log: slog.New(slog.DiscardHandler)}
	if err := httpserver.Serve(t.Context(), ln, front); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve: %v", err)
	}
}

// Headers beyond the limit are refused, and the connection
// is closed: nothing of them is kept.
func TestServe_RefusesLongHeaders(t *testing.T) {
	addr, _ := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {})
	for _, headers := range []string{
		"X-Long: " + strings.Repeat("x", 24<<10) + "\r\n",
		strings.Repeat("X-Many: 1\r\n", 10_000),
	} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		go func() { fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: beacon\r\n%s\r\n", headers) }()
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.Contains(line, " 431 ") {
			t.Errorf("answered %q, %v; want 431", line, err)
		}
		conn.Close()
	}
}

// Timeouts are settings of net/http, which has tests of its own; here, that
// none of them was forgotten.
func TestNewServer_Limits(t *testing.T) {
	srv := httpserver.NewServer(nil, slog.New(slog.DiscardHandler))
	if srv.ReadHeaderTimeout <= 0 || srv.ReadTimeout <= 0 || srv.WriteTimeout <= 0 || srv.IdleTimeout <= 0 ||
		srv.MaxHeaderBytes != 16<<10 || !srv.DisableGeneralOptionsHandler {
		t.Errorf("a limit is missing: %+v", srv)
	}
}
