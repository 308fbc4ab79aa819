package heartbeat

import (
	"sync/atomic"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Live is what memory holds at hand of one hotspot: one hour of one boot, to
// which the next beat will add, and sums of all before. The rest is packed away
// in the Table, and unpacked about once an hour.
//
// It has no pointers: the garbage collector need not look at a million of them.
// All but what is atomic belongs to the Table's mutex.
type Live struct {
	seen  atomic.Int64  // µs of the newest beat
	shown atomic.Uint64 // a packed Shown
	dirty atomic.Bool

	announced atomic.Bool // see Announced
	lit       atomic.Bool // see Lit

	state   state
	tier    beacon.Tier
	days    uint8  // how many days are in the book
	done    uint8  // how many of them need not stay there once they are written
	clients uint16 // of the newest beat
	tie     uint32 // of the newest beat

	slot     uint32 // its place in the Table
	timeline uint32 // the place of its operating hours
	active   Minute

	// The hour at hand. Its minutes are all there, also those that beats before
	// it served; the counts are only of beats that are not in the book.
	hour    hour
	served  uint64 // and the three minutes after it
	boot    uint64
	seqs    seqs
	heardAt Minute // the newest beat of the boot
	bytes   uint64
	samples samples
	peak    uint16

	// What the book says of the time before the hour.
	before struct{ served, expected uint32 }
	heard  samples
	until  Minute // when the tier will change by itself
}

type state uint8

const (
	placed      state = 1 << iota
	atHand            // the hour at hand means something
	interrupted       // it was in service before; see Table.past
	departed          // its hotspot is deleted
)

// Shown is what is shown of a hotspot beside others, up to a minute old.
type Shown struct {
	Clients int
	Signal  beacon.Signal
	Tier    beacon.Tier
	Uptime  int // ten-thousandths
}

// Dirty reports whether there is news since the last Fold.
func (l *Live) Dirty() bool { return l.dirty.Load() }

// Seen is when the newest beat came, in µs since 1970; 0: never.
func (l *Live) Seen() int64 { return l.seen.Load() }

// Announced reports whether the last that was told of the hotspot is that it
// came online. What is told is the caller's business; this only remembers it.
func (l *Live) Announced() bool { return l.announced.Load() }

// Announce notes what was told.
func (l *Live) Announce(online bool) { l.announced.Store(online) }

// Lit reports whether maps show the hotspot as online. What maps show is the
// caller's business; this only remembers it.
func (l *Live) Lit() bool { return l.lit.Load() }

// Light notes what maps show.
func (l *Live) Light(online bool) { l.lit.Store(online) }

// Shown is what Apply and Refresh found last.
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
	l.seen.Store(newest.at)
	l.tie, l.clients = newest.tie, newest.clients
}

// takes reports whether a beat belongs to the hour at hand.
func (l *Live) takes(b *Beat) bool {
	return l.state&atHand != 0 && b.minute().hour() == l.hour && b.Boot == l.boot && !b.Test.Any()
}

// take adds a beat to the hour at hand.
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
