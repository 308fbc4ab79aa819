package heartbeat

import (
	"bytes"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// decisionLag is how many minutes later a minute is decided.
const decisionLag = 3

// FinalLag is for how many minutes of a new day the day before stays in memory, for
// beats that arrive late.
const FinalLag = 5

// FinalAt returns the day before which a fold at now makes every day final, provided
// that no beat of those days can still arrive. The record of a final day does not
// change any more.
func FinalAt(now beacon.Minute) beacon.Day { return (max(now, FinalLag) - FinalLag).Day() }

// Moment says what is known of the time.
type Moment struct {
	Certain time.Time  // the latest moment that is certain
	Now     time.Time  // what the clock says, if that is later
	Final   beacon.Day // days before it become final; 0: the time is unknown, and so is the rest
	// Back is when a clock that was ahead was last set right: what it decided is decided
	// again.
	Back beacon.Minute
	// Latest is the last minute that has begun by any clock. Beats of later ones arrived
	// while a clock was ahead: only their traffic counts.
	Latest beacon.Minute
}

// Fold returns the records to write, oldest day first: today's, and that of each
// earlier day that is not final yet. Memory must hold all that records say: Restore them
// before. The Live is clean afterwards; call Folded once the records are written, or Unfold
// if they could not be.
//
// Beats of days that are not certain, which arrived while a clock was ahead or before it
// was known to be right, are written too; but nothing after what is certain is decided,
// and no day begins.
func (t *Table) Fold(l *Live, at Moment) (records []*Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 {
		return nil
	}
	k := t.unpack(l)
	minute := beacon.MinuteOf(at.Certain)
	if at.Final > 0 && len(k.days) > 0 && k.days[0].day <= at.Latest.Day() { // otherwise ClockBack is to come
		k.cut(max(at.Certain.UnixMicro(), at.Now.UnixMicro()), at.Latest)
	}
	if k.addMissing(minute); len(k.days) == 0 {
		l.dirty.Store(false)
		return nil
	}
	if at.Final > 0 {
		for i := range k.days {
			k.days[i].undecide(at.Back, minute)
		}
		k.forgetPrior(minute)
	}
	l.done = uint8(k.fold(minute, at.Final, func(r *Record) { records = append(records, r.copy()) }))
	t.pack(l, k, max(l.hour, hourOf(minute)), l.boot)
	t.show(l)
	l.dirty.Store(false)
	return records
}

// fold decides what is old enough and calls each with the records to write, which are
// read-only. It returns how many of the first days are final once they are written.
func (k *openDays) fold(now beacon.Minute, final beacon.Day, each func(*Record)) (done int) {
	k.decide(now)
	for i := range k.days {
		day := &k.days[i]
		if day.day > now.Day() && !day.hasBeats() {
			continue
		}
		day.forgetBefore(now)
		if i > 0 && k.days[i-1].over(final) {
			k.recall(day, now)
		}
		early, fresh := day.early, day.alone
		day.early, day.alone = i > 0 && early && !k.days[i-1].over(final), false
		each(day)
		day.early, day.alone = early, fresh
		if done == i && i < len(k.days)-1 && day.over(final) {
			done++
		}
	}
	return done
}

// over reports whether the day is final, given that those before final are.
func (r *Record) over(final beacon.Day) bool { return r.day < final && r.AllDecided() }

// hasBeats reports whether any beat arrived on the day.
func (r *Record) hasBeats() bool {
	return slices.ContainsFunc(r.boots, func(b boot) bool { return b.newest >= r.day.Midnight() })
}

// decide decides, for good, the minutes that are old enough.
func (k *openDays) decide(now beacon.Minute) {
	k.decideUpTo(len(k.days)-1, max(now, decisionLag-1)-(decisionLag-1))
	k.chain(1)
}

// decideUpTo decides the minutes before one of the days up to an index.
func (k *openDays) decideUpTo(last int, before beacon.Minute) {
	var prev *Record
	for i := range k.days[:last+1] {
		k.days[i].decide(&k.rules, prev, before)
		prev = &k.days[i]
	}
}

// forgetBefore drops what is more than 24 hours ago from the previous day.
func (r *Record) forgetBefore(now beacon.Minute) {
	hour := hoursADay
	if now.Day() <= r.day {
		hour = hourOf(now).ofDay()
	}
	if now.Day() < r.day {
		hour = 0
	}
	clear(r.before.bytes[:hour])
	clear(r.before.hours[:hour])
	clear(r.before.signals[:hour/signalHours])
}

// Folded says that the records are written: final days are dropped from memory.
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

// Restore merges a record into memory: at startup, and on the other nodes after one has
// folded. The Live is clean if the record has everything that memory has.
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
	at := max(l.hour, hourOf(beacon.Minute(newest.last.at/microMinute)))
	t.pack(l, k, at, l.boot)
	t.show(l)
}

// sameDay reports whether both records say the same of their day.
func (r *Record) sameDay(other *Record) bool {
	a, b := *r, *other
	for _, c := range [...]*Record{&a, &b} {
		c.before, c.past, c.early, c.alone = before{}, [pastDays]sum{}, false, false
	}
	var x, y [512]byte
	return bytes.Equal(a.appendBody(x[:0]), b.appendBody(y[:0]))
}
