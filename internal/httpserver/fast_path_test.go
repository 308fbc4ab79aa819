package httpserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// startLane runs a lane whose clerk is the test: nobody looks but by look. The
// server behind it answers what is handed over.
func startLane(t *testing.T, handler http.HandlerFunc) (*fastPath, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := &Handler{
		Next:    handler,
		Refuse:  func(w http.ResponseWriter, _ *http.Request, status int) { http.Error(w, "refused", status) },
		Now:     time.Now,
		Log:     slog.New(slog.DiscardHandler),
		Observe: func(*http.Request, RequestInfo) {},
	}
	l := newLane(limitListener(ln, 10), front)
	srv := NewServer(front, front.Log)
	ended := make(chan error, 2)
	go func() { ended <- srv.Serve(l) }()
	go func() { ended <- srv.Serve(l.foreign) }()
	t.Cleanup(func() {
		srv.Close()
		<-ended
		<-ended
		l.close()
		l.riding.Wait()
	})
	return l, ln.Addr().String()
}

// caller is one end of a connection.
type caller struct {
	net.Conn
	in *bufio.Reader
}

func call(t *testing.T, addr string) *caller {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &caller{conn, bufio.NewReader(conn)}
}

func (c *caller) say(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// hear reads one answer.
func (c *caller) hear(t *testing.T) (*http.Response, string) {
	t.Helper()
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// isClosed waits for the end of the connection, with nothing before it.
func (c *caller) isClosed(t *testing.T) {
	t.Helper()
	if rest, err := io.ReadAll(c.in); err != nil || len(rest) > 0 {
		t.Errorf("the connection ends with %q, %v", rest, err)
	}
}

func (l *fastPath) lookOften(n uint64) {
	for range n {
		l.look()
	}
}

func (l *fastPath) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.clients)
}

// only gives what the one connection in the lane is doing.
func (l *fastPath) only() (p phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.clients {
		p = phase(c.state.Load())
	}
	return p
}

// count gives how many connections in the lane are doing something.
func (l *fastPath) count(kind phase) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.clients {
		if phase(c.state.Load()).kind() == kind {
			n++
		}
	}
	return n
}

func namePath(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Method+r.URL.Path) }

// Requests that come in one packet are answered in their order, whoever answers
// them.
func TestLane_Pipelined(t *testing.T) {
	l, addr := startLane(t, namePath)
	c := call(t, addr)
	get := func(name string) string { return inLines("GET /"+name+" HTTP/1.1", "Host: x") }
	c.say(t, get("a")+get("b"))
	for _, want := range []string{"GET/a", "GET/b"} {
		if _, body := c.hear(t); body != want {
			t.Errorf("heard %q; want %q", body, want)
		}
	}
	if l.len() != 1 {
		t.Error("plain requests left the lane")
	}
	c.say(t, get("c")+inLines("PATCH /d HTTP/1.1", "Host: x", "Content-Length: 0")+get("e"))
	for _, want := range []string{"GET/c", "PATCH/d", "GET/e"} {
		if _, body := c.hear(t); body != want {
			t.Errorf("heard %q; want %q", body, want)
		}
	}
	if l.len() != 0 {
		t.Error("a request that is not plain stayed in the lane")
	}
}

// A proxy sends requests of many people over one connection: nothing of one may
// be in the next, and what a handler took from one stays what it was.
func TestLane_ForgetsEachRequest(t *testing.T) {
	var kept *http.Request
	var keptURL *url.URL
	var texts []string
	l, addr := startLane(t, func(w http.ResponseWriter, r *http.Request) {
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
		c.say(t, secret)
		c.hear(t)
		until(t, func() bool { return l.only().kind() == idle })
		if kept.URL != nil || kept.Header != nil || kept.Body != nil || kept.RequestURI != "" || *keptURL != (url.URL{}) {
			t.Errorf("who keeps a request still finds %+v in it, and %+v", kept, keptURL)
		}
		c.say(t, plainest)
		response, body := c.hear(t)
		if want := `/open map[Accept:[a]] "" "" 1`; body != want {
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
func TestLane_Dates(t *testing.T) {
	l, addr := startLane(t, namePath)
	c := call(t, addr)
	for range 2 {
		before := time.Now().Truncate(time.Second)
		l.second.Store(&datedSecond{before.Unix() - 1, "long ago"})
		c.say(t, plainSamples[0])
		response, _ := c.hear(t)
		got, err := http.ParseTime(response.Header.Get("Date"))
		if err != nil || got.Before(before) || got.After(time.Now()) {
			t.Errorf("the date is %s, %v", got, err)
		}
	}
}

// What is flushed is there before the answer ends.
func TestLane_Flushes(t *testing.T) {
	goOn := make(chan struct{}, 2)
	l, addr := startLane(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "first\n")
		_ = http.NewResponseController(w).Flush()
		<-goOn
		_, _ = io.WriteString(w, "second\n")
	})
	c := call(t, addr)
	c.say(t, plainSamples[0])
	response, err := http.ReadResponse(c.in, nil)
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
		t.Error("it was not the lane that answered")
	}
}

// A panic in a handler ends no more than its request.
func TestLane_Panics(t *testing.T) {
	l, addr := startLane(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			_, _ = io.WriteString(w, strings.Repeat("x", 3000))
		}
		panic("on purpose")
	})
	c := call(t, addr)
	for range 2 {
		c.say(t, plainSamples[0])
		if response, body := c.hear(t); response.StatusCode != 500 || body != "refused\n" {
			t.Errorf("heard %d %q", response.StatusCode, body)
		}
	}
	c.say(t, inLines("GET /late HTTP/1.1", "Host: x"))
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read %d bytes, %v; want an answer that visibly broke off", len(body), err)
	}
	until(t, func() bool { return l.len() == 0 })
}
