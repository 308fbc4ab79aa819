package httpserver

import (
	"net"
	"sync"
)

// limitListener accepts at most n connections at a time. A flood of them waits in the
// kernel's queue and costs no memory here.
func limitListener(ln net.Listener, n int) *limited {
	return &limited{Listener: ln, slots: make(chan struct{}, n), shares: new(shares), closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	slots  chan struct{}
	shares *shares
	once   sync.Once
	closed chan struct{}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			<-l.slots
			return nil, err
		}
		if giveBack, ok := l.shares.take(accepted.RemoteAddr()); ok {
			return &conn{Conn: accepted, door: l, free: sync.OnceFunc(func() { giveBack(); <-l.slots })}, nil
		}
		_ = accepted.Close() // the peer may be gone already
	}
}

// crowded reports whether so many connections are open that none should be kept alive: a
// million devices that send one request a minute cannot all keep theirs.
func (l *limited) crowded() bool { return len(l.slots) > cap(l.slots)/2 }

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}
