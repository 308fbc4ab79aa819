package httpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// countingListener counts how often its connections are written to. It hides
// what the kernel could do with several buffers at once, so each counts.
type countingListener struct {
	net.Listener
	writes atomic.Int64
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &countingConn{c, &l.writes}, err
}

func (c *countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// sized serves /N with N bytes, the same ones each time.
func sized(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	body := content(n)
	if r.URL.RawQuery != "chunked" {
		w.Header().Set("Content-Length", strconv.Itoa(n))
	}
	w.Header().Set("Content-Type", "text/plain")
	if r.URL.RawQuery == "pieces" {
		_, _ = w.Write(body[:n/2])
		_, _ = w.Write(body[n/2:])
		return
	}
	_, _ = w.Write(body)
}

func content(n int) []byte {
	random := rand.New(rand.NewPCG(7, uint64(n)))
	body := make([]byte, n)
	for i := range body {
		body[i] = 'a' + byte(random.IntN(26))
	}
	return body
}

// Bodies of every size and kind arrive whole and in order on one connection.
func TestServe_WholeAnswers(t *testing.T) {
	addr, _ := serve(t, nil, sized)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for _, size := range []int{0, 1, 511, 512, 513, 3071, 3072, 3073, 4095, 4096, 4097, 8192, 9300, 65536, 1 << 20} {
		for _, kind := range []string{"", "?chunked", "?pieces"} {
			for _, method := range []string{"GET", "HEAD", "GET"} {
				fmt.Fprintf(conn, "%s /%d%s HTTP/1.1\r\nHost: beacon\r\n\r\n", method, size, kind)
				response, err := http.ReadResponse(in, &http.Request{Method: method})
				if err != nil {
					t.Fatalf("%s /%d%s: %v", method, size, kind, err)
				}
				body, err := io.ReadAll(response.Body)
				want := content(size)
				if method == "HEAD" {
					want = nil
				}
				if err != nil || response.StatusCode != http.StatusOK || !bytes.Equal(body, want) {
					t.Fatalf("%s /%d%s: %d, %d bytes, %v", method, size, kind, response.StatusCode, len(body), err)
				}
			}
		}
	}
}

// An answer that is at hand as a whole is sent as its header with the first 512
// bytes and the rest, which a real connection takes in one system call.
func TestServe_WholeAnswersTakeNoMoreWritesThanParts(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := &countingListener{Listener: inner}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	front := &httpserver.Handler{
		Next: http.HandlerFunc(sized), Refuse: refuse, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Observe: func(*http.Request, httpserver.RequestInfo) {},
	}
	go func() { done <- httpserver.Serve(ctx, ln, front) }()
	defer func() { cancel(); <-done }()
	for _, size := range []int{6200, 9300, 100_000} {
		before := ln.writes.Load()
		if _, body := get(t, fmt.Sprintf("http://%s/%d", inner.Addr(), size)); len(body) != size {
			t.Errorf("/%d gave %d bytes", size, len(body))
		}
		if n := ln.writes.Load() - before; n != 2 {
			t.Errorf("/%d was written in %d pieces; want 2, for one system call", size, n)
		}
	}
}

// A client that leaves in the middle of an answer costs an error and no more.
func TestServe_ClientLeaves(t *testing.T) {
	addr, _ := serve(t, nil, sized)
	for range 20 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /%d HTTP/1.1\r\nHost: beacon\r\n\r\n", 8<<20)
		conn.Close()
	}
	if _, body := get(t, "http://"+addr+"/9300"); len(body) != 9300 {
		t.Errorf("the next client got %d bytes", len(body))
	}
}

// A client that sends far too much still gets to read why it was refused: the
// end of the answer comes before the end of the connection.
func TestServe_RefusedBodyGetsItsAnswer(t *testing.T) {
	addr, _ := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if _, err := httpserver.ReadJSONObject(w, r, 1024, 4); err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		}
	})
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: beacon\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		64<<20, bytes.Repeat([]byte("x"), 64<<10))
	answer, err := io.ReadAll(conn) // to its end, which is no error
	if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 413 ")) {
		t.Errorf("the client read %.60q, %v", answer, err)
	}
}
