package httpserver

import "time"

// lookInterval is how often the reaper scans the connections on the fast path. The limits
// below are counted in such intervals; one more or less does not matter.
const lookInterval = 250 * time.Millisecond

const (
	// wholeWithin is the time limit for a request whose first bytes have arrived, and
	// for the first request on a connection. Slower ones are handed over to net/http.
	wholeWithin = uint64(500 * time.Millisecond / lookInterval)

	// seenAfter is when to start checking whether the client is still connected. Most
	// responses are long sent by then.
	seenAfter = uint64(500 * time.Millisecond / lookInterval)

	idleWithin    = uint64(idleTimeout / lookInterval)
	writtenWithin = uint64(writeTimeout / lookInterval)
)

// phase is what a connection is doing, and since which tick. It is a single number, so
// that the reaper can read it at any time and change it only if nothing happened
// meanwhile.
type phase uint64

const (
	idle    = phase(iota) // waiting for a request
	reading               // has read part of a request
	busy                  // being served
	kinds   = phase(3)

	late      = phase(4) // the response took too long; writes fail
	ownLimit  = phase(8) // the handler sets its own write deadline
	phaseBits = 4
)

func (p phase) kind() phase   { return p & kinds }
func (p phase) since() uint64 { return uint64(p >> phaseBits) }

// enter sets the current phase and returns the previous one.
func (c *fastConn) enter(kind phase) (before phase) {
	return phase(c.state.Swap(c.lane.tick.Load()<<phaseBits | uint64(kind)))
}

// isOver reports whether a connection has waited for too long.
func (l *fastPath) isOver(p phase) bool {
	waited := l.tick.Load() - p.since()
	switch p.kind() {
	case idle:
		return waited > idleWithin || l.stopping.Load()
	case reading:
		return waited > wholeWithin
	default:
		return false
	}
}

// look is called by the reaper, which holds the fast path's lock.
func (c *fastConn) look(tick uint64) {
	p := phase(c.state.Load())
	if c.lane.isOver(p) {
		_ = c.Conn.SetReadDeadline(past) // unblocks the reader; a closed connection needs none
	}
	if p.kind() != busy {
		return
	}
	if tick-p.since() > seenAfter && c.gone() {
		c.cancel()
	}
	if tick-p.since() > writtenWithin && p&(late|ownLimit) == 0 && c.state.CompareAndSwap(uint64(p), uint64(p|late)) {
		_ = c.Conn.SetWriteDeadline(past)
	}
}

// limitWrites sets a write deadline on behalf of the handler.
func (c *fastConn) limitWrites(until time.Time) error {
	c.state.Or(uint64(ownLimit))
	c.lane.mu.Lock() // excludes the reaper
	defer c.lane.mu.Unlock()
	return c.Conn.SetWriteDeadline(until)
}

// lift removes the write deadline after a response.
func (c *fastConn) lift(was phase) {
	if was&(late|ownLimit) == 0 {
		return
	}
	c.lane.mu.Lock() // excludes the reaper
	defer c.lane.mu.Unlock()
	_ = c.Conn.SetWriteDeadline(time.Time{}) // if it fails, so does the next write
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)
