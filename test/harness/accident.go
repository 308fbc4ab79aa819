//go:build linux

package harness

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
)

// End is how a connection ends.
type End int

// The ways to end: in order, with a reset, or not at all: it stays open, and
// nothing passes any more.
const (
	Close End = iota
	Reset
	Hang
)

func (e End) String() string { return [...]string{"closed", "reset", "hanging"}[e] }

func (e End) end(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok && e == Reset {
		_ = tcp.SetLinger(0) // unsent data is thrown away, and the other side told so
	}
	if e != Hang {
		conn.Close()
	}
}

// Accident is what becomes of a connection in the middle of a COMMIT. Close and
// Reset take all other connections along, Hang hits this one alone.
type Accident struct {
	How   End
	Heard bool // by the database: then its reply is lost, else the COMMIT itself

	after    int    // so many more commits
	carries  []byte // that carry this; nil: any
	happened chan struct{}
}

// AtCommit arranges for an accident at the n-th COMMIT from now on, of whatever
// transaction. The channel is closed once it has happened.
func (p *Proxy) AtCommit(n int, a Accident) (happened <-chan struct{}) { return p.arrange(n, nil, a) }

// AtCommitOf arranges for an accident at the first COMMIT of a transaction in which
// a text was one of a statement's parameters: no other COMMIT meets it.
func (p *Proxy) AtCommitOf(text string, a Accident) (happened <-chan struct{}) {
	return p.arrange(1, parameter(text), a)
}

// SilentAt makes the proxy silent as soon as a text is a statement's parameter, before the
// database hears of that statement. The channel is closed then; Set ends it.
func (p *Proxy) SilentAt(text string) (happened <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silentAt, p.fell = parameter(text), make(chan struct{})
	return p.fell
}

// hears tells the proxy of a message before it passes.
func (p *Proxy) hears(message []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silentAt == nil || !bytes.Contains(message, p.silentAt) {
		return
	}
	p.mode, p.silentAt = Silent, nil
	p.changed()
	close(p.fell)
}

// parameter is a text as it stands in a bind message.
func parameter(text string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

func (p *Proxy) arrange(n int, carries []byte, a Accident) (happened <-chan struct{}) {
	a.after, a.carries, a.happened = n, carries, make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accident = &a
	return a.happened
}

// commits tells the proxy of a COMMIT and of what its transaction was given, and
// returns the accident that it meets.
func (p *Proxy) commits(bound []byte) *Accident {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.accident == nil || !bytes.Contains(bound, p.accident.carries) {
		return nil
	}
	p.accident.after--
	if p.accident.after > 0 {
		return nil
	}
	met := p.accident
	p.accident = nil
	return met
}

// passRequests passes on what a client sends, message by message.
func (p *Proxy) passRequests(l *link) {
	defer p.forget(l)
	in := requests{from: bufio.NewReaderSize(l.client, 64<<10), texts: map[string]string{}}
	out := bufio.NewWriterSize(l.database, 64<<10)
	for {
		message, err := in.next()
		if err == nil {
			p.hears(message)
		}
		if err != nil || !p.letThrough() {
			return
		}
		if in.runs(message) == "COMMIT" {
			if accident := p.commits(in.bound); accident != nil {
				p.meet(accident, l, message, &in, out)
				return
			}
		}
		if _, err := out.Write(message); err != nil {
			return
		}
		if in.from.Buffered() == 0 && out.Flush() != nil {
			return
		}
	}
}

// meet lets an accident happen to the connection on which a COMMIT was begun.
func (p *Proxy) meet(a *Accident, l *link, message []byte, in *requests, out *bufio.Writer) {
	l.deaf.Store(true)
	if a.Heard {
		_, _ = out.Write(message)
		if message[0] == bindMessage {
			_ = in.copySeries(out)
		}
		_ = out.Flush()
		<-l.lost
	}
	close(a.happened) // before anyone can notice
	if a.How == Hang {
		_, _ = io.Copy(io.Discard, l.client) // until it gives up
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endAll(a.How)
}

// The types of messages that matter here.
const (
	queryMessage = 'Q'
	parseMessage = 'P'
	bindMessage  = 'B'
	syncMessage  = 'S' // the end of a series: it is to be answered
)

// requests reads the messages of PostgreSQL's protocol that a client sends.
type requests struct {
	from  *bufio.Reader
	begun bool              // the first message was read: it has no type
	texts map[string]string // of prepared statements, by name
	bound []byte            // what the statements of the transaction were given
}

// next is the next message, as it stands on the wire.
func (r *requests) next() ([]byte, error) {
	head := 5
	if !r.begun {
		head, r.begun = 4, true
	}
	start, err := r.from.Peek(head)
	if err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint32(start[head-4:]))
	message := make([]byte, size+head-4)
	_, err = io.ReadFull(r.from, message)
	return message, err
}

// copySeries copies the messages that come with one, up to that which asks for
// the answer.
func (r *requests) copySeries(to io.Writer) error {
	for {
		message, err := r.next()
		if err == nil {
			_, err = to.Write(message)
		}
		if err != nil || message[0] == syncMessage {
			return err
		}
	}
}

// runs returns the text of the statement that a message runs, if it runs one. It
// also collects what the statements of a transaction are given.
func (r *requests) runs(message []byte) (text string) {
	body := message[min(len(message), 5):]
	first, rest, _ := bytes.Cut(body, []byte{0})
	second, _, _ := bytes.Cut(rest, []byte{0})
	switch message[0] {
	case queryMessage: // its text
		text = string(first)
	case parseMessage: // the name of a statement, and its text
		r.texts[string(first)] = string(second)
	case bindMessage: // the name of a portal, and of its statement
		text = r.texts[string(second)]
		r.bound = append(r.bound, body...)
	}
	if text == "BEGIN" {
		r.bound = nil
	}
	return text
}
