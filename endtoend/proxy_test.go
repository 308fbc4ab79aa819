//go:build linux

package endtoend_test

import (
	"bytes"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"testing"
)

// proxy stands between a server and its database.
type proxy struct {
	listener net.Listener
	database string // host and port

	mu     sync.Mutex
	loses  float64 // the share of answers to COMMIT that are lost, with their connections
	mode   mode
	change chan struct{} // closed when the mode changes
	conns  map[net.Conn]bool
}

// mode is what a proxy does with what it is given.
type mode int

const (
	healed mode = iota
	cut         // connections end, and none can be made
	silent      // everything is accepted, nothing arrives
)

// throughProxy answers the URL of the same database behind a proxy.
func throughProxy(t *testing.T, db string) (*proxy, string) {
	t.Helper()
	address, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, database: address.Host, change: make(chan struct{}), conns: map[net.Conn]bool{}}
	address.Host = listener.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() { p.serve(&serving) })
	t.Cleanup(func() {
		listener.Close()
		p.set(cut)
		serving.Wait()
	})
	return p, address.String()
}

// set changes what happens from now on, also to what is under way.
func (p *proxy) set(m mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
	close(p.change)
	p.change = make(chan struct{})
	if m == cut {
		p.closeAll()
	}
}

// cutOnce ends all connections; new ones can be made at once.
func (p *proxy) cutOnce() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeAll()
}

func (p *proxy) closeAll() {
	for conn := range p.conns {
		conn.Close()
	}
	clear(p.conns)
}

func (p *proxy) serve(serving *sync.WaitGroup) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		database, err := net.Dial("tcp", p.database)
		if err != nil {
			client.Close()
			continue
		}
		if !p.keep(client, database) {
			continue
		}
		serving.Go(func() { p.pass(client, database) })
		serving.Go(func() { p.pass(database, client) })
	}
}

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		if p.mode == cut {
			conn.Close()
		} else {
			p.conns[conn] = true
		}
	}
	return p.mode != cut
}

func (p *proxy) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || !p.letThrough() || p.losesCommit(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// loseCommits lets some transactions be committed without anyone hearing of it.
func (p *proxy) loseCommits(share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loses = share
}

func (p *proxy) losesCommit(data []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Contains(data, []byte("COMMIT\x00")) && rand.Float64() < p.loses
}

// letThrough waits while the proxy is silent. Bytes that were held back are
// lost with their connection if it is cut before it heals.
func (p *proxy) letThrough() bool {
	for {
		p.mu.Lock()
		mode, change := p.mode, p.change
		p.mu.Unlock()
		if mode != silent {
			return mode == healed
		}
		<-change
	}
}
