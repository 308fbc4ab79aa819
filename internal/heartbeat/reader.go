package heartbeat

import (
	"encoding/binary"
	"math"
)

// reader decodes numbers from bytes that may be damaged. After its first failure it
// returns zeros, so callers check failed once, at the end.
type reader struct {
	data   []byte
	at     int
	failed bool
}

// more reports whether any bytes are left.
func (r *reader) more() bool { return r.at < len(r.data) }

func (r *reader) number() uint64 {
	if r.at < len(r.data) && r.data[r.at] < 0x80 { // most are short
		r.at++
		return uint64(r.data[r.at-1])
	}
	return r.longNumber()
}

func (r *reader) longNumber() (v uint64) {
	at := r.at
	for shift := uint(0); shift < 64 && at < len(r.data); shift += 7 {
		c := r.data[at]
		at++
		if c < 0x80 {
			// Each number has one encoding, so that equal values have equal bytes.
			if c == 0 || shift == 63 && c > 1 {
				break
			}
			r.at = at
			return v | uint64(c)<<shift
		}
		v |= uint64(c&0x7f) << shift
	}
	r.fail()
	return 0
}

// upTo reads a number that must not be above limit.
func (r *reader) upTo(limit uint64) uint64 {
	v := r.number()
	if v > limit {
		r.fail()
		return 0
	}
	return v
}

func (r *reader) signed() int64 {
	u := r.number()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *reader) float() float32 { return math.Float32frombits(r.uint32()) }

func (r *reader) byte() byte {
	if !r.has(1) {
		return 0
	}
	return r.data[r.at-1]
}

func (r *reader) uint32() uint32 {
	if !r.has(4) {
		return 0
	}
	return binary.LittleEndian.Uint32(r.data[r.at-4:])
}

func (r *reader) uint64() uint64 {
	if !r.has(8) {
		return 0
	}
	return binary.LittleEndian.Uint64(r.data[r.at-8:])
}

// has consumes the next n bytes and reports whether they were there.
func (r *reader) has(n int) bool {
	if len(r.data)-r.at < n {
		r.fail()
		return false
	}
	r.at += n
	return true
}

func (r *reader) fail() { r.at, r.failed = len(r.data), true }
