package heartbeat

import (
	"iter"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// A device names a beat by its boot and a sequence number, and its counters grow from
// the boot on. Not all devices keep to that. So the node that receives a beat decides
// once, before the beat is journaled, what its numbers mean (decision D95), and
// replaces them with numbers that do keep to it:
//
//   - Counters that started again begin another generation of the boot. It is a boot of
//     its own, and its id follows from that of the one before.
//   - Sequence numbers that started again begin another run. Its number is in the high
//     bits of Seq, so that Seq still grows. Of earlier runs, the highest number is known.
//   - Counters of 32 bits that started again at 2^32 go on above it.
//
// Everybody else merges these by union and maximum, as if nothing had happened. Nothing
// else is stored: generation and run can be read from the numbers. Nodes that know the
// same decide the same. In doubt nothing is paid twice.
const (
	runShift = 52 // beacon.MaxSeq is below it
	maxRun   = 1<<(64-runShift) - 1

	generation    = 0x9e3779b97f4a7c15 // the difference of two ids; odd, so it has an inverse
	inverse       = 0xf1de83e19937733d
	maxGeneration = 1 << 20

	// aMinute is how much traffic in a minute raises no doubt.
	aMinute  = 64 << 20
	mostGrow = 1 << 30
)

// generationOf returns which generation of a boot an id is.
func generationOf(boot, id uint64) (g uint64, ok bool) {
	g = (id - boot) * inverse
	return g, g <= maxGeneration
}

// bootState is what is known of the newest generation of a boot.
type bootState struct {
	id    uint64
	seqs  seqs
	past  uint64        // the highest number of earlier runs, in any generation
	bytes uint64        // the highest value of its counter
	heard beacon.Minute // its newest beat
	days  *openDays     // nil: not unpacked
}

// Judge decides what the numbers of a beat mean, and changes them accordingly. Call it
// once for each beat that a device sends, before the beat is journaled. A beat that
// does not count must not be journaled.
func (t *Table) Judge(l *Live, b *Beat) beacon.Uncounted {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 || !b.valid() {
		return beacon.Counted // as nobody knows better
	}
	why := t.judge(l, b)
	if b.Fell {
		l.fell = b.minute()
	}
	if why != beacon.Counted {
		l.uncounted = uncounted(b.minute())<<uncountedBits | uncounted(why)
	}
	return why
}

func (t *Table) judge(l *Live, b *Beat) beacon.Uncounted {
	boot := b.Boot
	if l.state&atHand != 0 && l.boot == boot && b.Seq > l.seqs.top && b.Bytes >= l.bytes { // as usual
		t.backdate(l, b, l.heardAt)
		return beacon.Counted
	}
	now, known := t.stateOf(l, boot)
	if !known {
		t.backdate(l, b, l.seenAt())
		return now.days.roomFor(b)
	}
	t.backdate(l, b, now.heard)
	seq := now.seqs.top&^beacon.MaxSeq | b.Seq
	newer := seq > now.seqs.top
	fresh := newer && (seq <= beacon.MaxSeq || b.Seq > now.past) // no beat had this number before
	few := plausible(now.heard, b.minute())
	if !newer {
		few = aMinute // it may be an old beat, though it arrives hours after the last
	}
	switch more := grown(now.bytes, b.Bytes); {
	case b.Width == beacon.Wraps:
		b.Bytes = unwrap(now.bytes, more, fresh)
	case b.Width == beacon.PerhapsWrap && b.Bytes < now.bytes && more <= few:
		b.Bytes = now.bytes + more
	}
	b.Fell = b.Bytes < now.bytes && b.Width != beacon.Wraps && (newer || now.seqs.top-seq > windowSize)
	b.Boot = now.id
	earlier := func() uint64 { return t.earlier(l, boot, &now) }
	switch now.meaning(seq, b.Bytes, now.id != boot, fresh, plausible(now.heard, b.minute()), earlier) {
	case goesOn:
		b.Seq = seq
		return t.goesOn(l, b, boot, &now)
	case mayBeOld:
		b.Seq = seq
		b.Bytes = min(b.Bytes, now.bytes)
	case longAgo:
		b.Seq = now.seqs.top
	case startsAgain:
		b.Seq |= min(now.seqs.top>>runShift+1, maxRun) << runShift
		if now.doubts(b.Bytes, now.id != boot, 0, earlier) {
			b.Bytes = min(b.Bytes, now.bytes)
		}
	case late:
		b.Seq = seq
	case beforeFall:
		b.Seq = seq
		t.beforeFall(l, b, boot, &now)
	case repeated:
		return beacon.Repeated
	}
	return beacon.Counted
}

// meaning is what the numbers of a beat mean, beside what is known of its boot.
type meaning uint8

const (
	goesOn      meaning = iota // it is after all others
	mayBeOld                   // its number is above all others, but may be one of an earlier run: it adds no traffic
	longAgo                    // it is old, or numbers and counters started again: only its minute counts
	startsAgain                // the numbers started again
	late                       // another was faster
	beforeFall                 // it is late, and of the generation before
	repeated
)

// meaning returns what the numbers of a beat mean: its number within the run, and its
// counters. Another says that a generation of the boot was before this one, fresh that no
// beat had this number before, expected how much traffic is plausible since the last, and
// earlier the highest counter of the generations before.
func (now *bootState) meaning(seq, bytes uint64, another, fresh bool, expected uint64, earlier func() uint64) meaning {
	top := now.seqs.top
	switch {
	case seq > top && !fresh && now.doubts(bytes, another, expected, earlier):
		return mayBeOld
	case seq > top:
		return goesOn
	case top-seq > windowSize && bytes < now.bytes:
		return longAgo
	case top-seq > windowSize:
		return startsAgain
	case bytes <= now.bytes && now.seqs.knows(seq):
		return repeated
	case bytes <= now.bytes:
		return late
	case another && !now.seqs.knows(seq):
		return beforeFall
	case !another || bytes > earlier():
		return startsAgain
	}
	return repeated
}

// doubts reports whether a beat may be an old one: its counters are lower than those of
// the boot, or have grown by more than expected and are such as an earlier generation of
// the boot had.
func (now *bootState) doubts(bytes uint64, another bool, expected uint64, earlier func() uint64) bool {
	return bytes < now.bytes || another && bytes > now.bytes+expected && bytes <= earlier()
}

// stateOf returns what is known of a boot.
func (t *Table) stateOf(l *Live, boot uint64) (now bootState, known bool) {
	if l.state&atHand != 0 && l.seqs.top <= beacon.MaxSeq {
		if _, ok := generationOf(boot, l.boot); ok {
			return bootState{id: l.boot, seqs: l.seqs, bytes: l.bytes, heard: l.heardAt}, true
		}
	}
	k := t.unpack(l)
	for i := len(k.days) - 1; i >= 0 && !known; i-- {
		var newest uint64
		for j := range k.days[i].boots {
			b := &k.days[i].boots[j]
			if g, ok := generationOf(boot, b.id); ok && (!known || g > newest) {
				newest, known = g, true
				now = bootState{id: b.id, seqs: b.seqs, bytes: b.upTo[hoursADay-1], heard: b.newest}
			}
		}
	}
	now.days = k
	for b := range k.generations(boot) {
		now.past = max(now.past, b.pastTop)
		if b.top>>runShift < now.seqs.top>>runShift {
			now.past = max(now.past, b.top&beacon.MaxSeq)
		}
	}
	return now, known
}

// generations yields what each day knows of the generations of a boot.
func (k *openDays) generations(id uint64) iter.Seq[*boot] {
	return func(yield func(*boot) bool) {
		for i := range k.days {
			for j := range k.days[i].boots {
				b := &k.days[i].boots[j]
				if _, ok := generationOf(id, b.id); ok && !yield(b) {
					return
				}
			}
		}
	}
}

// roomFor reports whether the day of a beat has room for another boot.
func (k *openDays) roomFor(b *Beat) beacon.Uncounted {
	if at, found := k.find(b.minute().Day()); found && len(k.days[at].boots) >= maxBoots {
		return beacon.TooManyBoots
	}
	return beacon.Counted
}

// goesOn judges a beat with a higher number than all before.
func (t *Table) goesOn(l *Live, b *Beat, boot uint64, now *bootState) beacon.Uncounted {
	if b.Bytes >= now.bytes {
		return beacon.Counted
	}
	if more := grown(now.bytes, b.Bytes); b.Width == beacon.Wraps || b.Width == beacon.PerhapsWrap && more <= b.Bytes {
		b.Bytes = now.bytes + more
		return beacon.Counted
	}
	return t.fell(l, b, boot, now)
}

// grown returns by how much the sum of counters of 32 bits has grown.
func grown(before, now uint64) uint64 { return uint64(uint32(now - before)) }

// fell begins another generation.
func (t *Table) fell(l *Live, b *Beat, boot uint64, now *bootState) beacon.Uncounted {
	if g, _ := generationOf(boot, now.id); g == maxGeneration {
		return beacon.TooManyBoots
	}
	if now.days == nil {
		now.days = t.unpack(l)
	}
	b.Boot = now.id + generation
	return now.days.roomFor(b)
}

// plausible returns how much traffic is plausible between two minutes.
func plausible(from, to beacon.Minute) uint64 {
	return min(aMinute*uint64(max(to, from+1)-from), mostGrow)
}

// earlier returns the highest counter of the generations before.
func (t *Table) earlier(l *Live, boot uint64, now *bootState) (bytes uint64) {
	if now.days == nil {
		now.days = t.unpack(l)
	}
	for b := range now.days.generations(boot) {
		if b.id != now.id {
			bytes = max(bytes, b.upTo[hoursADay-1])
		}
	}
	return bytes
}

// beforeFall judges a late beat whose counters are higher than those of its generation.
// It is of the one before, if that is known and its counters say anything new.
func (t *Table) beforeFall(l *Live, b *Beat, boot uint64, now *bootState) {
	if b.Bytes <= t.earlier(l, boot, now) || !slices.ContainsFunc(now.days.days, func(r Record) bool {
		return r.find(now.id-generation) != nil
	}) {
		b.Bytes = now.bytes
		return
	}
	b.Boot = now.id - generation
}

// unwrap returns what counters of 32 bits have counted in all, from what they had
// counted before and by how much they have grown.
func unwrap(before, more uint64, newer bool) uint64 {
	if newer || more < 1<<31 {
		return before + more
	}
	return before - min(before, 1<<32-more) // it is late
}
