package httpserver

import (
	"net"
	"sync"
	"sync/atomic"
)

// handover is the listener through which net/http receives the connections that the
// fast path hands over.
type handover struct {
	addr   net.Addr
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}

	draining func() bool
	handed   atomic.Bool // a connection came since the drain began
}

func newHandover(addr net.Addr, draining func() bool) *handover {
	return &handover{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{}), draining: draining}
}

// give passes on a connection of which the fast path has read some bytes.
func (h *handover) give(c net.Conn, read []byte) {
	c.(*conn).first = read
	if h.draining() {
		h.handed.Store(true)
	}
	select {
	case h.conns <- c:
	case <-h.closed:
		_ = c.Close() // it is closed, whatever the error
	}
}

func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *handover) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

func (h *handover) Addr() net.Addr { return h.addr }
