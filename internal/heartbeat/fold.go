package heartbeat

import (
	"bytes"
	"slices"
	"time"
)

// sealLag is after how many minutes a minute is decided for good.
const sealLag = 3

// FinalLag is how many minutes of a new day the day before stays in memory, for
// beats that took long to get here.
const FinalLag = 5

// FinalAt is the day before which a fold at now writes everything for good, if
// no beat of those days can turn up any more.
func FinalAt(now Minute) Day { return (max(now, FinalLag) - FinalLag).Day() }

// Fold gives the records to write, the oldest day first: that of today, and of
// each day before it that was not written for good. r is the newest record on
// disk, or nil. What is before the day final is written for good. The live is
// clean afterwards; say Folded when the records are written, or Unfold when they
// could not be.
//
// Now is the latest moment that is certain. Beats of later days, which came while
// a clock was ahead or before it was known to be right, are written too; but
// nothing after now is decided, and no day begins.
func (t *Table) Fold(l *Live, r *Record, now time.Time, final Day) (records []*Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 {
		return nil
	}
	k := t.unpack(l)
	if r != nil {
		k.restore(r)
	}
	minute := MinuteOf(now)
	if k.roll(minute); len(k.days) == 0 {
		l.dirty.Store(false)
		return nil
	}
	l.done = uint8(k.fold(minute, final, func(r *Record) { records = append(records, r.copy()) }))
	t.pack(l, k, max(l.hour, minute.hour()), l.boot)
	t.show(l)
	l.dirty.Store(false)
	return records
}

// fold decides what is long enough past, and gives the records to write, which
// are the caller's to read and no more. It answers how many of the first days are
// written for good with that.
func (k *book) fold(now Minute, final Day, each func(*Record)) (done int) {
	k.seal(now)
	for i := range k.days {
		day := &k.days[i]
		if day.day > now.Day() && !day.hasBeats() {
			continue
		}
		day.forgetBefore(now)
		record := *day
		record.early = i > 0 && day.early && !k.days[i-1].over(final)
		record.fresh = false
		each(&record)
		if done == i && i < len(k.days)-1 && day.over(final) {
			done++
		}
	}
	return done
}

// over reports whether the day is written for good, when those before final are.
func (r *Record) over(final Day) bool { return r.day < final && r.Settled() }

// hasBeats reports whether any came on the day.
func (r *Record) hasBeats() bool {
	return slices.ContainsFunc(r.boots, func(b boot) bool { return b.newest >= r.day.First() })
}

// seal decides what is long enough past.
func (k *book) seal(now Minute) {
	for i := range k.days {
		k.days[i].seal(&k.rules, max(now, sealLag-1)-(sealLag-1))
	}
	k.chain(1)
}

// forgetBefore drops of the day before what is more than 24 hours ago.
func (r *Record) forgetBefore(now Minute) {
	hour := hoursADay
	if now.Day() <= r.day {
		hour = now.hour().ofDay()
	}
	if now.Day() < r.day {
		hour = 0
	}
	for h := range hour {
		r.before.bytes[h], r.before.hours[h] = 0, 0
	}
	for step := range hour / signalHours {
		r.before.signals[step] = samples{}
	}
}

// Folded says that the records are written: the days that are over for good
// need not be in memory any more.
func (t *Table) Folded(l *Live) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 || l.done == 0 {
		return
	}
	k := t.unpack(l)
	k.drop(min(int(l.done), len(k.days)-1))
	l.done = 0
	t.pack(l, k, l.hour, l.boot)
}

// Unfold says that the records could not be written.
func (t *Table) Unfold(l *Live) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed != 0 {
		l.done = 0
		l.dirty.Store(true)
	}
}

// Restore joins a record into memory: at the start, and on every other node
// after one of them has folded. The live is clean if the record knew it all.
func (t *Table) Restore(l *Live, r *Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 {
		return
	}
	k := t.unpack(l)
	k.restore(r)
	l.done = 0
	newest := k.newest()
	if len(k.days) == 1 && newest.sameDay(r) {
		l.dirty.Store(false)
	}
	at := max(l.hour, Minute(newest.last.at/microMinute).hour())
	t.pack(l, k, at, l.boot)
	t.show(l)
}

// sameDay reports whether both say the same of one day.
func (r *Record) sameDay(other *Record) bool {
	a, b := *r, *other
	for _, c := range [...]*Record{&a, &b} {
		c.before, c.past, c.early, c.fresh = before{}, [pastDays]sum{}, false, false
	}
	var x, y [512]byte
	return bytes.Equal(a.appendBody(x[:0]), b.appendBody(y[:0]))
}

// Peek gives a copy of a record, decided up to and including now, with what
// memory knows of its day. Without a record it is that of today.
func (t *Table) Peek(l *Live, r *Record, now time.Time) *Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	minute := MinuteOf(now)
	k := t.unpack(l)
	var out *Record
	switch {
	case r == nil:
		if own := k.day(minute.Day()); own != nil {
			out = own.copy()
		} else {
			out = k.newest().copy()
		}
	case len(k.days) == 0 || r.day < k.days[0].day:
		out = r.copy()
	default:
		out = k.day(r.day).copy()
		out.join(r)
	}
	out.seal(&k.rules, minute+1)
	return out
}
