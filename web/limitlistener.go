package web

import (
	"net"
	"sync"
)

// limitListener accepts at most n connections at a time: a flood of them then
// waits in the kernel's queue and costs no memory here.
func limitListener(ln net.Listener, n int) net.Listener {
	return &limited{Listener: ln, slots: make(chan struct{}, n), closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	slots  chan struct{}
	once   sync.Once
	closed chan struct{}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	accepted, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &conn{Conn: accepted, door: l, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

// crowded reports whether so many connections are open that none should be kept
// for a later request: a million devices that ask once a minute cannot all keep
// theirs.
func (l *limited) crowded() bool { return len(l.slots) > cap(l.slots)/2 }

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}
