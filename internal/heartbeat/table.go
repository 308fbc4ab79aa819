package heartbeat

import (
	"bytes"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

const (
	slabSize = 1024
	// quarantine is how many removed Lives are set aside before the oldest is reused: a
	// caller may still hold it for a moment.
	quarantine = 4 * slabSize
)

// Table holds the Live of every hotspot. It is safe for concurrent use.
type Table struct {
	service *Outages

	mu     sync.Mutex
	lives  []*[slabSize]Live
	packed []*[slabSize][]byte // open days in packed form, by slot
	names  []*[slabSize]id.Raw // hotspot ids, by slot
	used   int
	free   []uint32
	now    beacon.Minute // of the last Refresh

	timelines     []*timeline // [0] is always open
	freeTimelines []uint32
	places        map[string]uint32 // index in timelines, by key

	past map[uint32][]Span // by slot: earlier spans in service, for interrupted ones

	open openDays // of the hotspot that is unpacked: one at a time
	text []byte   // scratch
}

// NewTable returns a table without hotspots. It excuses the outages of s.
func NewTable(s *Outages) *Table {
	t := &Table{service: s, places: map[string]uint32{}, past: map[uint32][]Span{}}
	t.timelines = []*timeline{newTimeline("", &beacon.Hotspot{})}
	return t
}

// Place allocates a Live for a hotspot if l is nil. Otherwise it updates l with what
// the owner changed: activation, operating hours or deletion.
func (t *Table) Place(l *Live, h beacon.Hotspot) *Live {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l == nil {
		l = t.allocate()
		t.names[l.slot/slabSize][l.slot%slabSize], _ = id.Parse(beacon.HotspotPrefix, string(h.ID))
	}
	timeline := t.share(&h)
	t.release(l.timeline)
	l.timeline = timeline
	t.serve(l, &h)
	if len(t.packedDays(l)) > 0 {
		t.pack(l, t.unpack(l), l.hour, l.boot)
		t.show(l)
	}
	return l
}

// Remove forgets a hotspot.
func (t *Table) Remove(l *Live) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 {
		return
	}
	t.release(l.timeline)
	delete(t.past, l.slot)
	t.packed[l.slot/slabSize][l.slot%slabSize] = nil
	l.clear()
	t.free = append(t.free, l.slot)
}

// clear resets what is read of a Live before it is first packed again; pack sets the rest.
// The slot stays.
func (l *Live) clear() {
	l.seen.Store(0)
	l.shown.Store(0)
	l.from.Store(0)
	l.dirty.Store(false)
	for m := range marks {
		l.marks[m].Store(false)
	}
	l.state, l.timeline, l.active, l.uncounted, l.fell, l.done = 0, 0, 0, 0, 0, 0
}

func (t *Table) allocate() *Live {
	var slot uint32
	if len(t.free) > quarantine {
		slot = t.free[0]
		t.free = t.free[1:]
	} else {
		slot = uint32(t.used)
		t.used++
		if int(slot/slabSize) == len(t.lives) {
			t.lives = append(t.lives, new([slabSize]Live))
			t.packed = append(t.packed, new([slabSize][]byte))
			t.names = append(t.names, new([slabSize]id.Raw))
		}
	}
	l := &t.lives[slot/slabSize][slot%slabSize]
	l.slot, l.state = slot, placed
	return l
}

// share returns the index of the timeline for a hotspot's hours, creating it if needed.
func (t *Table) share(h *beacon.Hotspot) uint32 {
	key := timelineKey(h)
	if key == "" {
		return 0
	}
	place, known := t.places[key]
	if !known {
		made := newTimeline(key, h)
		if n := len(t.freeTimelines); n > 0 {
			place = t.freeTimelines[n-1]
			t.freeTimelines = t.freeTimelines[:n-1]
			t.timelines[place] = made
		} else {
			place = uint32(len(t.timelines))
			t.timelines = append(t.timelines, made)
		}
		t.places[key] = place
	}
	t.timelines[place].users++
	return place
}

// release drops one use of a timeline and frees it with the last, so that an operator
// who keeps changing hours costs no memory.
func (t *Table) release(place uint32) {
	if place == 0 {
		return
	}
	if line := t.timelines[place]; line.users > 1 {
		line.users--
	} else {
		delete(t.places, line.key)
		t.timelines[place] = nil
		t.freeTimelines = append(t.freeTimelines, place)
	}
}

