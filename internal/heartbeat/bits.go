package heartbeat

import "math/bits"

// dayBits has a bit for each minute of a day, and room for a few more: a beat at 23:59
// also serves the first minutes of the next day.
type dayBits [23]uint64

const (
	// spread is how many minutes after its own a beat serves (decision N16).
	spread = 3
	// beatBits are the minutes that a beat serves.
	beatBits = 1<<(spread+1) - 1

	carryBits = 1<<spread - 1
	hourBits  = 1<<60 - 1
)

// from returns 64 bits starting at a minute.
func (d *dayBits) from(minute int) uint64 {
	word, shift := minute/64, minute%64
	out := d[word] >> shift
	if shift > 0 && word+1 < len(d) {
		out |= d[word+1] << (64 - shift)
	}
	return out
}

// add sets those of 64 bits, starting at a minute, that are in the day or in the room
// after it.
func (d *dayBits) add(minute int, set uint64) {
	word, shift := minute/64, minute%64
	d[word] |= set << shift
	if shift > 0 && word+1 < len(d) {
		d[word+1] |= set >> (64 - shift)
	}
}

func (d *dayBits) join(other *dayBits) {
	for i := range d {
		d[i] |= other[i]
	}
}

// setRange sets the minutes from..to, to excluded.
func (d *dayBits) setRange(from, to int) {
	for i := from / 64; i < len(d) && i*64 < to; i++ {
		d[i] |= rangeWord(i, from, to)
	}
}

// keepRange clears all but the minutes from..to, to excluded.
func (d *dayBits) keepRange(from, to int) {
	for i := range d {
		d[i] &= rangeWord(i, from, to)
	}
}

// after returns the minutes after one.
func (d *dayBits) after(minute int) dayBits {
	rest := *d
	rest.keepRange(minute+1, len(d)*64)
	return rest
}

// rangeWord returns word i of a day in which only from..to is set, to excluded.
func rangeWord(i, from, to int) uint64 {
	from, to = max(from-i*64, 0), min(to-i*64, 64)
	if from >= to {
		return 0
	}
	return ^uint64(0) >> (64 - (to - from)) << from
}

func (d *dayBits) count() (n int) {
	for _, word := range d {
		n += bits.OnesCount64(word)
	}
	return n
}
