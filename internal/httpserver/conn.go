package httpserver

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
)

// conn is a connection of a client. It sends an answer whose body is at hand as
// a whole with one system call: net/http fills a buffer of 4 KB with the header
// and the beginning of the body, and sends that and the rest apart. The second
// call was some 7 % of the CPU time of a typical answer.
type conn struct {
	net.Conn
	door *limited
	free func() // gives back the door's slot

	first   []byte // what the lane has read, for net/http to read first
	framing framing
	refused bool // nothing is read any more but what is left of first

	holding bool   // the next writes are kept in held
	held    []byte // what net/http has sent of the answer so far
	parts   [2][]byte
}

type connKey struct{}

// withConn lets handlers find the connection of their request.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// worthwhile is the size from which on an answer does not fit into net/http's
// buffer together with its header.
const worthwhile = 3 << 10

// sendWhole sends an answer's whole body through net/http, which copes with
// everything that can be special about an answer, and keeps what comes out
// until all of it is there. The header must have the Content-Length.
func (c *conn) sendWhole(w http.ResponseWriter, body []byte) (int, error) {
	through, ok := w.(io.ReaderFrom)
	if !ok {
		return w.Write(body)
	}
	c.holding = true
	n, err := through.ReadFrom(bytes.NewReader(body))
	c.holding = false
	if len(c.held) > 0 { // net/http did not come to ReadFrom, as with HEAD
		_, failed := c.Conn.Write(c.held)
		c.held = c.held[:0]
		if err == nil {
			err = failed
		}
	}
	return int(n), err
}

// Read gives net/http what comes, up to a request that nobody should read.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.receive(p)
	if c.refused {
		return n, err
	}
	n, ok := c.framing.pass(p[:n])
	if ok {
		return n, err
	}
	c.first, c.refused = unreadable, true
	if n > 0 {
		return n, nil
	}
	return c.receive(p)
}

// receive gives what the lane has read before, then what comes.
func (c *conn) receive(p []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	if c.refused {
		return 0, io.EOF
	}
	return c.Conn.Read(p)
}

// Write sends, or keeps while the answer is not complete.
func (c *conn) Write(p []byte) (int, error) {
	if c.holding {
		c.held = append(c.held, p...)
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// ReadFrom is where net/http hands over the rest of a body.
func (c *conn) ReadFrom(src io.Reader) (int64, error) {
	rest, whole := src.(*bytes.Reader)
	if !c.holding || !whole {
		return io.Copy(writerOnly{c}, src)
	}
	n := rest.Len()
	sink := partsOf{c: c}
	if _, err := rest.WriteTo(&sink); err != nil {
		return 0, err
	}
	return int64(n), nil
}

// writerOnly hides ReadFrom from io.Copy, which would call it again.
type writerOnly struct{ io.Writer }

// partsOf sends what is held and one more piece in one system call.
type partsOf struct{ c *conn }

func (s *partsOf) Write(p []byte) (int, error) {
	c := s.c
	c.parts = [2][]byte{c.held, p}
	buffers := net.Buffers(c.parts[:])
	sent, err := buffers.WriteTo(c.Conn)
	c.parts = [2][]byte{}
	n := max(int(sent)-len(c.held), 0)
	c.held = c.held[:0]
	return n, err
}

// CloseWrite tells the client that nothing more comes, while it may still be
// sending: net/http does so before it closes on a body that it will not read, so
// that the answer is not lost with the connection.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close frees the slot too.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.free()
	return err
}
