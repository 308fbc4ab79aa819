//go:build linux

package rig

import (
	"bytes"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy stands between a server and its database.
type Proxy struct {
	listener net.Listener
	database string // host and port

	mu     sync.Mutex
	loses  float64 // the share of answers to COMMIT that are lost, with their connections
	mode   Mode
	change chan struct{} // closed when the mode changes
	conns  map[net.Conn]bool
}

// Mode is what a proxy does with what it is given.
type Mode int

const (
	Healed Mode = iota
	Cut         // connections end, and none can be made
	Silent      // everything is accepted, nothing arrives
)

// ThroughProxy answers the URL of the same database behind a proxy.
func ThroughProxy(t *testing.T, db string) (*Proxy, string) {
	t.Helper()
	address, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, database: address.Host, change: make(chan struct{}), conns: map[net.Conn]bool{}}
	address.Host = listener.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() { p.serve(&serving) })
	t.Cleanup(func() {
		listener.Close()
		p.Set(Cut)
		serving.Wait()
	})
	return p, address.String()
}

// Set changes what happens from now on, also to what is under way.
func (p *Proxy) Set(m Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
	close(p.change)
	p.change = make(chan struct{})
	if m == Cut {
		p.closeAll()
	}
}

// CutOnce ends all connections; new ones can be made at once.
func (p *Proxy) CutOnce() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeAll()
}

func (p *Proxy) closeAll() {
	for conn := range p.conns {
		conn.Close()
	}
	clear(p.conns)
}

func (p *Proxy) serve(serving *sync.WaitGroup) {
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

func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		if p.mode == Cut {
			conn.Close()
		} else {
			p.conns[conn] = true
		}
	}
	return p.mode != Cut
}

func (p *Proxy) pass(from, to net.Conn) {
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

// LoseCommits lets some transactions be committed without anyone hearing of it.
func (p *Proxy) LoseCommits(share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loses = share
}

func (p *Proxy) losesCommit(data []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Contains(data, []byte("COMMIT\x00")) && rand.Float64() < p.loses
}

// letThrough waits while the proxy is silent. Bytes that were held back are
// lost with their connection if it is cut before it heals.
func (p *Proxy) letThrough() bool {
	for {
		p.mu.Lock()
		mode, change := p.mode, p.change
		p.mu.Unlock()
		if mode != Silent {
			return mode == Healed
		}
		<-change
	}
}

// Busy reports whether anyone is connected.
func (p *Proxy) Busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns) > 0
}
