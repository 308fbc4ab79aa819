package fastpath

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
func TestListener_HandsOverTheSlow(t *testing.T) {
	l, addr := startListener(t, namePath)
	silent, slow, again := call(t, addr), call(t, addr), call(t, addr)
	request := inLines("POST /a HTTP/1.1", "Host: x", "Content-Length: 3") + "abc"
	slow.Say(t, request[:20])
	again.Say(t, request+request[:40])
	again.Hear(t)
	until(t, func() bool { return l.count(reading) == 3 })
	l.scanOften(wholeWithin)
	if l.len() != 3 {
		t.Error("handed over too early")
	}
	l.scanOften(2)
	until(t, func() bool { return l.len() == 0 })
	slow.Say(t, request[20:])
	again.Say(t, request[40:])
	silent.Say(t, request)
	for _, c := range []*caller{slow, again, silent} {
		if _, body := c.Hear(t); body != "POST/a" {
			t.Errorf("heard %q", body)
		}
	}
}

// A connection that is not used ends after a while, and not before.
func TestListener_ClosesTheIdle(t *testing.T) {
	l, addr := startListener(t, namePath)
	c := call(t, addr)
	for range 3 {
		c.Say(t, plainSamples[0])
		c.Hear(t)
		until(t, func() bool { return l.only().kind() == idle }) // a moment after its answer
		l.scanOften(uint64(l.cfg.Idle / scanInterval))
		if l.len() != 1 {
			t.Fatal("the connection was closed too early")
		}
	}
	l.scanOften(2)
	c.IsClosed(t)
	until(t, func() bool { return l.len() == 0 && l.accepted() == 0 })
}

// The context of a request ends when the connection breaks, and no earlier. A client
// that has closed its sending side is waiting for the response, unless the handler knows
// better.
func TestListener_ClientLeaves(t *testing.T) {
	began, release := make(chan context.Context), make(chan struct{})
	l, addr := startListener(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			w.(*responseWriter).EndWithInput()
		}
		began <- r.Context()
		select {
		case <-r.Context().Done():
		case <-release:
		}
	})
	for _, client := range []struct {
		path  string
		leave func(*net.TCPConn)
		ends  bool
	}{
		{"/", func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() }, true},
		{"/", func(c *net.TCPConn) { _ = c.CloseWrite() }, false},
		{"/stream", func(c *net.TCPConn) { _ = c.CloseWrite() }, true},
	} {
		c := call(t, addr)
		c.Say(t, inLines("GET "+client.path+" HTTP/1.1", "Host: x"))
		ctx := <-began
		l.scanOften(seenAfter + 5)
		if ctx.Err() != nil {
			t.Error("the context ended before the client left")
		}
		client.leave(c.Conn.(*net.TCPConn))
		if client.ends {
			until(t, func() bool { l.scan(); return ctx.Err() != nil })
			continue
		}
		until(t, func() bool { return l.isHalfClosed() })
		l.scanOften(seenAfter + 5)
		if ctx.Err() != nil {
			t.Error("the context ended though the client waits for its response")
		}
		release <- struct{}{}
		if response, _ := c.Hear(t); response.StatusCode != http.StatusOK {
			t.Errorf("heard %s", response.Status)
		}
	}
	until(t, func() bool { return l.len() == 0 })
}

// isHalfClosed reports whether the only client has closed its sending side.
func (l *Listener) isHalfClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		ended, broken := c.peek()
		return ended && !broken
	}
	return false
}

// A client that has sent all it has to say still gets its answer.
func TestListener_HalfClosed(t *testing.T) {
	_, addr := startListener(t, namePath)
	c := call(t, addr)
	c.Say(t, plainSamples[0]+plainSamples[0])
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	for range 2 {
		if _, body := c.Hear(t); body != "GET/" {
			t.Errorf("heard %q", body)
		}
	}
	c.IsClosed(t)
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
func TestListener_LimitsWrites(t *testing.T) {
	failed := make(chan error)
	l, addr := startListener(t, func(w http.ResponseWriter, _ *http.Request) { failed <- endlessly(w) })
	c := call(t, addr)
	c.Say(t, plainSamples[0])
	var err error
	until(t, func() bool {
		l.scan()
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
	until(t, func() bool { return l.len() == 0 && l.accepted() == 0 })
}

// A handler can set a limit of its own. It holds for its answer alone.
func TestListener_OwnLimits(t *testing.T) {
	goOn := make(chan struct{})
	l, addr := startListener(t, func(w http.ResponseWriter, r *http.Request) {
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
		c.Say(t, inLines("GET /long HTTP/1.1", "Host: x"))
		until(t, func() bool { return l.only()&ownLimit != 0 }) // it is at work, with its own limit
		l.scanOften(2 * uint64(l.cfg.Write/scanInterval))
		goOn <- struct{}{}
		for range 2 {
			if _, body := c.Hear(t); body != "done" {
				t.Errorf("heard %q", body)
			}
			c.Say(t, plainSamples[0])
		}
		c.Hear(t)
	}
	c.Say(t, inLines("GET /short HTTP/1.1", "Host: x"))
	<-goOn
	until(t, func() bool { return l.len() == 0 })
}
