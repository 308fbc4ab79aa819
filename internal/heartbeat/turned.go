package heartbeat

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/id"
)

// Turned returns the hotspots that maps do not show as they are. A hotspot is online if
// it is in service and its last beat came at since, in µs since 1970, or later. Turned
// also returns the oldest last beat of those online: the first to go offline. Like
// Silent, it is one pass over all.
func (t *Table) Turned(since int64) (turned []id.Raw, oldest int64) {
	oldest = math.MaxInt64
	for from := 0; ; from += slabSize {
		if more := t.turned(since, from, &turned, &oldest); !more {
			return turned, oldest
		}
	}
}

func (t *Table) turned(since int64, from int, turned *[]id.Raw, oldest *int64) (more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for slot := from; slot < min(from+slabSize, t.used); slot++ {
		l := &t.lives[slot/slabSize][slot%slabSize]
		seen := l.seen.Load()
		online := seen != 0 && seen >= since && l.active != 0 && l.state&departed == 0
		if online {
			*oldest = min(*oldest, seen)
		}
		if online != l.lit.Load() {
			*turned = append(*turned, t.names[slot/slabSize][slot%slabSize])
		}
	}
	return from+slabSize < t.used
}
