package fastpath

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
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// startListener runs a listener whose reaper is the test: nobody scans but by scan. The
// server behind it serves what is handed over.
func startListener(t *testing.T, handler http.HandlerFunc) (*Listener, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	others := &handedOver{Listener: ln, conns: make(chan net.Conn), closed: make(chan struct{})}
	l := New(&countingListener{Listener: ln}, Config{
		Handler: handler, Idle: 90 * time.Second, Write: 15 * time.Second, Log: slog.New(slog.DiscardHandler),
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context { return ctx }, HandOver: others.give,
	})
	srv := newServer(handler)
	ended := make(chan error, 2)
	go func() { ended <- srv.Serve(l) }()
	go func() { ended <- srv.Serve(others) }()
	t.Cleanup(func() {
		srv.Close()
		<-ended
		<-ended
		l.CloseAll()
		l.open.Wait()
	})
	return l, ln.Addr().String()
}

func newServer(handler http.HandlerFunc) *http.Server {
	return &http.Server{Handler: handler, DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
}

// countingListener counts its open connections. They are wrapped, as those of a server
// with limits are.
type countingListener struct {
	net.Listener
	open atomic.Int64
}

type countedConn struct {
	*net.TCPConn
	closed func()
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.open.Add(1)
	return &countedConn{c.(*net.TCPConn), sync.OnceFunc(func() { l.open.Add(-1) })}, nil
}

func (c *countedConn) NetConn() net.Conn { return c.TCPConn }

func (c *countedConn) Close() error {
	c.closed()
	return c.TCPConn.Close()
}

func (l *Listener) accepted() int64 { return l.Listener.(*countingListener).open.Load() }

// handedOver is the listener of the server behind.
type handedOver struct {
	net.Listener // for its address
	conns        chan net.Conn
	once         sync.Once
	closed       chan struct{}
}

// partlyRead is a connection of which some bytes were read.
type partlyRead struct {
	*countedConn
	read io.Reader
}

func (c partlyRead) Read(p []byte) (int, error) { return c.read.Read(p) }

func (h *handedOver) give(c net.Conn, read []byte) {
	select {
	case h.conns <- partlyRead{c.(*countedConn), io.MultiReader(bytes.NewReader(read), c)}:
	case <-h.closed:
		c.Close()
	}
}

func (h *handedOver) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *handedOver) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to that in 5 minutes")
		}
	}
}

func (l *Listener) scanOften(n uint64) {
	for range n {
		l.scan()
	}
}

func (l *Listener) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// only gives what the one connection on the fast path is doing.
func (l *Listener) only() (p phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		p = phase(c.state.Load())
	}
	return p
}

// count gives how many connections on the fast path are doing something.
func (l *Listener) count(kind phase) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if phase(c.state.Load()).kind() == kind {
			n++
		}
	}
	return n
}

func namePath(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Method+r.URL.Path) }

// Requests that come in one packet are answered in order, by the fast path and by
// net/http alike.
func TestListener_Pipelined(t *testing.T) {
	l, addr := startListener(t, namePath)
	c := call(t, addr)
	get := func(name string) string { return inLines("GET /"+name+" HTTP/1.1", "Host: x") }
	c.Say(t, get("a")+get("b"))
	for _, want := range []string{"GET/a", "GET/b"} {
		if _, body := c.Hear(t); body != want {
			t.Errorf("heard %q; want %q", body, want)
		}
	}
	if l.len() != 1 {
		t.Error("plain requests left the fast path")
	}
	c.Say(t, get("c")+inLines("PATCH /d HTTP/1.1", "Host: x", "Content-Length: 0")+get("e"))
	for _, want := range []string{"GET/c", "PATCH/d", "GET/e"} {
		if _, body := c.Hear(t); body != want {
			t.Errorf("heard %q; want %q", body, want)
		}
	}
	if l.len() != 0 {
		t.Error("a request that is not plain stayed on the fast path")
	}
}

