package postgres_test

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy stands between the store and the server, and fails on demand.
type proxy struct {
	listener net.Listener
	server   string

	mu      sync.Mutex
	down    bool
	cutAt   []byte        // of the server's answers: what is never let through
	stalled chan struct{} // not nil while nothing passes; closed to go on
	conns   map[net.Conn]bool

	canceled atomic.Int64 // statements, at the wish of a client
}

// cancelRequest is how a connection begins that asks for the cancellation of a
// statement on another.
var cancelRequest = []byte{0x04, 0xd2, 0x16, 0x2e}

// throughProxy answers the URL of the same database behind a proxy.
func throughProxy(t *testing.T, database string) (*proxy, string) {
	t.Helper()
	address, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: address.Host, conns: map[net.Conn]bool{}}
	settings := address.Query()
	settings.Del("connect_timeout") // these tests are about what a server waits for
	address.Host, address.RawQuery = listener.Addr().String(), settings.Encode()
	var served sync.WaitGroup
	served.Go(func() { p.serve(&served) })
	t.Cleanup(func() {
		listener.Close()
		p.goOn()
		p.setDown(true)
		served.Wait()
	})
	return p, address.String()
}

func (p *proxy) serve(served *sync.WaitGroup) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil || !p.keep(client, server) {
			client.Close()
			continue
		}
		served.Go(func() { p.pass(client, server, false) })
		served.Go(func() { p.pass(server, client, true) })
	}
}

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		if p.down {
			conn.Close()
		} else {
			p.conns[conn] = true
		}
	}
	return !p.down
}

func (p *proxy) pass(from, to net.Conn, answers bool) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || !p.permits(buffer[:n], answers) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// permits waits while the proxy is stalled, and says no to what is to be cut.
func (p *proxy) permits(data []byte, answer bool) bool {
	if !answer && len(data) >= 8 && bytes.Equal(data[4:8], cancelRequest) {
		p.canceled.Add(1)
	}
	p.mu.Lock()
	stalled := p.stalled
	cut := answer && p.cutAt != nil && bytes.Contains(data, p.cutAt)
	if cut {
		p.cutAt = nil // once
	}
	p.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
	return !cut
}

// loseAnswer cuts the connection at the next answer that holds the text.
func (p *proxy) loseAnswer(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutAt = []byte(text)
}

func (p *proxy) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	if down {
		for conn := range p.conns {
			conn.Close()
		}
		clear(p.conns)
	}
}

func (p *proxy) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = make(chan struct{})
}

func (p *proxy) goOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled != nil {
		close(p.stalled)
		p.stalled = nil
	}
}
