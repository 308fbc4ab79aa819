package heartbeat

import (
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Live is what memory keeps ready of one hotspot: the current hour, which is one hour
// of one boot to which the next beat adds, and sums of everything earlier. The rest is
// packed in the Table and unpacked about once an hour.
//
// It has no pointers, so the garbage collector need not scan a million of them. All
// fields but the atomic ones are guarded by the Table's mutex.
type Live struct {
	seen  atomic.Int64  // µs of the newest beat
	shown atomic.Uint64 // a packed Shown
	dirty atomic.Bool
	marks [marks]atomic.Bool
	from  atomic.Uint64 // the word of the last call of HeardFrom

	state   state
	back    uint8 // the highest Back of the beats in the minute of the newest
	tier    beacon.Tier
	days    uint8  // number of open days
	done    uint8  // how many of them to drop once they are written
	clients uint16 // of the newest beat
	tie     uint32 // of the newest beat

	uncounted uncounted     // the newest beat that did not count
	fell      beacon.Minute // of the newest beat with counters that fell

	slot     uint32        // index in the Table
	timeline uint32        // index of its operating hours
	active   beacon.Minute // in service since; 0: it is not

	// The current hour. Its minutes are complete, including those that earlier beats
	// served; its counts are only of beats that are not packed yet.
	hour    hour
	served  uint64 // and the three minutes after it
	boot    uint64
	seqs    seqs
	heardAt beacon.Minute // newest beat of the boot
	bytes   uint64
	samples samples
	peak    uint16

	// What the packed days say of the time before the hour.
	before struct{ served, expected uint32 }
	heard  samples
	until  beacon.Minute // how long the tier holds without another test
}

type state uint8

const (
	placed      state = 1 << iota
	atHand            // the current hour is valid
	interrupted       // it was in service before; see Table.past
	deleted           // its hotspot is deleted
)

// uncounted is a minute, and in the low bits why a beat did not count in it.
type uncounted uint32

const uncountedBits = 4

// Shown is the summary shown of a hotspot among others, up to a minute old.
type Shown struct {
	Clients int
	Signal  beacon.Signal
	Tier    beacon.Tier
	Uptime  int // ten-thousandths
}

// Dirty reports whether anything changed since the last Fold.
func (l *Live) Dirty() bool { return l.dirty.Load() }

// Seen returns when the newest beat arrived, in µs since 1970, or 0 if none did.
func (l *Live) Seen() int64 { return l.seen.Load() }

func (l *Live) seenAt() beacon.Minute { return beacon.Minute(l.seen.Load() / microMinute) }

// HeardFrom stores a word that stands for the address that the device sends from, and
// returns the previous one. Package checkins defines the word.
func (l *Live) HeardFrom(word uint64) (before uint64) {
	if before = l.from.Load(); before == word {
		return before
	}
	return l.from.Swap(word)
}

// Shown returns what Apply or Refresh computed last.
func (l *Live) Shown() Shown {
	packed := l.shown.Load()
	return Shown{
		Clients: int(packed & most),
		Signal:  beacon.Signal(packed >> 16 & 7),
		Tier:    beacon.Tier(packed >> 19 & 3),
		Uptime:  int(packed >> 21),
	}
}

func (l *Live) show(s Shown) {
	l.shown.Store(uint64(s.Clients) | uint64(s.Signal)<<16 | uint64(s.Tier)<<19 | uint64(s.Uptime)<<21)
}

func (l *Live) last() last { return last{l.seen.Load(), l.tie, l.clients} }

func (l *Live) setLast(newest last) {
	if newest.at/microMinute != l.seen.Load()/microMinute {
		l.back = 0
	}
	l.seen.Store(newest.at)
	l.tie, l.clients = newest.tie, newest.clients
}

// takes reports whether take can add a beat: it is of the current hour, boot and run, as
// its traffic is, and has no speed test.
func (l *Live) takes(b *Beat) bool {
	return l.state&atHand != 0 && hourOf(b.minute()) == l.hour && b.Boot == l.boot && b.Seq>>runShift == l.seqs.top>>runShift &&
		b.Back == 0 && !b.Test.Any()
}

// take adds a beat to the current hour and reports whether it is new.
func (l *Live) take(b *Beat) (fresh bool) {
	fresh = !l.seqs.knows(b.Seq)
	news := fresh
	if fresh {
		l.seqs.add(b.Seq)
		l.samples.add(b.Signal)
	}
	if served := l.served | beatBits<<(b.minute()%60); served != l.served {
		l.served, news = served, true
	}
	if m := b.minute(); m > l.heardAt {
		l.heardAt, news = m, true
	}
	if b.Bytes > l.bytes {
		l.bytes, news = b.Bytes, true
	}
	if clients := b.clients(); clients > l.peak {
		l.peak, news = clients, true
	}
	if newest := (last{b.At, b.tie(), b.clients()}); l.last().before(newest) {
		l.setLast(newest)
		news = true
	}
	if news {
		l.dirty.Store(true)
	}
	return fresh
}

// Apply adds a beat and reports whether it is new. A known beat changes nothing: all
// that a beat says of itself is merged by union or maximum, and signal samples are
// counted for new beats only. So two replicas that took the same beat twice, a moment
// apart, still agree. A beat is dropped if l is not, or no longer, the Live of its
// hotspot.
func (t *Table) Apply(l *Live, b *Beat) (fresh bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 || t.names[l.slot/slabSize][l.slot%slabSize] != b.Hotspot || !b.valid() {
		return false
	}
	if l.takes(b) {
		fresh = l.take(b)
	} else {
		fresh = t.unpackFor(l, b)
	}
	if b.minute() == l.seenAt() {
		l.back = max(l.back, b.Back)
	}
	t.show(l)
	return fresh
}

// unpackFor adds a beat that does not belong to the current hour.
func (t *Table) unpackFor(l *Live, b *Beat) (fresh bool) {
	k := t.unpack(l)
	at, boot := hourOf(b.minute()), b.Boot
	if l.state&atHand != 0 {
		at = max(at, l.hour)
	}
	fresh = k.add(b)
	if g, same := generationOf(b.Boot, l.boot); k.newest().last.at > b.At || same && g > 0 { // it is late
		boot = l.boot
	}
	if b.minute().Day() < k.newest().day {
		l.done = 0 // the written record of that day is incomplete now
	}
	if changed := t.pack(l, k, at, boot); changed || fresh {
		l.dirty.Store(true)
	}
	return fresh
}

// show updates the summary without unpacking the open days.
func (t *Table) show(l *Live) {
	first := l.hour.first()
	now := min(max(t.now, l.seenAt(), first), first+59)
	c := t.rules(l)
	expected := c.inHour(l.hour) & (1<<(now-first+1) - 1)
	l.show(Shown{
		Clients: int(l.clients),
		Signal:  median(l.heard, l.samples),
		Tier:    l.tier,
		Uptime: tenThousandths(
			int(l.before.served)+bits.OnesCount64(l.served&expected),
			int(l.before.expected)+bits.OnesCount64(expected)),
	})
}

// Mark is a place where it is reported whether a hotspot is online. The caller decides
// what to report; a Live only remembers it.
type Mark uint8

const (
	Announced Mark = iota // events
	OnMap                 // the coverage map
	marks
)

// Marked reports whether the hotspot was last reported as online there.
func (l *Live) Marked(m Mark) bool { return l.marks[m].Load() }

// SetMark records what was reported.
func (l *Live) SetMark(m Mark, online bool) { l.marks[m].Store(online) }

// StatusDiff returns the hotspots whose mark is not their status at now, in µs since
// 1970; with onlineOnly, only those that are online. It also returns the oldest last
// beat of all that are online: the first to go offline. It scans a million hotspots in
// some hundredths of a second.
func (t *Table) StatusDiff(m Mark, now int64, onlineOnly bool) (differ []id.Raw, oldest int64) {
	oldest = math.MaxInt64
	for from := 0; ; from += slabSize {
		if more := t.statusDiff(m, now, onlineOnly, from, &differ, &oldest); !more {
			return differ, oldest
		}
	}
}

func (t *Table) statusDiff(m Mark, now int64, onlineOnly bool, from int, differ *[]id.Raw, oldest *int64) (more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for slot := from; slot < min(from+slabSize, t.used); slot++ {
		l := &t.lives[slot/slabSize][slot%slabSize]
		seen := l.seen.Load()
		online := l.active != 0 && l.state&deleted == 0 && beacon.Heard(seen, now)
		if online {
			*oldest = min(*oldest, seen)
		}
		if online != l.marks[m].Load() && (online || !onlineOnly) {
			*differ = append(*differ, t.names[slot/slabSize][slot%slabSize])
		}
	}
	return from+slabSize < t.used
}
