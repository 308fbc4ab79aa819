package httpserver

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/beacon-wifi/beacon/internal/httpserver/fastpath"
)

// running is a server that answers with the path.
type running struct {
	net.Listener
	front *Handler
	stop  context.CancelFunc
	done  chan error
}

// run runs a server. The notice of its drain ends with notice, if that is not nil. A slow
// machine may need longer for a drain than a supervisor waits.
func run(t *testing.T, notice <-chan time.Time) *running {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{ln, &Handler{
		Next: http.HandlerFunc(namePath), Now: time.Now, Log: slog.New(slog.DiscardHandler), Observe: func(*http.Request, RequestInfo) {},
		Times: Times{Notice: notice, Finish: 5 * time.Minute},
	}, cancel, make(chan error, 1)}
	go func() { r.done <- Serve(ctx, ln, r.front) }()
	return r
}

// A server that has stopped leaves nothing behind, whatever its clients did.
func TestServe_LeavesNoGoroutine(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	r := run(t, nil)
	head := inLines("HEAD / HTTP/1.1", "Host: x")
	for _, text := range []string{plainSamples[0], head, "", "G", "\x16\x03\x01", plainSamples[0] + "GET /", head + "GET /"} {
		c := call(t, r.Addr().String())
		c.Say(t, text)
		if len(text) > len(head)/2 {
			if response, err := http.ReadResponse(c.In, &http.Request{Method: text[:4]}); err != nil || response.StatusCode != 200 {
				t.Errorf("%q: %v", text, err)
			}
		}
		if text != plainSamples[0] && text != head { // the others wait for the server to go
			c.Close()
		}
	}
	r.stop()
	if err := <-r.done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	goleak.VerifyNone(t, leaks)
}

// A drain waits for who is being answered, and tells who comes meanwhile to go
// elsewhere: on connections on the fast path, and on those that leave it just then.
func TestServe_DrainHandsOver(t *testing.T) {
	notice := make(chan time.Time)
	r := run(t, notice)
	var callers []*caller
	for range 20 {
		c := call(t, r.Addr().String())
		c.Say(t, plainSamples[0])
		if response, _ := c.Hear(t); response.Close {
			t.Fatal("told to go elsewhere too early")
		}
		callers = append(callers, c)
	}
	r.stop()
	until(t, r.front.draining.Load)
	for i, c := range callers {
		if i%2 == 0 {
			c.Say(t, plainSamples[0])
		} else {
			c.Say(t, inLines("DELETE / HTTP/1.1", "Host: x"))
		}
	}
	for _, c := range callers {
		if response, _ := c.Hear(t); !response.Close {
			t.Error("not told to go elsewhere")
		}
		c.IsClosed(t)
	}
	close(notice)
	if err := <-r.done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// A server whose listener breaks says so, and lets everyone go.
func TestServe_BrokenListenerLeavesNobody(t *testing.T) {
	r := run(t, nil)
	c := call(t, r.Addr().String())
	c.Say(t, plainSamples[0])
	c.Hear(t)
	r.Close()
	if err := <-r.done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve: %v", err)
	}
	c.IsClosed(t)
}

// Whoever sends a request slowly is let go within ten seconds (F18), the time on the
// fast path included.
func TestServe_SlowClientsHaveTenSeconds(t *testing.T) {
	if all := fastpath.MaxRead + readTimeout; all > 10*time.Second {
		t.Errorf("a slow request is let go after %v", all)
	}
}
