package fastpath

import "time"

// scanInterval is how often the reaper scans the connections. Limits are counted in
// scans; one more or less does not matter.
const scanInterval = 250 * time.Millisecond

const (
	// wholeWithin is the time limit for a request whose first bytes have arrived, and
	// for the first request on a connection. Slower ones are handed over to net/http.
	wholeWithin = uint64(500 * time.Millisecond / scanInterval)

	// seenAfter is when to start checking whether the client is still connected. Most
	// responses are long sent by then.
	seenAfter = uint64(500 * time.Millisecond / scanInterval)
)

// MaxRead is the longest that the fast path waits for the rest of a request before it
// hands the connection over.
const MaxRead = time.Duration(wholeWithin+2) * scanInterval // up to one scan before, and one after

// phase is what a connection is doing, and since which tick. It is a single number, so
// that the reaper can read it at any time and change it only if nothing happened
// meanwhile.
type phase uint64

const (
	idle    = phase(iota) // waiting for a request
	reading               // has read part of a request
	busy                  // being served
	kinds   = phase(3)

	late      = phase(4)  // the response took too long; writes fail
	ownLimit  = phase(8)  // the handler sets its own write deadline
	withInput = phase(16) // the context ends when the client has closed its sending side
	phaseBits = 5
)

func (p phase) kind() phase   { return p & kinds }
func (p phase) since() uint64 { return uint64(p >> phaseBits) }

// enter sets the current phase and returns the previous one.
func (c *conn) enter(kind phase) (before phase) {
	return phase(c.state.Swap(c.ln.tick.Load()<<phaseBits | uint64(kind)))
}

// isOver reports whether a connection has waited for too long.
func (l *Listener) isOver(p phase) bool {
	waited := l.tick.Load() - p.since()
	switch p.kind() {
	case idle:
		return waited > uint64(l.cfg.Idle/scanInterval) || l.stopping.Load()
	case reading:
		return waited > wholeWithin
	default:
		return false
	}
}

// scan is called by the reaper, which holds the listener's lock: nothing in it waits. It
// reports whether the client no longer waits for the response.
func (c *conn) scan(tick uint64) (abandoned bool) {
	p := phase(c.state.Load())
	if c.ln.isOver(p) {
		_ = c.Conn.SetReadDeadline(past) // unblocks the reader; a closed connection needs none
	}
	if p.kind() != busy {
		return false
	}
	if tick-p.since() > seenAfter {
		ended, broken := c.peek()
		abandoned = broken || ended && p&withInput != 0
	}
	if tick-p.since() > uint64(c.ln.cfg.Write/scanInterval) && p&(late|ownLimit) == 0 && c.state.CompareAndSwap(uint64(p), uint64(p|late)) {
		_ = c.Conn.SetWriteDeadline(past)
	}
	return abandoned
}

// limitWrites sets a write deadline on behalf of the handler.
func (c *conn) limitWrites(until time.Time) error {
	c.state.Or(uint64(ownLimit))
	c.ln.mu.Lock() // excludes the reaper
	defer c.ln.mu.Unlock()
	return c.Conn.SetWriteDeadline(until)
}

// lift removes the write deadline after a response.
func (c *conn) lift(was phase) {
	if was&(late|ownLimit) == 0 {
		return
	}
	c.ln.mu.Lock() // excludes the reaper
	defer c.ln.mu.Unlock()
	_ = c.Conn.SetWriteDeadline(time.Time{}) // if it fails, so does the next write
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)
