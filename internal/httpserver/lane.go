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

// lane serves plain requests (see plainRequest) with a small loop of its own,
// and hands every other connection over to net/http, with the bytes read so far,
// for good. So net/http decides about everything that is odd, slow or wrong, and
// what devices and apps ask all day costs a third less: the lane fills one
// request and one answer again and again, sets no deadlines, starts no goroutine
// to see a client leave, and has one context for a connection. A clerk looks at
// all connections four times a second instead, and does what deadlines would:
// see look.go.
//
// For handlers this means: a request, its header and its answer are theirs until
// they return, and no longer. They are emptied then, and filled with the next
// request of that connection, which may be another person's. Strings taken from
// them stay what they are. A context ends with the connection, not with the
// request; that a client has left ends it within a second.
type lane struct {
	net.Listener // where connections come from
	front        *Front
	foreign      *handover

	tick     atomic.Uint64 // counts the looks
	stopping atomic.Bool   // no connection is kept after its answer
	handed   atomic.Bool   // some connection was, since the drain began
	second   atomic.Pointer[datedSecond]

	mu      sync.Mutex
	clients map[*client]struct{}
	riding  sync.WaitGroup
}

func newLane(door net.Listener, front *Front) *lane {
	return &lane{
		Listener: door, front: front, clients: map[*client]struct{}{},
		foreign: &handover{addr: door.Addr(), conns: make(chan net.Conn), closed: make(chan struct{})},
	}
}

// Accept takes connections into the lane, and returns those that it cannot
// serve. So the loop around it is net/http's, which knows what to do about
// errors.
func (l *lane) Accept() (net.Conn, error) {
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

// leave lets a connection go: from now on nobody looks at it. It is called once.
func (l *lane) leave(c *client) {
	l.mu.Lock()
	delete(l.clients, c)
	l.mu.Unlock()
	c.cancel()
}

// watch looks at all connections again and again until ctx ends.
func (l *lane) watch(ctx context.Context) {
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

func (l *lane) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	tick := l.tick.Add(1)
	for c := range l.clients {
		c.look(tick)
	}
}

// drain closes connections as soon as they have nothing in flight, and waits for
// that. When ctx ends before, it cuts off the others.
func (l *lane) drain(ctx context.Context) error {
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
		time.Sleep(drainLinger) // net/http must come to know them
	}
	return nil
}

// close cuts everyone off.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.clients {
		c.cancel()
		_ = c.Conn.Close() // its goroutine notices, and frees the slot
	}
}

// datedSecond is a second as the Date header has it.
type datedSecond struct {
	unix int64
	text string
}

func (l *lane) date() string {
	now := time.Now()
	last := l.second.Load()
	if last == nil || last.unix != now.Unix() {
		last = &datedSecond{now.Unix(), now.UTC().Format(http.TimeFormat)}
		l.second.Store(last)
	}
	return last.text
}

// handover is the listener through which net/http gets connections from the
// lane.
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
