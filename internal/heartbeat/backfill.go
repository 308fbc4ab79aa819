package heartbeat

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Backfill builds the records of a hotspot whose beats of many days are known in
// advance, such as those of a demonstration. They equal the records that a Table would
// have written, folded at the same moments, but take a hundredth of the time: nothing
// is packed between two beats, and the beats of an hour are added at once. It is not
// safe for concurrent use.
type Backfill struct {
	table *Table
	live  *Live
	book  openDays
	text  []byte
}

// Backfill returns a Backfill of a hotspot that never beat. The rules of the table
// say when it is expected to serve.
func (t *Table) Chronicle(h beacon.Hotspot) *Backfill {
	c := &Backfill{table: t, live: t.Place(nil, h)}
	c.Place(h)
	return c
}

// Place applies what the hotspot's owner changed.
func (c *Backfill) Place(h beacon.Hotspot) {
	c.table.Place(c.live, h)
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	c.book.rules = c.table.rules(c.live)
}

// Close frees the hotspot's slot in the table.
func (c *Backfill) Close() { c.table.Remove(c.live) }

// Beats adds count beats, one a minute, of which b is the last. The earlier ones differ
// in time and sequence number, and have no speed test. All must be new, and of one
// hour; otherwise they are dropped.
func (c *Backfill) Beats(b *Beat, count int) {
	last := b.minute()
	first := last + 1 - beacon.Minute(max(count, 1))
	if !b.valid() || count < 1 || hourOf(first) != hourOf(last) || b.Seq < uint64(count) {
		return
	}
	r := c.day(last.Day())
	if r == nil {
		return
	}
	if quality := b.Signal; quality != beacon.NoSignal && quality <= beacon.ExcellentSignal {
		var others samples
		others[quality-1] = uint16(count - 1)
		r.signals[hourOf(last).ofDay()/signalHours].plus(others)
	}
	r.served.setRange(first.OfDay(), last.OfDay())
	r.add(b, true)
	if known := r.find(b.Boot); known != nil {
		known.seqs.join(seqs{top: b.Seq, window: 1<<(count-1) - 1})
	}
	c.book.chain(1)
}

// day is book.day with a shortcut for the newest day.
func (c *Backfill) day(day beacon.Day) *Record {
	if n := len(c.book.days); n > 0 && c.book.days[n-1].day == day {
		return &c.book.days[n-1]
	}
	return c.book.day(day)
}

// Fold calls each with the records that a fold at now writes, encoded as on disk,
// provided that no earlier beat is missing. Days after last are left out: they are not
// complete. text is valid only during the call.
func (c *Backfill) Fold(now time.Time, last beacon.Day, each func(day beacon.Day, text []byte)) {
	minute := beacon.MinuteOf(now)
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
