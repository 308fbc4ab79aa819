package httpserver

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
)

// limitListener returns a listener with at most n open connections. Those beyond that wait
// in the kernel's queue and cost no memory here.
func limitListener(ln net.Listener, n int) *limited {
	return &limited{Listener: ln, slots: make(chan struct{}, n), shares: new(shares), closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	slots  chan struct{} // holds an element for each open connection
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
			return &conn{
				Conn: accepted, door: l, free: sync.OnceFunc(func() { giveBack(); <-l.slots }), peer: parsePeer(accepted.RemoteAddr().String()),
			}, nil
		}
		_ = accepted.Close() // the peer may be gone already
	}
}

// crowded reports whether too many connections are open to keep any of them alive: a
// million devices that send one request a minute cannot all keep theirs.
func (l *limited) crowded() bool { return len(l.slots) > cap(l.slots)/2 }

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// shares counts the connections of each address, so that no client can take them all and
// shut out the others. Trusted proxies are exempt: many clients share their address.
// Addresses without a connection are not kept, so the listener's limit bounds the map.
type shares struct {
	most    int // 0 for no limit
	spared  Proxies
	refused *atomic.Int64

	mu   sync.Mutex
	open map[netip.Prefix]int
}

func newShares(most int, spared Proxies, refused *atomic.Int64) *shares {
	return &shares{most: most, spared: spared, refused: refused, open: map[netip.Prefix]int{}}
}

// take counts a connection unless its address has too many. Call giveBack when it is
// closed.
func (s *shares) take(peer net.Addr) (giveBack func(), ok bool) {
	tcp, isTCP := peer.(*net.TCPAddr)
	if s.most == 0 || !isTCP || s.spared.trusts(tcp.AddrPort().Addr()) {
		return func() {}, true
	}
	whose := ratelimit.AddrKey(tcp.AddrPort().Addr())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[whose] >= s.most {
		s.refused.Add(1)
		return nil, false
	}
	s.open[whose]++
	return func() { s.release(whose) }, true
}

func (s *shares) release(whose netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[whose]--; s.open[whose] == 0 {
		delete(s.open, whose)
	}
}
