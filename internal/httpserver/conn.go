package httpserver

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// conn is the connection of a client, as net/http sees it. Its reads are checked by
// framing, and tell presence whether the client is still there.
//
// It sends a response whose body is complete with one system call: net/http fills a buffer
// of 4 KB with the header and the start of the body, and sends that and the rest
// separately. The second call took some 7 % of the CPU time of a typical response.
type conn struct {
	net.Conn
	door *limited
	free func() // releases the listener's slot
	peer peer

	first   []byte // bytes for net/http to read first: those the fast path has read, or amended ones
	framing framing
	refused atomic.Bool // a request was refused: reads return only the rest of first
	tooLong bool        // the head of the last request was cut off

	presence presence

	whole []byte // the body of a response that is sent whole; else nil
	held  []byte // what net/http has written of that response so far
	parts [2][]byte
}

// NetConn returns the connection itself, for the fast path: it sees no request that
// framing would refuse.
func (c *conn) NetConn() net.Conn { return c.Conn }

type connKey struct{}

// withConn lets handlers find the connection of their request.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// peer is an address as a request names it, and what that means.
type peer struct {
	text string
	addr netip.Addr
}

// parsePeer parses the RemoteAddr of a request. The address is the zero Addr if it is none.
func parsePeer(text string) peer {
	parsed, _ := netip.ParseAddrPort(text)
	return peer{text, parsed.Addr()}
}

// Client returns the address of the client that sent a request: the peer of the
// connection, or what a trusted proxy says (see Proxies); any other header could be
// forged. It is the zero Addr if net/http knows none.
func Client(r *http.Request) netip.Addr {
	if c := connOf(r); c != nil && c.peer.text == r.RemoteAddr { // no proxy named another
		return c.peer.addr
	}
	return parsePeer(r.RemoteAddr).addr
}

// endsAfter reports whether the connection is closed after the response to a request.
func (c *conn) endsAfter(r *http.Request) bool {
	return c.door.crowded() || c.tooLong || len(r.TransferEncoding) > 0 // see framing
}

// worthwhile is the size from which a response does not fit into net/http's buffer
// together with its header.
const worthwhile = 3 << 10

// sendWhole sends a complete body through net/http, which handles every special case of
// a response, and holds the output until all of it is there. The header must have a
// Content-Length.
func (c *conn) sendWhole(w http.ResponseWriter, body []byte) (int, error) {
	through, ok := w.(io.ReaderFrom)
	if !ok {
		return w.Write(body)
	}
	c.whole = body
	n, err := through.ReadFrom(bytes.NewReader(body))
	c.whole = nil
	if len(c.held) > 0 { // net/http did not call ReadFrom, as with HEAD
		_, failed := c.Conn.Write(c.held)
		c.presence.written(failed)
		c.held = c.held[:0]
		if err == nil {
			err = failed
		}
	}
	return int(n), err
}

// Read returns incoming bytes, up to a request that must not be read.
func (c *conn) Read(p []byte) (int, error) {
	for {
		got, err := c.receive(p)
		if c.refused.Load() {
			return got, err
		}
		n, v := c.framing.pass(p[:got])
		switch v {
		case passes:
			return n, err
		case amends:
			c.first = c.framing.amend(c.readOn(p[n:got]))
		case tooLong:
			c.first, c.tooLong = c.framing.ending(), true
			c.refused.Store(true)
		default:
			c.first = unreadable
			c.refused.Store(true)
		}
		if n > 0 {
			return n, nil
		}
	}
}

// readOn returns start and as much of what follows it as framing needs.
func (c *conn) readOn(start []byte) []byte {
	rest := slices.Concat(start, c.first)
	for c.framing.unfinished(rest) {
		var more [64]byte
		n, err := c.Conn.Read(more[:])
		c.presence.read(err)
		if rest = append(rest, more[:n]...); err != nil {
			break // the next read returns it again
		}
	}
	return rest
}

// receive returns the bytes that the fast path has read, then reads from the connection.
func (c *conn) receive(p []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	if c.refused.Load() {
		return 0, io.EOF
	}
	n, err := c.Conn.Read(p)
	c.presence.read(err)
	return n, err
}

// Write sends p, or holds it while the response is incomplete.
func (c *conn) Write(p []byte) (int, error) {
	if c.whole != nil {
		c.held = append(c.held, p...)
		return len(p), nil
	}
	n, err := c.Conn.Write(p)
	c.presence.written(err)
	return n, err
}

// ReadFrom is called by net/http with the rest of a body. It sends the rest of one that is
// sent whole together with what is held.
func (c *conn) ReadFrom(src io.Reader) (int64, error) {
	reader, ok := src.(*bytes.Reader)
	if c.whole == nil || !ok {
		return io.Copy(writerOnly{c}, src)
	}
	rest := c.whole[len(c.whole)-reader.Len():]
	c.parts = [2][]byte{c.held, rest}
	buffers := net.Buffers(c.parts[:])
	_, err := buffers.WriteTo(c.Conn)
	c.presence.written(err)
	c.parts, c.held = [2][]byte{}, c.held[:0]
	if err != nil {
		return 0, err
	}
	return int64(len(rest)), nil
}

// writerOnly hides ReadFrom from io.Copy, which would call it again.
type writerOnly struct{ io.Writer }

// CloseWrite signals the client that nothing more comes, while it may still be sending.
// net/http calls it before it closes a connection with an unread body, so that the
// response is not lost.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// The client of a request that was refused unread may still be sending it. If the
// connection were closed, the client's kernel would discard the response.
const (
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 256 << 10
)

func (c *conn) linger() {
	if c.CloseWrite() == nil && c.Conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes) // for as long as it goes
	}
}

// Close also releases the slot.
func (c *conn) Close() error {
	if c.refused.Load() {
		c.linger()
	}
	err := c.Conn.Close()
	c.free()
	return err
}
