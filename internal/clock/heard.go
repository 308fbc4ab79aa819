package clock

import (
	"math"
	"sync/atomic"
	"time"
)

// freshness is how long ago the database may last have been read for memory to count as in
// step with it (decision N23).
const freshness = 2 * time.Second

// Heard is when the database was last heard of: one part of a process follows it, and
// others ask how old that is what memory has. The zero value has heard nothing yet. It is
// safe for concurrent use.
type Heard struct{ last atomic.Pointer[time.Time] }

// Set records that memory has everything that was in the database at a moment of the
// machine's clock.
func (h *Heard) Set(at time.Time) { h.last.Store(&at) }

// Age returns how long ago memory last had everything in the database.
func (h *Heard) Age() time.Duration {
	last := h.last.Load()
	if last == nil {
		return math.MaxInt64 // never yet
	}
	return time.Since(*last)
}

// InStep reports whether memory had everything in the database at some moment within the
// last freshness.
func (h *Heard) InStep() bool { return h.Age() <= freshness }
