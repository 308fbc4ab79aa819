package fastpath

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Config configures a Listener.
type Config struct {
	Handler http.Handler
	Idle    time.Duration // how long a connection may wait for its next request
	Write   time.Duration // how long a response may take, unless its handler sets a deadline
	Log     *slog.Logger

	// ConnContext returns the context of the requests on a connection, as that of
	// http.Server does.
	ConnContext func(context.Context, net.Conn) context.Context

	// HandOver gives a connection to net/http, which must first read the bytes in read.
	HandOver func(c net.Conn, read []byte)

	// Off leaves every connection to net/http.
	Off bool
}

// Listener serves plain requests on the connections of another listener. It is a
// listener itself: its Accept returns the connections that it cannot serve.
type Listener struct {
	net.Listener // source of connections
	cfg          Config

	tick     atomic.Uint64 // number of scans
	stopping atomic.Bool   // no connection is kept after its response
	second   atomic.Pointer[datedSecond]

	mu    sync.Mutex
	conns map[*conn]struct{}
	open  sync.WaitGroup // a count of conns that can be waited for
}

// New returns a listener for the connections of source. The caller must serve what its
// Accept returns, and call Run.
func New(source net.Listener, cfg Config) *Listener {
	return &Listener{Listener: source, cfg: cfg, conns: map[*conn]struct{}{}}
}

// Accept takes connections onto the fast path and returns those that it cannot serve. So
// net/http runs the accept loop, and handles its errors.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, ok := newConn(accepted, l)
		if !ok {
			return accepted, nil
		}
		l.mu.Lock()
		l.conns[c] = struct{}{}
		l.mu.Unlock()
		l.open.Add(1)
		go c.serve()
	}
}

// leave removes a connection, so that it is no longer scanned. It is called once.
func (l *Listener) leave(c *conn) {
	l.mu.Lock()
	delete(l.conns, c)
	l.mu.Unlock()
	c.cancel()
}

// Run scans all connections periodically until ctx ends.
func (l *Listener) Run(ctx context.Context) {
	ticker := time.NewTicker(scanInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.scan()
		}
	}
}

func (l *Listener) scan() {
	for _, c := range l.abandoned() {
		c.cancel()
	}
}

// abandoned scans all connections once, and returns those whose client no longer waits for a
// response.
func (l *Listener) abandoned() (list []*conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tick := l.tick.Add(1)
	for c := range l.conns {
		if c.scan(tick) {
			list = append(list, c)
		}
	}
	return list
}

// Drain closes connections as soon as they have nothing in flight, and waits for that.
// If ctx ends first, it closes the others. Close the listener before.
func (l *Listener) Drain(ctx context.Context) error {
	l.stopping.Store(true)
	l.scan()
	empty := make(chan struct{})
	go func() { l.open.Wait(); close(empty) }()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		l.CloseAll()
		return ctx.Err()
	}
}

// CloseAll closes all connections.
func (l *Listener) CloseAll() {
	l.mu.Lock()
	all := slices.Collect(maps.Keys(l.conns))
	l.mu.Unlock()
	for _, c := range all {
		c.cancel()
		_ = c.Conn.Close() // its goroutine notices and closes the accepted one
	}
}

// datedSecond is a second in the format of the Date header.
type datedSecond struct {
	unix int64
	text string
}

func (l *Listener) date() string {
	now := time.Now()
	last := l.second.Load()
	if last == nil || last.unix != now.Unix() {
		last = &datedSecond{now.Unix(), now.UTC().Format(http.TimeFormat)}
		l.second.Store(last)
	}
	return last.text
}
