package fastpath

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"
)

// conn is a connection on the fast path, with all the memory that its requests use, one
// after the other.
type conn struct {
	net.Conn          // requests are read from it, and responses written to it
	accepted net.Conn // Conn, or what wraps it

	ln     *Listener
	raw    syscall.RawConn
	state  atomic.Uint64 // see phase
	ctx    context.Context
	cancel context.CancelFunc

	buffer [maxPlain]byte
	filled int  // bytes used in buffer
	fresh  bool // no response was sent yet
	blank  int  // line breaks still allowed before the next request

	plain    plainRequest
	empty    *http.Request // carries the context, which cannot be set otherwise
	request  http.Request
	url      url.URL
	header   http.Header
	values   [maxFields]string
	body     body
	response responseWriter
}

// newConn prepares to serve an accepted connection. It reads and writes the connection
// that a NetConn method returns, if there is one. It reports false for a kind of
// connection that the fast path cannot serve.
func newConn(accepted net.Conn, l *Listener) (*conn, bool) {
	inner := accepted
	if wrapper, ok := accepted.(interface{ NetConn() net.Conn }); ok {
		inner = wrapper.NetConn()
	}
	system, ok := inner.(syscall.Conn)
	if !ok || !canSeeLeaving || l.cfg.Off {
		return nil, false
	}
	raw, err := system.SyscallConn()
	if err != nil {
		return nil, false
	}
	c := &conn{Conn: inner, accepted: accepted, ln: l, raw: raw, fresh: true, header: http.Header{}}
	c.ctx, c.cancel = context.WithCancel(l.cfg.ConnContext(context.Background(), accepted))
	c.empty = (&http.Request{RemoteAddr: accepted.RemoteAddr().String()}).WithContext(c.ctx)
	c.response = responseWriter{conn: c, header: http.Header{}}
	c.response.reset()
	c.enter(reading)
	return c, true
}

// serve serves the connection until it ends or is handed over. A failure affects only
// this connection.
func (c *conn) serve() {
	defer c.ln.open.Done()
	leave := c.quit
	defer func() {
		if cause := recover(); cause != nil {
			c.response.breakOff()
			if cause != http.ErrAbortHandler {
				c.ln.cfg.Log.Error("panic while answering", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
			}
		}
		leave()
	}()
	if c.servePlain() {
		leave = c.handOver
	}
}

// servePlain serves requests for as long as they are plain. It returns true when net/http
// must take over.
func (c *conn) servePlain() bool {
	for {
		switch c.plain.parse(c.buffer[:c.filled]) {
		case plain:
			if !c.exchange() {
				return false
			}
		case unfinished:
			if !c.skipBlank() && !c.read() {
				return !c.nothingCame()
			}
		case foreign:
			if !c.skipBlank() {
				return true
			}
		}
	}
}

// gone reports whether the client has closed the connection, or its side of it.
func (c *conn) gone() bool {
	ended, broken := c.peek()
	return ended || broken
}

// nothingCame reports whether a client that timed out or left has sent no request. After
// the first request, net/http needs four bytes before it looks at the next.
func (c *conn) nothingCame() bool {
	if c.fresh {
		return c.filled == 0 && c.gone()
	}
	return c.filled == 0 || c.filled < 4 && c.gone()
}

// skipBlank drops line breaks after a body: old clients send some, and net/http allows
// them.
func (c *conn) skipBlank() (skipped bool) {
	for c.blank > 0 && c.filled > 0 && (c.buffer[0] == '\r' || c.buffer[0] == '\n') {
		c.drop(1)
		c.blank--
		skipped = true
	}
	return skipped
}

// drop removes the first n bytes of the buffer.
func (c *conn) drop(n int) {
	c.filled = copy(c.buffer[:], c.buffer[n:c.filled])
}

// read waits for more bytes. It returns false when there is no point in waiting: the
// client left or took too long, or the server stops.
func (c *conn) read() bool {
	if c.filled > 0 && phase(c.state.Load()).kind() == idle {
		c.enter(reading)
	}
	for {
		if c.ln.isOver(phase(c.state.Load())) {
			return false
		}
		n, err := c.Conn.Read(c.buffer[c.filled:])
		c.filled += n
		switch {
		case n > 0:
			return true
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return false
		}
		// The reaper set the deadline, perhaps for the previous request.
		if err := c.Conn.SetReadDeadline(time.Time{}); err != nil {
			return false
		}
	}
}

// exchange serves the request in the buffer.
func (c *conn) exchange() (keep bool) {
	c.enter(busy)
	c.request = *c.empty
	c.plain.fill(&c.request, &c.url, c.header, &c.values, c.buffer[:])
	c.request.Body = http.NoBody
	if c.plain.length > 0 {
		c.body.Reset(c.buffer[c.plain.head:c.plain.size()])
		c.request.Body = &c.body
	}
	c.ln.cfg.Handler.ServeHTTP(&c.response, &c.request)
	keep = c.response.finish()
	c.forget()
	c.fresh, c.blank = false, 0
	if c.plain.method == http.MethodPost {
		c.blank = maxBlank
	}
	c.drop(c.plain.size())
	c.lift(c.enter(idle))
	return keep
}

const maxBlank = 4 // as many as net/http allows

// forget clears what the next request will fill: one user must never see the data of
// another on the same connection, as behind a proxy.
func (c *conn) forget() {
	clear(c.header)
	clear(c.values[:c.plain.count])
	c.request = http.Request{}
	c.url = url.URL{}
	c.body.Reset(nil)
	c.response.reset()
}

// quit closes the connection.
func (c *conn) quit() {
	c.ln.leave(c)
	_ = c.accepted.Close() // it is closed, whatever the error
}

// handOver passes the connection to net/http, as if nothing had been read.
func (c *conn) handOver() {
	c.ln.leave(c)
	_ = c.Conn.SetDeadline(time.Time{}) // if it fails, so does the next read
	c.ln.cfg.HandOver(c.accepted, bytes.Clone(c.buffer[:c.filled]))
}

// body is the body of a plain request.
type body struct{ bytes.Reader }

func (b *body) Close() error { return nil }
