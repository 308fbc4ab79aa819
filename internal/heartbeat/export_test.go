package heartbeat

import (
	"math/bits"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// FoldNow is Fold where no beat is late and no clock was ahead. If r is not nil, it is
// restored before.
func (t *Table) FoldNow(l *Live, r *Record, now time.Time) []*Record {
	if r != nil {
		t.Restore(l, r)
	}
	minute := beacon.MinuteOf(now)
	return t.Fold(l, Moment{now, now, FinalAt(minute), minute, beacon.LastMinute})
}

// Served returns how many decided minutes were expected and served.
func (r *Record) Served() int {
	n := r.servedMinutes()
	return n.count()
}

// Expected returns how many decided minutes were expected.
func (r *Record) Expected() (n int) {
	for i := range r.served {
		n += bits.OnesCount64(rangeWord(i, 0, r.decided) &^ r.why.word(i))
	}
	return n
}

// Bytes returns the traffic of the day.
func (r *Record) Bytes() (total uint64) {
	for i := range r.boots {
		total += r.boots[i].upTo[hoursADay-1] - r.boots[i].base
	}
	return total
}

// ForgetSignal is for tests in which beats come later than can be counted.
func ForgetSignal(r *Record) {
	r.signals = [signalSteps]samples{}
	r.before.signals = [signalSteps]samples{}
}

// Knows reports whether a beat was applied before, or is older than what is remembered.
func (t *Table) Knows(l *Live, boot, seq uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&atHand != 0 && l.boot == boot {
		return l.seqs.knows(seq)
	}
	return t.unpack(l).knows(boot, seq)
}

// Packed is how many bytes a hotspot takes beside its Live.
func (t *Table) Packed(l *Live) int { return cap(t.packedDays(l)) }

// Timelines is how many different hours are remembered.
func (t *Table) Timelines() int { return len(t.places) }

// Pasts is of how many hotspots it is remembered when they were in service before.
func (t *Table) Pasts() int { return len(t.past) }
