package heartbeat

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Mark is a place where someone was told whether a hotspot is online. The caller
// decides what to tell; a Live only remembers it.
type Mark uint8

// The marks.
const (
	Announced Mark = iota // events
	OnMap                 // the coverage map
	marks
)

// Marked reports whether the hotspot was last told to be online.
func (l *Live) Marked(m Mark) bool { return l.marks[m].Load() }

// SetMark records what was told.
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