// A proxy sends requests of many people over one connection: nothing of one may
// be in the next, and what a handler took from one stays what it was.
func TestListener_ForgetsEachRequest(t *testing.T) {
	var kept *http.Request
	var keptURL *url.URL
	var texts []string
	l, addr := startListener(t, func(w http.ResponseWriter, r *http.Request) {
		kept, keptURL = r, r.URL
		body, _ := io.ReadAll(r.Body)
		texts = append(texts, r.URL.Path, r.URL.RawQuery, r.Header.Get("Authorization"), string(body))
		fmt.Fprintf(w, "%s %v %q %q %d", r.RequestURI, r.Header, r.PathValue("id"), r.Pattern, len(w.Header()))
		r.SetPathValue("id", "secret")
		r.Pattern = "GET /secret"
		r.Header["X-Added"] = []string{"secret"}
		_ = r.ParseForm()
		w.Header()["X-Answer"] = []string{"secret"} // too late to be sent
	})
	c := call(t, addr)
	secret := inLines("POST /secret?secret=1 HTTP/1.1", "Host: secret", "Authorization: secret", "Cookie: secret", "Content-Length: 8") + "s=secret"
	plainest := inLines("GET /open HTTP/1.1", "Host: x", "Accept: a")
	for range 3 {
		c.Say(t, secret)
		c.Hear(t)
		until(t, func() bool { return l.only().kind() == idle })
		if kept.URL != nil || kept.Header != nil || kept.Body != nil || kept.RequestURI != "" || *keptURL != (url.URL{}) {
			t.Errorf("who keeps a request still finds %+v in it, and %+v", kept, keptURL)
		}
		c.Say(t, plainest)
		response, body := c.Hear(t)
		if want := `/open map[Accept:[a]] "" "" 0`; body != want {
			t.Errorf("the next request shows %s; want %s", body, want)
		}
		if response.Header.Get("X-Answer") != "" {
			t.Error("the next answer has a field of the one before")
		}
	}
	if l.len() != 1 {
		t.Fatal("the requests were not plain")
	}
	for i, want := range []string{"/secret", "secret=1", "secret", "s=secret", "/open", "", "", ""} {
		if texts[i] != want || texts[i+8] != want {
			t.Errorf("what was kept became %q; want %q", texts[i], want)
		}
	}
}

// The date is that of the answer, not of the one before.
func TestListener_Dates(t *testing.T) {
	l, addr := startListener(t, namePath)
	c := call(t, addr)
	for range 2 {
		before := time.Now().Truncate(time.Second)
		l.second.Store(&datedSecond{before.Unix() - 1, "long ago"})
		c.Say(t, plainSamples[0])
		response, _ := c.Hear(t)
		got, err := http.ParseTime(response.Header.Get("Date"))
		if err != nil || got.Before(before) || got.After(time.Now()) {
			t.Errorf("the date is %s, %v", got, err)
		}
	}
}

// What is flushed is there before the answer ends.
func TestListener_Flushes(t *testing.T) {
	goOn := make(chan struct{}, 2)
	l, addr := startListener(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "first\n")
		_ = http.NewResponseController(w).Flush()
		<-goOn
		_, _ = io.WriteString(w, "second\n")
	})
	c := call(t, addr)
	c.Say(t, plainSamples[0])
	response, err := http.ReadResponse(c.In, nil)
	if err != nil {
		t.Fatal(err)
	}
	body := bufio.NewReader(response.Body)
	for _, want := range []string{"first\n", "second\n"} {
		if line, err := body.ReadString('\n'); line != want || err != nil {
			t.Errorf("read %q, %v", line, err)
		}
		goOn <- struct{}{}
	}
	if l.len() != 1 {
		t.Error("it was not the fast path that answered")
	}
}

// A panic in a handler ends no more than its request.
func TestListener_Panics(t *testing.T) {
	l, addr := startListener(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			_, _ = io.WriteString(w, strings.Repeat("x", 3000))
		}
		panic("on purpose")
	})
	c := call(t, addr)
	c.Say(t, plainSamples[0])
	c.IsClosed(t) // as net/http does
	c = call(t, addr)
	c.Say(t, inLines("GET /late HTTP/1.1", "Host: x"))
	response, err := http.ReadResponse(c.In, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read %d bytes, %v; want an answer that visibly broke off", len(body), err)
	}
	until(t, func() bool { return l.len() == 0 })
}

// A drain that takes too long cuts off who is still being answered, and closes at
// once who is not.
func TestListener_Drain(t *testing.T) {
	began, release := make(chan context.Context), make(chan struct{})
	l, addr := startListener(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/slow" {
			return
		}
		began <- r.Context()
		<-release
		_, _ = io.WriteString(w, "done")
	})
	idler, first, second := call(t, addr), call(t, addr), call(t, addr)
	until(t, func() bool { return l.len() == 3 }) // a drain is for connections that were accepted
	idler.Say(t, plainSamples[0])
	idler.Hear(t)
	slow := inLines("GET /slow HTTP/1.1", "Host: x")
	first.Say(t, slow)
	<-began
	drained := make(chan error)
	go func() { drained <- l.Drain(context.Background()) }()
	idler.IsClosed(t)
	release <- struct{}{}
	if response, body := first.Hear(t); body != "done" || !response.Close {
		t.Errorf("heard %q, close %v", body, response.Close)
	}
	first.IsClosed(t)
	second.Say(t, slow) // a new connection may still ask
	ctx := <-began
	patience, cancel := context.WithCancel(context.Background())
	go func() { drained <- l.Drain(patience) }()
	cancel()
	if err := <-drained; !errors.Is(err, context.Canceled) {
		t.Errorf("the drain says %v", err)
	}
	<-ctx.Done()
	second.IsClosed(t)
	close(release)
	if err := <-drained; err != nil {
		t.Errorf("the drain says %v", err)
	}
}
