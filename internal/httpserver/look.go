package httpserver

import "time"

// lookInterval is how often the clerk looks at the connections in the lane. The
// limits below are counted in such intervals: one more or less is all the same.
const lookInterval = 250 * time.Millisecond

const (
	// wholeWithin is for a request whose first bytes are there, and for the first
	// on a connection: whoever takes longer is left to net/http's patience.
	wholeWithin = uint64(500 * time.Millisecond / lookInterval)

	// seenAfter is when it is worth asking whether the client is still there. Most
	// answers have long been sent then.
	seenAfter = uint64(500 * time.Millisecond / lookInterval)

	idleWithin    = uint64(idleTimeout / lookInterval)
	writtenWithin = uint64(writeTimeout / lookInterval)
)

// phase is what a connection is doing, and since which look. It is one number, so
// that the clerk can read it at any time and change it only if nothing happened
// meanwhile.
type phase uint64

const (
	idle    = phase(iota) // waits for a request
	reading               // has some of a request
	busy                  // is being answered
	kinds   = phase(3)

	late      = phase(4) // the answer took too long, and writing fails
	ownLimit  = phase(8) // the handler looks after that itself
	phaseBits = 4
)

func (p phase) kind() phase   { return p & kinds }
func (p phase) since() uint64 { return uint64(p >> phaseBits) }

// enter notes what the connection does from now on, and gives what it did.
func (c *client) enter(kind phase) (before phase) {
	return phase(c.state.Swap(c.lane.tick.Load()<<phaseBits | uint64(kind)))
}

// isOver reports whether a connection has waited long enough.
func (l *lane) isOver(p phase) bool {
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

// look is the clerk's, who holds the lane's lock.
func (c *client) look(tick uint64) {
	p := phase(c.state.Load())
	if c.lane.isOver(p) {
		_ = c.Conn.SetReadDeadline(past) // wakes the reader; a connection that is closed needs no waking
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

// limitWrites lets a handler say until when its answer must be written.
func (c *client) limitWrites(until time.Time) error {
	c.state.Or(uint64(ownLimit))
	c.lane.mu.Lock() // the clerk may be about to say something else
	defer c.lane.mu.Unlock()
	return c.Conn.SetWriteDeadline(until)
}

// lift takes back the limits of an answer that is done.
func (c *client) lift(was phase) {
	if was&(late|ownLimit) == 0 {
		return
	}
	c.lane.mu.Lock() // the clerk may be just about to set one
	defer c.lane.mu.Unlock()
	_ = c.Conn.SetWriteDeadline(time.Time{}) // if it fails, so does the next write
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)
