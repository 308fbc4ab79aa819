package httpserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A server that has stopped leaves nothing behind, whatever its clients did.
func TestServe_LeavesNoGoroutine(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	front := &Handler{
		Next: http.HandlerFunc(namePath), Now: time.Now, Log: slog.New(slog.DiscardHandler), Observe: func(*http.Request, RequestInfo) {},
	}
	go func() { done <- Serve(ctx, ln, front) }()
	head := inLines("HEAD / HTTP/1.1", "Host: x")
	for _, text := range []string{plainSamples[0], head, "", "G", "\x16\x03\x01", plainSamples[0] + "GET /", head + "GET /"} {
		c := call(t, ln.Addr().String())
		c.say(t, text)
		if len(text) > len(head)/2 {
			if response, err := http.ReadResponse(c.in, &http.Request{Method: text[:4]}); err != nil || response.StatusCode != 200 {
				t.Errorf("%q: %v", text, err)
			}
		}
		if text != plainSamples[0] && text != head { // the others wait for the server to go
			c.Close()
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	goleak.VerifyNone(t, leaks)
}

// A drain waits for who is being answered, and tells who comes meanwhile to go
// elsewhere: on connections in the lane, and on those that leave it just then.
func TestServe_DrainHandsOver(t *testing.T) {
	release := HoldNotice(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	front := &Handler{
		Next: http.HandlerFunc(namePath), Now: time.Now, Log: slog.New(slog.DiscardHandler), Observe: func(*http.Request, RequestInfo) {},
	}
	go func() { done <- Serve(ctx, ln, front) }()
	var callers []*caller
	for range 20 {
		c := call(t, ln.Addr().String())
		c.say(t, plainSamples[0])
		if response, _ := c.hear(t); response.Close {
			t.Fatal("told to go elsewhere too early")
		}
		callers = append(callers, c)
	}
	cancel()
	until(t, front.draining.Load)
	for i, c := range callers {
		if i%2 == 0 {
			c.say(t, plainSamples[0])
		} else {
			c.say(t, inLines("DELETE / HTTP/1.1", "Host: x"))
		}
	}
	for _, c := range callers {
		if response, _ := c.hear(t); !response.Close {
			t.Error("not told to go elsewhere")
		}
		c.isClosed(t)
	}
	release()
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// A drain that takes too long cuts off who is still being answered, and closes at
// once who is not.
func TestLane_Drain(t *testing.T) {
	began, release := make(chan context.Context), make(chan struct{})
	l, addr := startLane(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/slow" {
			return
		}
		began <- r.Context()
		<-release
		_, _ = io.WriteString(w, "done")
	})
	idler, first, second := call(t, addr), call(t, addr), call(t, addr)
	idler.say(t, plainSamples[0])
	idler.hear(t)
	slow := inLines("GET /slow HTTP/1.1", "Host: x")
	first.say(t, slow)
	<-began
	drained := make(chan error)
	go func() { drained <- l.drain(context.Background()) }()
	idler.isClosed(t)
	release <- struct{}{}
	if response, body := first.hear(t); body != "done" || !response.Close {
		t.Errorf("heard %q, close %v", body, response.Close)
	}
	first.isClosed(t)
	second.say(t, slow) // a new connection may still ask
	ctx := <-began
	patience, cancel := context.WithCancel(context.Background())
	go func() { drained <- l.drain(patience) }()
	cancel()
	if err := <-drained; !errors.Is(err, context.Canceled) {
		t.Errorf("the drain says %v", err)
	}
	<-ctx.Done()
	second.isClosed(t)
	close(release)
	if err := <-drained; err != nil {
		t.Errorf("the drain says %v", err)
	}
}

// A server whose listener breaks says so, and lets everyone go.
func TestServe_BrokenListenerLeavesNobody(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	front := &Handler{
		Next: http.HandlerFunc(namePath), Now: time.Now, Log: slog.New(slog.DiscardHandler), Observe: func(*http.Request, RequestInfo) {},
	}
	go func() { done <- Serve(t.Context(), ln, front) }()
	c := call(t, ln.Addr().String())
	c.say(t, plainSamples[0])
	c.hear(t)
	ln.Close()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve: %v", err)
	}
	c.isClosed(t)
}
