package simulate

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Meter counts what happens to heartbeats. It is safe for concurrent use.
type Meter struct {
	taken, repeated, failed atomic.Int64
	times                   [64 * steps]atomic.Int64
	last                    atomic.Pointer[string]
}

// steps is how finely times are told apart: each is at most an eighth longer
// than the one before.
const steps = 8

// Reading is what a meter shows.
type Reading struct {
	Taken    int64  // beats that the server has taken
	Repeated int64  // answers that asked for patience
	Failed   int64  // beats that were given up
	Trouble  string // what the last failure was, or nothing

	times [64 * steps]int64
}

// Read takes a reading.
func (m *Meter) Read() Reading {
	r := Reading{Taken: m.taken.Load(), Repeated: m.repeated.Load(), Failed: m.failed.Load()}
	for i := range m.times {
		r.times[i] = m.times[i].Load()
	}
	if last := m.last.Load(); last != nil {
		r.Trouble = *last
	}
	return r
}

// Since is what happened between two readings.
func (r Reading) Since(earlier Reading) Reading {
	r.Taken -= earlier.Taken
	r.Repeated -= earlier.Repeated
	r.Failed -= earlier.Failed
	for i := range r.times {
		r.times[i] -= earlier.times[i]
	}
	return r
}

// Quantile is how long the given share of answers took at the most.
func (r Reading) Quantile(share float64) time.Duration {
	var total int64
	for _, n := range r.times {
		total += n
	}
	left := int64(share * float64(total))
	for i, n := range r.times {
		if left -= n; left < 0 {
			return upTo(i)
		}
	}
	return 0
}

func (m *Meter) took(d time.Duration) {
	m.taken.Add(1)
	m.times[bucketOf(d)].Add(1)
}

func (m *Meter) trouble(what string) { m.last.Store(&what) }

// bucketOf gives the number of the bucket: the power of two of the microseconds,
// and the three bits that follow.
func bucketOf(d time.Duration) int {
	us := uint64(max(d.Microseconds(), steps))
	power := bits.Len64(us) - 1
	return power*steps + int(us>>(power-3)&(steps-1))
}

// upTo is the longest time of a bucket.
func upTo(bucket int) time.Duration {
	power, part := bucket/steps, bucket%steps
	return time.Duration((steps+part+1)<<power/steps) * time.Microsecond
}
