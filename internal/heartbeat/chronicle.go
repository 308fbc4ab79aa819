package heartbeat

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Chronicle makes the records of a hotspot whose beats of many days are known
// beforehand, such as those of a demonstration. They are the records that a Table
// would have written, folded at the same moments, and take a hundredth of the
// time: nothing is packed between two beats, and the beats of an hour come as one.
// It is not safe for concurrent use.
type Chronicle struct {
	table *Table
	live  *Live
	book  book
	text  []byte
}

// Chronicle begins with a hotspot that never beat. What it is expected to do is
// asked of the table.
func (t *Table) Chronicle(h beacon.Hotspot) *Chronicle {
	c := &Chronicle{table: t, live: t.Place(nil, h)}
	c.Place(h)
	return c
}

// Place takes over what the hotspot's owner changed.
func (c *Chronicle) Place(h beacon.Hotspot) {
	c.table.Place(c.live, h)
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	c.book.rules = c.table.rules(c.live)
}

// Close gives up the hotspot's place in the table.
func (c *Chronicle) Close() { c.table.Remove(c.live) }

// Beats adds so many beats, one a minute, of which b is the last. Those before it
// differ in their times and numbers, and were without a test; all are of one hour
// and none came before. Others are dropped.
func (c *Chronicle) Beats(b *Beat, count int) {
	last := b.minute()
	first := last + 1 - Minute(max(count, 1))
	if !b.valid() || count < 1 || first.hour() != last.hour() || b.Seq < uint64(count) {
		return
	}
	r := c.day(last.Day())
	if r == nil {
		return
	}
	if quality := b.Signal; quality != beacon.NoSignal && quality <= beacon.ExcellentSignal {
		var others samples
		others[quality-1] = uint16(count - 1)
		r.signals[last.hour().ofDay()/signalHours].plus(others)
	}
	r.served.setRange(first.ofDay(), last.ofDay())
	r.add(b, true)
	if known := r.find(b.Boot); known != nil {
		known.seqs.join(seqs{top: b.Seq, window: 1<<(count-1) - 1})
	}
	c.book.chain(1)
}

// day is book.day, in short for the newest.
func (c *Chronicle) day(day Day) *Record {
	if n := len(c.book.days); n > 0 && c.book.days[n-1].day == day {
		return &c.book.days[n-1]
	}
	return c.book.day(day)
}

// Fold gives the records that a fold writes at a moment, when no beat before it is
// missing, with their days and as they go to disk. Those of days after the last
// are left out: they will not be all there is to say. Who keeps a text copies it.
func (c *Chronicle) Fold(now time.Time, last Day, each func(day Day, text []byte)) {
	minute := MinuteOf(now)
	if c.book.roll(minute); len(c.book.days) == 0 {
		return
	}
	done := c.book.fold(minute, FinalAt(minute), func(r *Record) {
		if r.day <= last {
			c.text = r.Append(c.text[:0])
			each(r.day, c.text)
		}
	})
	c.book.drop(done)
}
