package simulate

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Meter counts the outcomes of heartbeats. It is safe for concurrent use.
type Meter struct {
	taken, repeated, failed atomic.Int64
	times                   [64 * steps]atomic.Int64
	last                    atomic.Pointer[string]
}

// steps is the resolution of times: each bucket is at most an eighth longer than the
// one before.
const steps = 8

// Reading is a snapshot of a meter.
type Reading struct {
	Taken    int64  // heartbeats that the server has accepted
	Repeated int64  // responses that asked to retry later
	Failed   int64  // heartbeats that were given up
	Trouble  string // the last failure, or empty

	times [64 * steps]int64
}

// Read returns a snapshot.
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

// Since returns what happened between two readings.
func (r Reading) Since(earlier Reading) Reading {
	r.Taken -= earlier.Taken
	r.Repeated -= earlier.Repeated
	r.Failed -= earlier.Failed
	for i := range r.times {
		r.times[i] -= earlier.times[i]
	}
	return r
}

// Quantile returns the time within which the given fraction of responses arrived.
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

// bucketOf returns the bucket of a duration: the power of two of the microseconds,
// and the three bits that follow.
func bucketOf(d time.Duration) int {
	us := uint64(max(d.Microseconds(), steps))
	power := bits.Len64(us) - 1
	return power*steps + int(us>>(power-3)&(steps-1))
}

// upTo returns the longest duration in a bucket.
func upTo(bucket int) time.Duration {
	power, part := bucket/steps, bucket%steps
	return time.Duration((steps+part+1)<<power/steps) * time.Microsecond
}
