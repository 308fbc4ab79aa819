package httpserver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// Whoever does not send a request as a whole is left to net/http, with what came.
func TestLane_HandsOverTheSlow(t *testing.T) {
	l, addr := startLane(t, namePath)
	silent, slow, again := call(t, addr), call(t, addr), call(t, addr)
	request := inLines("POST /a HTTP/1.1", "Host: x", "Content-Length: 3") + "abc"
	slow.say(t, request[:20])
	again.say(t, request+request[:40])
	again.hear(t)
	until(t, func() bool { return l.count(reading) == 3 })
	l.lookOften(wholeWithin)
	if l.len() != 3 {
		t.Error("handed over too early")
	}
	l.lookOften(2)
	until(t, func() bool { return l.len() == 0 })
	slow.say(t, request[20:])
	again.say(t, request[40:])
	silent.say(t, request)
	for _, c := range []*caller{slow, again, silent} {
		if _, body := c.hear(t); body != "POST/a" {
			t.Errorf("heard %q", body)
		}
	}
}

// A connection that is not used ends after a while, and not before.
func TestLane_ClosesTheIdle(t *testing.T) {
	l, addr := startLane(t, namePath)
	c := call(t, addr)
	for range 3 {
		c.say(t, plainSamples[0])
		c.hear(t)
		until(t, func() bool { return l.only().kind() == idle }) // a moment after its answer
		l.lookOften(idleWithin)
		if l.len() != 1 {
			t.Fatal("the connection was closed too early")
		}
	}
	l.lookOften(2)
	c.isClosed(t)
	until(t, func() bool { return l.len() == 0 && len(l.Listener.(*limited).slots) <= 1 }) // one is for the next
}

// The context of a request ends when its client leaves, and no earlier.
func TestLane_ClientLeaves(t *testing.T) {
	began, ended := make(chan context.Context), make(chan struct{})
	l, addr := startLane(t, func(_ http.ResponseWriter, r *http.Request) {
		began <- r.Context()
		<-r.Context().Done()
		ended <- struct{}{}
	})
	for _, leave := range []func(*caller){
		func(c *caller) { _ = c.Close() },
		func(c *caller) { _ = c.Conn.(*net.TCPConn).SetLinger(0); _ = c.Close() },
		func(c *caller) { _ = c.Conn.(*net.TCPConn).CloseWrite() }, // as net/http sees it
	} {
		c := call(t, addr)
		c.say(t, plainSamples[0])
		ctx := <-began
		l.lookOften(seenAfter + 5)
		if ctx.Err() != nil {
			t.Error("the context ended before the client left")
		}
		leave(c)
		until(t, func() bool { l.look(); return ctx.Err() != nil })
		<-ended
	}
	until(t, func() bool { return l.len() == 0 })
}

// A client that has sent all it has to say still gets its answer.
func TestLane_HalfClosed(t *testing.T) {
	_, addr := startLane(t, namePath)
	c := call(t, addr)
	c.say(t, plainSamples[0]+plainSamples[0])
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	for range 2 {
		if _, body := c.hear(t); body != "GET/" {
			t.Errorf("heard %q", body)
		}
	}
	c.isClosed(t)
}

// endlessly writes until that fails.
func endlessly(w http.ResponseWriter) error {
	for piece := make([]byte, 64<<10); ; {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
}

// A client that does not read its answer is let go, and its slot is free.
func TestLane_LimitsWrites(t *testing.T) {
	failed := make(chan error)
	l, addr := startLane(t, func(w http.ResponseWriter, _ *http.Request) { failed <- endlessly(w) })
	c := call(t, addr)
	c.say(t, plainSamples[0])
	var err error
	until(t, func() bool {
		l.look()
		select {
		case err = <-failed:
			return true
		default:
			return false
		}
	})
	var late net.Error
	if !errors.As(err, &late) || !late.Timeout() {
		t.Errorf("writing failed with %v", err)
	}
	until(t, func() bool { return l.len() == 0 && len(l.Listener.(*limited).slots) <= 1 })
}

// A handler can set a limit of its own. It holds for its answer alone.
func TestLane_OwnLimits(t *testing.T) {
	goOn := make(chan struct{})
	l, addr := startLane(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" { // has the usual limit
			_, _ = io.WriteString(w, "done")
			return
		}
		control := http.NewResponseController(w)
		if r.URL.Path == "/short" {
			_ = control.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
			goOn <- struct{}{}
			if err := endlessly(w); err == nil || r.Context().Err() == nil {
				t.Errorf("no limit, or a context that goes on: %v, %v", err, r.Context().Err())
			}
			return
		}
		_ = control.SetWriteDeadline(time.Now().Add(time.Hour))
		<-goOn
		w.Header()["Content-Length"] = []string{"4"}
		w.Header()["Content-Type"] = []string{"text/plain"}
		_, _ = io.WriteString(w, "done")
		_ = control.Flush()
		_ = control.SetWriteDeadline(time.Now().Add(-time.Hour)) // when all is written
	})
	c := call(t, addr)
	for range 3 {
		c.say(t, inLines("GET /long HTTP/1.1", "Host: x"))
		until(t, func() bool { return l.only()&ownLimit != 0 }) // it is at work, with its own limit
		l.lookOften(2 * writtenWithin)
		goOn <- struct{}{}
		for range 2 {
			if _, body := c.hear(t); body != "done" {
				t.Errorf("heard %q", body)
			}
			c.say(t, plainSamples[0])
		}
		c.hear(t)
	}
	c.say(t, inLines("GET /short HTTP/1.1", "Host: x"))
	<-goOn
	until(t, func() bool { return l.len() == 0 })
}

// Whoever sends a request slowly is let go within ten seconds (F18), the time in the
// lane included.
func TestLane_SlowClientsHaveTenSeconds(t *testing.T) {
	inLane := time.Duration(wholeWithin+2) * lookInterval // up to one look before, and one after
	if all := inLane + readTimeout; all > 10*time.Second {
		t.Errorf("a slow request is let go after %v", all)
	}
}
