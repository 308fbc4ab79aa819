package heartbeat

import (
	"cmp"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// pastDays is how many earlier days a record has the sums of: with its own, 30 days
// (decision N16).
const pastDays = 29

// Record is what the beats of one hotspot on one UTC day add up to, plus what is needed
// of earlier days to answer every question about now. So the newest record of a hotspot
// is enough to continue from.
//
// Records of one day merge: minutes by union, counters and counts by maximum, speed
// tests by the latest of both. Neither order nor repetition matters.
type Record struct {
	day beacon.Day

	// decided is how many minutes of the day are decided for good. why has the reasons
	// for those in which the hotspot was not expected to serve.
	decided int
	why     reasons

	// early says that the last day before it that has a record was not final when this
	// one was written.
	early bool

	// alone says that no earlier day is on disk. It is used in memory only.
	alone bool

	served  dayBits // including by beats of the evening before
	last    last
	prior   beacon.Minute     // when it was last heard by the right clock, if one was ahead; 0: last says it
	boots   []boot            // sorted by id
	tests   []test            // oldest first
	hours   [hoursADay]uint16 // the peak number of clients in each
	signals [signalSteps]samples
	tiers   [hoursADay]beacon.Tier // at the end of each decided hour

	before before
	past   [pastDays]sum // past[0] is the day before
}

// before is the part of the previous day that is less than 25 hours ago.
type before struct {
	bytes   [hoursADay]uint64
	hours   [hoursADay]uint16
	signals [signalSteps]samples
}

// sum counts the minutes of a day.
type sum struct{ served, expected uint16 }

// Day returns the day of the record.
func (r *Record) Day() beacon.Day { return r.day }

// AllDecided reports whether the whole day is decided.
func (r *Record) AllDecided() bool { return r.decided == beacon.MinutesADay }

// NeedsDayBefore reports whether the last day before it that has a record was not final
// when this one was written. A caller that restores this record must restore that one
// too.
func (r *Record) NeedsDayBefore() bool { return r.early }

// servedMinutes returns the decided minutes that were expected and served.
func (r *Record) servedMinutes() dayBits {
	n := r.served
	n.keepRange(0, r.decided)
	for i := range n {
		n[i] &^= r.why.word(i)
	}
	return n
}

// Tier returns the tier at the end of the last decided hour.
func (r *Record) Tier() beacon.Tier {
	if n := r.decided / 60; n > 0 {
		return r.tiers[n-1]
	}
	return beacon.Standard
}

// carried returns the traffic of an hour of the day.
func (r *Record) carried(hour int) (bytes uint64) {
	for i := range r.boots {
		bytes += r.boots[i].carried(hour)
	}
	return bytes
}

// owed returns the part of it that counts even if the hotspot was closed.
func (r *Record) owed(hour int) (bytes uint64) {
	for i := range r.boots {
		bytes += r.boots[i].owed(hour)
	}
	return bytes
}

// add applies a beat of the record's day. fresh says that it is counted for the first
// time.
func (r *Record) add(b *Beat, fresh bool) {
	m := b.minute()
	r.served.add(m.OfDay(), beatBits)
	r.last.join(last{b.At, b.tie(), b.clients()})
	hour := hourOf(m).ofDay()
	r.hours[hour] = max(r.hours[hour], b.clients())
	if known := r.boot(b.Boot, m, b.Seq); known != nil {
		known.carry(hour, b)
	}
	if fresh {
		r.signals[hour/signalHours].add(b.Signal)
	}
	if b.Test.Any() {
		r.addTest(test{m, b.tie(), b.Test})
	}
}

// join merges another record of the same day into r.
func (r *Record) join(other *Record) {
	r.served.join(&other.served)
	r.why.join(&other.why)
	raise(r.tiers[:other.decided/60], other.tiers[:])
	r.early = r.early && other.early
	r.last.join(other.last)
	r.prior = max(r.prior, other.prior)
	for i := range other.boots {
		o := &other.boots[i]
		if b := r.boot(o.id, o.newest, o.top); b != nil {
			b.join(o)
		}
	}
	raise(r.hours[:], other.hours[:])
	for i := range r.signals {
		raise(r.signals[i][:], other.signals[i][:])
	}
	for i := range other.tests {
		r.addTest(other.tests[i])
	}
	r.decided = max(r.decided, other.decided)
	r.pruneTests()
	r.before.join(&other.before)
	for i := range r.past {
		r.past[i].join(other.past[i])
	}
}

// raise sets each number to the higher of both: they count the same.
func raise[T cmp.Ordered](numbers, others []T) {
	for i := range numbers {
		numbers[i] = max(numbers[i], others[i])
	}
}

func (b *before) join(other *before) {
	raise(b.bytes[:], other.bytes[:])
	raise(b.hours[:], other.hours[:])
	for i := range b.signals {
		raise(b.signals[i][:], other.signals[i][:])
	}
}

func (s *sum) join(other sum) {
	s.served, s.expected = max(s.served, other.served), max(s.expected, other.expected)
}

// copy returns a copy that shares no memory with r.
func (r *Record) copy() *Record {
	c := *r
	c.alone = false
	c.boots, c.tests = slices.Clone(r.boots), slices.Clone(r.tests)
	return &c
}

// take makes r a copy of other, in r's own memory.
func (r *Record) take(other *Record) {
	boots, tests := append(r.boots[:0], other.boots...), append(r.tests[:0], other.tests...)
	*r = *other
	r.boots, r.tests = boots, tests
}

// reset makes r the empty record of a day and keeps its memory.
func (r *Record) reset(day beacon.Day) {
	*r = Record{day: day, boots: r.boots[:0], tests: r.tests[:0]}
}

// reasons says why the hotspot was not expected to serve in minutes of a day: it was
// closed by its own hours, excused by an outage of the service, or outside its time in
// service. Each reason is the one found when the minute was decided.
//
// A minute that nodes decided separately can have several reasons. It then counts as
// outside before closed, and as closed before excused.
type reasons struct{ closed, excused, outside dayBits }

// word returns the minutes of word i that have a reason.
func (w *reasons) word(i int) uint64 { return w.closed[i] | w.excused[i] | w.outside[i] }

// excusedWord returns the minutes of word i that count as excused.
func (w *reasons) excusedWord(i int) uint64 { return w.excused[i] &^ w.closed[i] &^ w.outside[i] }

// from returns 64 bits starting at a minute, set where there is a reason.
func (w *reasons) from(minute int) uint64 {
	return w.closed.from(minute) | w.excused.from(minute) | w.outside.from(minute)
}

func (w *reasons) join(other *reasons) {
	w.closed.join(&other.closed)
	w.excused.join(&other.excused)
	w.outside.join(&other.outside)
}

// add takes over the reasons of the minutes from..to, to excluded.
func (w *reasons) add(other *reasons, from, to int) {
	for i := from / 64; i < len(w.closed) && i*64 < to; i++ {
		some := rangeWord(i, from, to)
		w.closed[i] |= other.closed[i] & some
		w.excused[i] |= other.excused[i] & some
		w.outside[i] |= other.outside[i] & some
	}
}
