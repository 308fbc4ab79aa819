package heartbeat

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/beacon-wifi/beacon/internal/beacon"
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

func (r *reader) longNumber() uint64 {
	v, n := binary.Uvarint(r.data[r.at:])
	// Each number has one encoding, so that equal values have equal bytes.
	if n <= 0 || r.data[r.at+n-1] == 0 {
		r.fail()
		return 0
	}
	r.at += n
	return v
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

// appendSparse encodes up to 64 numbers of which many are zero: a mask of the others,
// and their values.
func appendSparse[T uint16 | uint64](out []byte, values []T) []byte {
	var set uint64
	for i, v := range values {
		if v != 0 {
			set |= 1 << i
		}
	}
	out = binary.AppendUvarint(out, set)
	for ; set != 0; set &= set - 1 {
		out = binary.AppendUvarint(out, uint64(values[bits.TrailingZeros64(set)]))
	}
	return out
}

func readSparse[T uint16 | uint64](in *reader, values []T, limit uint64) {
	for set := in.upTo(1<<len(values) - 1); set != 0; set &= set - 1 {
		v := in.upTo(limit)
		if v == 0 {
			in.fail()
			return
		}
		values[bits.TrailingZeros64(set)] = T(v)
	}
}

func appendSamples(out []byte, steps *[signalSteps]samples) []byte {
	var flat [signalSteps * len(samples{})]uint16
	for i, s := range steps {
		copy(flat[i*len(s):], s[:])
	}
	return appendSparse(out, flat[:])
}

func readSamples(in *reader, steps *[signalSteps]samples) {
	var flat [signalSteps * len(samples{})]uint16
	readSparse(in, flat[:], most)
	for i := range steps {
		copy(steps[i][:], flat[i*len(steps[i]):])
	}
}

// appendTiers encodes runs, a byte each: a tier and for how many hours it held.
func appendTiers(out []byte, tiers []beacon.Tier) []byte {
	for len(tiers) > 0 {
		n := 1
		for n < len(tiers) && tiers[n] == tiers[0] {
			n++
		}
		out = append(out, byte(tiers[0])<<5|byte(n))
		tiers = tiers[n:]
	}
	return out
}

func readTiers(in *reader, tiers []beacon.Tier) {
	for len(tiers) > 0 {
		run := in.byte()
		tier, n := beacon.Tier(run>>5), int(run&31)
		if tier > beacon.Premium || n == 0 || n > len(tiers) {
			in.fail()
			return
		}
		for i := range n {
			tiers[i] = tier
		}
		tiers = tiers[n:]
	}
}

// appendPast encodes runs of equal days.
func appendPast(out []byte, past *[pastDays]sum) []byte {
	for days := past[:]; len(days) > 0; {
		n := 1
		for n < len(days) && days[n] == days[0] {
			n++
		}
		out = append(out, byte(n))
		out = binary.AppendUvarint(out, uint64(days[0].expected))
		if days[0].expected > 0 {
			out = binary.AppendUvarint(out, uint64(days[0].expected-days[0].served))
		}
		days = days[n:]
	}
	return out
}

func readPast(in *reader, past *[pastDays]sum) {
	for days := past[:]; len(days) > 0; {
		n := int(in.upTo(uint64(len(days))))
		var s sum
		s.expected = uint16(in.upTo(beacon.MinutesADay))
		if s.expected > 0 {
			s.served = s.expected - uint16(in.upTo(uint64(s.expected)))
		}
		if n == 0 {
			in.fail()
			return
		}
		for i := range n {
			days[i] = s
		}
		days = days[n:]
	}
}

// The minutes of a day are encoded as the positions where they change, or in full if
// there are too many of those.
const (
	maxChanges = 80
	inFull     = maxChanges + 1
)

func (d *dayBits) append(out []byte) []byte {
	start := len(out)
	out = append(out, 0)
	changes, at := 0, 0
	carry := uint64(0)
	for i, word := range d {
		for edges := word ^ (word<<1 | carry); edges != 0; edges &= edges - 1 {
			if changes++; changes > maxChanges {
				return d.appendFull(out[:start])
			}
			edge := i*64 + bits.TrailingZeros64(edges)
			out = binary.AppendUvarint(out, uint64(edge-at))
			at = edge
		}
		carry = word >> 63
	}
	out[start] = byte(changes)
	return out
}

func (d *dayBits) appendFull(out []byte) []byte {
	out = append(out, inFull)
	for _, word := range d {
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return out
}

// read decodes the minutes and fails on bits from limit on.
func (d *dayBits) read(in *reader, limit int) {
	*d = dayBits{}
	switch changes := in.upTo(inFull); changes {
	case 0: // the usual case
		return
	case inFull:
		for i := range d {
			d[i] = in.uint64()
		}
	default:
		from, at := -1, 0
		for i := range changes {
			step := int(in.upTo(uint64(len(d)*64 - at)))
			if step == 0 && i > 0 {
				in.fail()
				return
			}
			at += step
			if from < 0 {
				from = at
			} else {
				d.setRange(from, at)
				from = -1
			}
		}
		if from >= 0 {
			d.setRange(from, len(d)*64)
		}
	}
	if d.after(limit-1) != (dayBits{}) {
		in.fail()
	}
}
