//go:build linux

package harness

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy stands between a server and its database.
type Proxy struct {
	listener net.Listener

	mu       sync.Mutex
	database address
	mode     Mode
	latency  time.Duration
	change   chan struct{} // closed when the mode or the latency changes
	conns    map[net.Conn]bool
	accident *Accident     // waits for its COMMIT
	silentAt []byte        // a parameter; nil: none
	fell     chan struct{} // closed when it was met
}

// Mode is what a proxy does with what it is given.
type Mode int

const (
	Healed Mode = iota
	Cut         // connections end, and none can be made
	Silent      // everything is accepted, nothing arrives
)

// address is where a database listens.
type address struct{ network, at string }

// addressOf finds it in the URL of a database.
func addressOf(u *url.URL) address {
	if folder := u.Query().Get("host"); strings.HasPrefix(folder, "/") {
		return address{"unix", filepath.Join(folder, ".s.PGSQL.5432")}
	}
	return address{"tcp", u.Host}
}

func parseURL(t testing.TB, db string) *url.URL {
	t.Helper()
	u, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// ThroughProxy returns the URL of the same database behind a proxy.
func ThroughProxy(t *testing.T, db string) (*Proxy, string) {
	t.Helper()
	u := parseURL(t, db)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, database: addressOf(u), change: make(chan struct{}), conns: map[net.Conn]bool{}}
	settings := u.Query()
	settings.Del("host")
	settings.Del("connect_timeout") // these tests are about what a server waits for
	u.Host, u.RawQuery = listener.Addr().String(), settings.Encode()
	var serving sync.WaitGroup
	serving.Go(func() { p.serve(&serving) })
	t.Cleanup(func() {
		listener.Close()
		p.Set(Cut)
		serving.Wait()
	})
	return p, u.String()
}

// Set changes what happens from now on, also to what is under way.
func (p *Proxy) Set(m Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
	p.changed()
	if m == Cut {
		p.endAll(Close)
	}
}

// Delay lets everything take so much longer, in each direction.
func (p *Proxy) Delay(latency time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.latency = latency
	p.changed()
}

// Move leads to another database from now on. Who is connected to the one before
// is cut off from it.
func (p *Proxy) Move(t testing.TB, db string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.database = addressOf(parseURL(t, db))
	p.endAll(Close)
}

func (p *Proxy) changed() {
	close(p.change)
	p.change = make(chan struct{})
}

// endAll ends all connections; new ones can be made at once.
func (p *Proxy) endAll(how End) {
	for conn := range p.conns {
		how.end(conn)
	}
	clear(p.conns)
}

func (p *Proxy) serve(serving *sync.WaitGroup) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		to := p.database
		p.mu.Unlock()
		database, err := net.Dial(to.network, to.at)
		if err != nil {
			Reset.end(client)
			continue
		}
		if !p.keep(to, client, database) {
			continue
		}
		l := &link{client: client, database: database, lost: make(chan struct{})}
		serving.Go(func() { p.passRequests(l) })
		serving.Go(func() { p.passAnswers(l) })
	}
}

func (p *Proxy) keep(to address, conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	good := p.mode != Cut && to == p.database
	for _, conn := range conns {
		if good {
			p.conns[conn] = true
		} else {
			conn.Close()
		}
	}
	return good
}

// link is a connection of a client, and that to the database which belongs to it.
type link struct {
	client, database net.Conn
	deaf             atomic.Bool   // answers do not reach the client any more
	lost             chan struct{} // closed when the first of them has come, or none will
}

func (p *Proxy) forget(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range []net.Conn{l.client, l.database} {
		conn.Close()
		delete(p.conns, conn)
	}
}

func (p *Proxy) passAnswers(l *link) {
	defer close(l.lost)
	buffer := make([]byte, 64<<10)
	for {
		n, err := l.database.Read(buffer)
		passes := err == nil && p.letThrough()
		if l.deaf.Load() {
			return // the client is left to whoever made it deaf
		}
		if passes {
			_, err = l.client.Write(buffer[:n])
		}
		if !passes || err != nil {
			p.forget(l)
			return
		}
	}
}

// letThrough waits while the proxy is silent, and as long as things take. Bytes
// that were held back are lost with their connection if it is cut before it heals.
func (p *Proxy) letThrough() bool {
	began := time.Now()
	for {
		p.mu.Lock()
		mode, change, wait := p.mode, p.change, p.latency-time.Since(began)
		p.mu.Unlock()
		switch {
		case mode == Cut:
			return false
		case mode == Healed && wait <= 0:
			return true
		case mode == Healed:
			timer := time.NewTimer(wait)
			select {
			case <-change:
			case <-timer.C:
			}
			timer.Stop()
		default:
			<-change
		}
	}
}

// Busy reports whether anyone is connected.
func (p *Proxy) Busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns) > 0
}
