package httpserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// fastPath serves plain requests (see plainRequest) with a small loop of its own. It hands
// every other connection over to net/http for good, with the bytes read so far. So
// net/http decides about everything unusual, slow or wrong, and the frequent requests of
// devices and apps cost a third less: the fast path reuses one request and one response, sets
// no deadlines, starts no goroutine to detect a disconnect, and has one context per
// connection. Instead, a reaper scans all connections every 250 ms and does what
// deadlines would: see look.go.
//
// For handlers this means: a request, its header and its response are valid only until
// they return. Then they are cleared and reused for the next request on the connection,
// which may be another person's. Strings taken from them remain valid. A context ends
// with the connection, not with the request; if the client leaves, it ends within a
// second.
type fastPath struct {
	net.Listener // source of connections
	front        *Handler
	foreign      *handover

	tick     atomic.Uint64 // number of scans
	stopping atomic.Bool   // no connection is kept after its response
	handed   atomic.Bool   // a connection was handed over since the drain began
	second   atomic.Pointer[datedSecond]

	mu      sync.Mutex
	clients map[*fastConn]struct{}
	riding  sync.WaitGroup
}

func newLane(door net.Listener, front *Handler) *fastPath {
	return &fastPath{
		Listener: door, front: front, clients: map[*fastConn]struct{}{},
		foreign: &handover{addr: door.Addr(), conns: make(chan net.Conn), closed: make(chan struct{})},
	}
}

// Accept takes connections onto the fast path and returns those that it cannot serve. So
// net/http runs the accept loop, and handles its errors.
func (l *fastPath) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, ok := newClient(accepted, l)
		if !ok {
			return accepted, nil
		}
		l.mu.Lock()
		l.clients[c] = struct{}{}
		l.mu.Unlock()
		l.riding.Add(1)
		go c.ride()
	}
}

// leave removes a connection, so that it is no longer scanned. It is called once.
func (l *fastPath) leave(c *fastConn) {
	l.mu.Lock()
	delete(l.clients, c)
	l.mu.Unlock()
	c.cancel()
}

// watch scans all connections periodically until ctx ends.
func (l *fastPath) watch(ctx context.Context) {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.look()
		}
	}
}

func (l *fastPath) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	tick := l.tick.Add(1)
	for c := range l.clients {
		c.look(tick)
	}
}

// drain closes connections as soon as they have nothing in flight, and waits for that.
// If ctx ends first, it closes the others.
func (l *fastPath) drain(ctx context.Context) error {
	l.stopping.Store(true)
	l.look()
	empty := make(chan struct{})
	go func() { l.riding.Wait(); close(empty) }()
	select {
	case <-empty:
	case <-ctx.Done():
		l.close()
		return ctx.Err()
	}
	if l.handed.Load() {
		time.Sleep(drainLinger) // net/http must register them first
	}
	return nil
}

// close closes all connections.
func (l *fastPath) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.clients {
		c.cancel()
		_ = c.Conn.Close() // its goroutine notices and releases the slot
	}
}

// datedSecond is a second in the format of the Date header.
type datedSecond struct {
	unix int64
	text string
}

func (l *fastPath) date() string {
	now := time.Now()
	last := l.second.Load()
	if last == nil || last.unix != now.Unix() {
		last = &datedSecond{now.Unix(), now.UTC().Format(http.TimeFormat)}
		l.second.Store(last)
	}
	return last.text
}

// handover is the listener through which net/http receives connections from the fast path.
type handover struct {
	addr   net.Addr
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (h *handover) give(c net.Conn) error {
	select {
	case h.conns <- c:
		return nil
	case <-h.closed:
		return errors.Join(net.ErrClosed, c.Close())
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
