package heartbeat

import (
	"cmp"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	// maxBoots is how many boots of one day are distinguished: more than one a minute. A
	// device that boots more often learns that its beats do not count. Where two nodes
	// together accepted more, the oldest are dropped.
	maxBoots = 2048
	// keptBoots is how many of them the next day keeps. A boot that returns after that
	// many others counts as new.
	keptBoots = 8
)

// boot is what is known of one boot of a device on one day.
type boot struct {
	id uint64
	seqs
	pastTop uint64        // the highest number of the runs before (see judge.go)
	newest  beacon.Minute // of its beats

	// base is the highest value of its byte counter before the day, and upTo[h] the
	// highest by the end of hour h. Neither depends on the order of beats, and so
	// neither does the traffic of an hour: the difference of two of them.
	base uint64
	upTo [hoursADay]uint64

	// due is the value up to which the traffic of the day was carried before the day,
	// while the hotspot was open. It counts although the hotspot is closed now.
	due uint64
}

// hear records the numbers of beats.
func (b *boot) hear(s seqs, pastTop uint64) {
	b.pastTop = max(b.pastTop, pastTop)
	if low := min(b.top, s.top); low>>runShift < max(b.top, s.top)>>runShift {
		b.pastTop = max(b.pastTop, low&beacon.MaxSeq)
	}
	b.seqs.join(s)
}

// raise records that the counter had a value in an hour of the day.
func (b *boot) raise(hour int, bytes uint64) {
	for i := hour; i < hoursADay && b.upTo[i] < bytes; i++ {
		b.upTo[i] = bytes
	}
}

// raiseBase records that the counter had a value before the day.
func (b *boot) raiseBase(bytes uint64) {
	b.base = max(b.base, bytes)
	b.raise(0, bytes)
}

// carried returns the traffic of an hour of the day.
func (b *boot) carried(hour int) uint64 {
	if hour == 0 {
		return b.upTo[0] - b.base
	}
	return b.upTo[hour] - b.upTo[hour-1]
}

// owed returns the part of the traffic of an hour that counts even if the hotspot was
// closed.
func (b *boot) owed(hour int) uint64 {
	before := b.base
	if hour > 0 {
		before = b.upTo[hour-1]
	}
	return max(min(b.upTo[hour], b.due), before) - before
}

// carry records what a beat of the day says of the counter.
func (b *boot) carry(hour int, beat *Beat) {
	if back := int(beat.Back); back <= hour {
		hour -= back
	} else {
		b.due = max(b.due, beat.Bytes)
	}
	b.raise(hour, beat.Bytes)
}

func (b *boot) join(other *boot) {
	b.due = max(b.due, other.due)
	b.hear(other.seqs, other.pastTop)
	b.newest = max(b.newest, other.newest)
	raise(b.upTo[:], other.upTo[:])
	b.raiseBase(other.base)
}

// compareBoots orders boots by their newest beat.
func compareBoots(a, b *boot) int {
	return cmp.Or(cmp.Compare(a.newest, b.newest), cmp.Compare(a.id, b.id))
}

// find returns the boot, or nil.
func (r *Record) find(id uint64) *boot {
	if at, found := r.place(id); found {
		return &r.boots[at]
	}
	return nil
}

// place returns the index of a boot, or where it belongs.
func (r *Record) place(id uint64) (at int, found bool) {
	for low, high := 0, len(r.boots); ; { // slices.BinarySearchFunc would copy boots
		switch middle := int(uint(low+high) >> 1); {
		case low == high:
			return low, false
		case r.boots[middle].id == id:
			return middle, true
		case r.boots[middle].id < id:
			low = middle + 1
		default:
			high = middle
		}
	}
}

// boot returns the boot with the beat recorded, adding it if it is new. It returns nil
// if there is no room because all known boots are newer.
func (r *Record) boot(id uint64, heard beacon.Minute, seq uint64) *boot {
	if b := r.find(id); b != nil {
		b.hear(seqs{top: seq}, 0)
		b.newest = max(b.newest, heard)
		return b
	}
	fresh := boot{id: id, seqs: seqs{top: seq}, newest: heard}
	if len(r.boots) == maxBoots {
		oldest := r.oldestBoot()
		if compareBoots(&fresh, &r.boots[oldest]) < 0 {
			return nil
		}
		r.boots = slices.Delete(r.boots, oldest, oldest+1)
	}
	at, _ := r.place(id)
	r.boots = slices.Insert(r.boots, at, fresh)
	return &r.boots[at]
}

func (r *Record) oldestBoot() int {
	oldest := 0
	for i := range r.boots {
		if compareBoots(&r.boots[i], &r.boots[oldest]) < 0 {
			oldest = i
		}
	}
	return oldest
}

func (r *Record) newestBoot() *boot {
	var newest *boot
	for i := range r.boots {
		if newest == nil || compareBoots(newest, &r.boots[i]) < 0 {
			newest = &r.boots[i]
		}
	}
	return newest
}

// rebase takes over what the boots of another record had carried before the day, which
// is final. That may be less than this record has: what a node whose clock is behind
// took for the day before counts today.
func (r *Record) rebase(other *Record) {
	for i := range other.boots {
		if b := r.find(other.boots[i].id); b != nil {
			b.base = other.boots[i].base
		}
	}
}

// testLife is for how many minutes a speed test counts (decision N14).
const testLife = 48 * 60

// test is a speed test, and when it was reported.
type test struct {
	at  beacon.Minute
	tie uint32
	beacon.SpeedTest
}

func compareTests(a, b test) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Or(
		cmp.Compare(a.tie, b.tie),
		cmp.Compare(a.DownMbps, b.DownMbps), cmp.Compare(a.UpMbps, b.UpMbps), cmp.Compare(a.LatencyMs, b.LatencyMs),
	)
}

// addTest inserts a test in order, unless it is known.
func (r *Record) addTest(t test) {
	if at, known := slices.BinarySearchFunc(r.tests, t, compareTests); !known {
		r.tests = slices.Insert(r.tests, at, t)
		r.pruneTests()
	}
}

// pruneTests drops tests that no result depends on any more. The tier at a moment
// depends on the last six tests before it. So the last six are kept of each hour whose
// tier is not decided yet, and the last six of all the time before. What is kept of a
// union of tests does not depend on the order in which they arrived.
func (r *Record) pruneTests() {
	undecided := firstHour(r.day) + hour(r.decided/60) // the first hour whose tier is not decided yet
	group := func(t test) hour { return max(hourOf(t.at), undecided-1) }
	kept := r.tests[:0]
	for i, t := range r.tests {
		later := i + beacon.TierTests
		full := later < len(r.tests) && group(r.tests[later]) == group(t)
		if !full && t.at+testLife >= r.day.Midnight() {
			kept = append(kept, t)
		}
	}
	r.tests = kept
}

// tier returns the tier at a moment, and how long it holds if no other test arrives.
func (r *Record) tier(at beacon.Minute) (tier beacon.Tier, until beacon.Minute) {
	var tests [beacon.TierTests]beacon.SpeedTest
	n := 0
	until = beacon.LastMinute
	for i := len(r.tests) - 1; i >= 0 && n < len(tests); i-- {
		t := &r.tests[i]
		if t.at > at {
			continue
		}
		if t.at+testLife < at {
			break
		}
		tests[n] = t.SpeedTest
		n++
		until = t.at + testLife
	}
	return beacon.TierOf(tests[:n]), until
}