func (t *Table) rules(l *Live) rules {
	c := rules{active: l.active, deleted: l.state&deleted != 0, hours: t.timelines[l.timeline], service: t.service}
	if l.state&interrupted != 0 {
		c.past = t.past[l.slot]
	}
	return c
}

// TooLate reports whether a beat is new, but of a day that is final.
func (t *Table) TooLate(l *Live, b *Beat) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 {
		return false
	}
	k := t.unpack(l)
	return !k.knows(b.Boot, b.Seq) && k.day(b.minute().Day()) == nil
}

// packedDays returns the open days of l in packed form, or nothing if it has none yet.
func (t *Table) packedDays(l *Live) []byte { return t.packed[l.slot/slabSize][l.slot%slabSize] }

// unpack decodes the open days of l and adds the current hour to them. Changes count only
// once they are packed again.
func (t *Table) unpack(l *Live) *openDays {
	k := &t.open
	k.rules = t.rules(l)
	k.read(t.packedDays(l))
	if l.state&atHand != 0 {
		r := k.newest() // the current hour is always of the newest day
		hour := l.hour.ofDay()
		r.served.add(hour*60, l.served)
		r.last.join(l.last())
		r.hours[hour] = max(r.hours[hour], l.peak)
		r.signals[hour/signalHours].plus(l.samples)
		if b := r.find(l.boot); b != nil {
			b.hear(l.seqs, 0)
			b.raise(hour, l.bytes)
			b.newest = max(b.newest, l.heardAt)
		}
	}
	k.chain(1)
	return k
}

// pack encodes the open days and makes an hour of the newest the current one, with the
// given boot if it is known there. It reports whether the encoded days have changed. They
// must be unpacked again before they are used.
func (t *Table) pack(l *Live, k *openDays, at hour, boot uint64) (changed bool) {
	r := k.newest()
	at = min(max(at, firstHour(r.day)), firstHour(r.day)+hoursADay-1)
	b := r.find(boot)
	if b == nil {
		b = r.newestBoot()
	}
	l.hour = at
	l.state &^= atHand
	l.samples, l.peak = samples{}, r.hours[at.ofDay()]
	l.served = r.served.from(at.ofDay() * 60)
	if b != nil {
		for later := r.find(b.id + generation); later != nil; later = r.find(b.id + generation) {
			b = later // see judge.go
		}
		l.state |= atHand
		l.boot, l.seqs, l.bytes, l.heardAt = b.id, b.seqs, b.upTo[at.ofDay()], b.newest
	}
	l.setLast(r.last)
	l.days = uint8(len(k.days))

	uptime := k.sum(r, at.ofDay()*60)
	l.before.served, l.before.expected = uint32(uptime.served), uint32(uptime.expected)
	l.heard = r.heard(at.ofDay())
	l.tier, l.until = r.tier(max(at.first(), beacon.Minute(r.last.at/microMinute), min(t.now, at.first()+59)))
	return t.store(l, k)
}

// store writes the open days into the memory they had, if they fit.
func (t *Table) store(l *Live, k *openDays) (changed bool) {
	t.text = k.append(t.text[:0])
	old := &t.packed[l.slot/slabSize][l.slot%slabSize]
	if bytes.Equal(*old, t.text) {
		return false
	}
	const step = 32
	if room := cap(*old); room < len(t.text) || room > len(t.text)+3*step {
		*old = make([]byte, 0, (len(t.text)+step)/step*step)
	}
	*old = append((*old)[:0], t.text...)
	return true
}

// chunk is how many Lives Refresh and ClockBack handle at a time, so that beats wait for
// less than a millisecond.
const chunk = 128

// Refresh updates what is shown, and marks the Lives dirty that hold a day that is
// over. It is called once a minute.
func (t *Table) Refresh(now time.Time) {
	minute := beacon.MinuteOf(now)
	for from := 0; t.refresh(minute, from); from += chunk {
	}
}

func (t *Table) refresh(now beacon.Minute, from int) (more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = now
	for slot := from; slot < min(from+chunk, t.used); slot++ {
		l := &t.lives[slot/slabSize][slot%slabSize]
		if l.state&placed == 0 || l.state&deleted != 0 || len(t.packedDays(l)) == 0 {
			continue
		}
		if hour := hourOf(now); l.hour < hour || l.hour == hour && l.until < now {
			k := t.unpack(l)
			k.day(now.Day()) // a fold adds the days before it: many need much memory
			t.pack(l, k, hour, l.boot)
		}
		if l.days > 1 && now.OfDay() >= FinalLag {
			l.dirty.Store(true)
		}
		t.show(l)
	}
	return from+chunk < t.used
}
