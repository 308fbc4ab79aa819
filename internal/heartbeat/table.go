package heartbeat

import (
	"sync"

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
	packed []*[slabSize][]byte // packed books, by slot
	names  []*[slabSize]id.Raw // hotspot ids, by slot
	used   int
	free   []uint32
	now    beacon.Minute // of the last Refresh

	timelines     []*timeline // [0] is always open
	freeTimelines []uint32
	places        map[string]uint32 // index in timelines, by key

	past map[uint32][]Span // by slot: earlier spans in service, for interrupted ones

	open openDays // the unpacked book: one at a time
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
	if len(t.book(l)) > 0 {
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

// clear resets everything but the slot.
func (l *Live) clear() {
	slot := l.slot
	l.seen.Store(0)
	l.shown.Store(0)
	l.from.Store(0)
	l.dirty.Store(false)
	for m := range marks {
		l.marks[m].Store(false)
	}
	l.state, l.timeline, l.active, l.uncounted, l.fell = 0, 0, 0, 0, 0
	l.slot = slot
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
