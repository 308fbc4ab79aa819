package heartbeat

import (
	"math/bits"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// pastDays is how many days before its own a record has the sums of: with its
// own, 30 (decision N16).
const pastDays = 29

// Record is what the beats of one hotspot on one UTC day add up to, together
// with what of the days before is needed to answer every question about now.
// So the newest record of a hotspot is enough to go on from.
//
// Records of one day join: minutes by union, counters and counts by maximum,
// speed tests by the latest of both. Neither the order nor the number of times
// matters.
type Record struct {
	day Day

	// sealed is how many minutes of the day are decided for good. Of those in
	// which nobody was expected to serve, why has the reasons.
	sealed int
	why    reasons

	// early says that the day before was not written for good when this one was.
	early bool

	// fresh says that no day before this one is on disk. It is of memory alone.
	fresh bool

	served  dayBits // by beats, also by those of the evening before
	last    last
	boots   []boot // by id
	tests   []test // the oldest first
	hours   hours
	signals [signalSteps]samples
	tiers   [hoursADay]beacon.Tier // at the end of each hour that is sealed

	before before
	past   [pastDays]sum // past[0] is the day before
}

// hours has the most clients at once in each hour.
type hours [hoursADay]uint16

// before is the part of the day before that is less than 25 hours ago.
type before struct {
	bytes   [hoursADay]uint64
	hours   hours
	signals [signalSteps]samples
}

// sum counts the minutes of a day.
type sum struct{ served, expected uint16 }

// Day is the day that the record is of.
func (r *Record) Day() Day { return r.day }

// Settled reports whether the day is decided to its end.
func (r *Record) Settled() bool { return r.sealed == minutesADay }

// NeedsDayBefore reports whether the day before was not written for good when
// this record was. Whoever restores this one restores that one too.
func (r *Record) NeedsDayBefore() bool { return r.early }

// Served is how many of the minutes that were decided were expected, and served.
func (r *Record) Served() int {
	n := r.served
	n.keepRange(0, r.sealed)
	for i := range n {
		n[i] &^= r.why.word(i)
	}
	return n.count()
}

// Expected is how many of the minutes that were decided were expected.
func (r *Record) Expected() (n int) {
	for i := range r.served {
		n += bits.OnesCount64(rangeWord(i, 0, r.sealed) &^ r.why.word(i))
	}
	return n
}

// Bytes is what was carried on the day.
func (r *Record) Bytes() (total uint64) {
	for i := range r.boots {
		total += r.boots[i].upTo[hoursADay-1] - r.boots[i].base
	}
	return total
}

// Tier is that of the end of the day, or of its last hour that is decided.
func (r *Record) Tier() beacon.Tier {
	if n := r.sealed / 60; n > 0 {
		return r.tiers[n-1]
	}
	return beacon.Standard
}

// carried is what went through in an hour of the day.
func (r *Record) carried(hour int) (bytes uint64) {
	for i := range r.boots {
		bytes += r.boots[i].carried(hour)
	}
	return bytes
}

// add takes a beat of the record's day; fresh says that it is counted for the
// first time.
func (r *Record) add(b *Beat, fresh bool) {
	m := b.minute()
	r.served.add(m.ofDay(), beatBits)
	r.last.join(last{b.At, b.tie(), b.clients()})
	hour := m.hour().ofDay()
	r.hours[hour] = max(r.hours[hour], b.clients())
	if known := r.boot(b.Boot, m, b.Seq); known != nil {
		known.raise(hour, b.Bytes)
	}
	if fresh {
		r.signals[hour/signalHours].add(b.Signal)
	}
	if b.Test.Any() {
		r.addTest(test{m, b.tie(), b.Test})
	}
}

// join takes what another record of the same day knows.
func (r *Record) join(other *Record) {
	r.served.join(&other.served)
	r.why.join(&other.why)
	for hour := range other.sealed / 60 {
		r.tiers[hour] = max(r.tiers[hour], other.tiers[hour])
	}
	r.early = r.early && other.early
	r.last.join(other.last)
	for i := range other.boots {
		r.joinBoot(&other.boots[i])
	}
	r.hours.join(&other.hours)
	for i := range r.signals {
		r.signals[i].join(other.signals[i])
	}
	for i := range other.tests {
		r.addTest(other.tests[i])
	}
	r.sealed = max(r.sealed, other.sealed)
	r.pruneTests()
	r.before.join(&other.before)
	for i := range r.past {
		r.past[i].join(other.past[i])
	}
}

func (h *hours) join(other *hours) {
	for i := range h {
		h[i] = max(h[i], other[i])
	}
}

func (b *before) join(other *before) {
	for i := range b.bytes {
		b.bytes[i] = max(b.bytes[i], other.bytes[i])
	}
	b.hours.join(&other.hours)
	for i := range b.signals {
		b.signals[i].join(other.signals[i])
	}
}

func (s *sum) join(other sum) {
	s.served, s.expected = max(s.served, other.served), max(s.expected, other.expected)
}

// copy is for others: it shares nothing with r.
func (r *Record) copy() *Record {
	c := *r
	c.fresh = false
	c.boots, c.tests = slices.Clone(r.boots), slices.Clone(r.tests)
	return &c
}

// take makes r a copy of another, in its own memory.
func (r *Record) take(other *Record) {
	boots, tests := append(r.boots[:0], other.boots...), append(r.tests[:0], other.tests...)
	*r = *other
	r.boots, r.tests = boots, tests
}

// reset makes r the empty record of a day, and keeps its memory.
func (r *Record) reset(day Day) {
	*r = Record{day: day, boots: r.boots[:0], tests: r.tests[:0]}
}
