package heartbeat

import "github.com/beacon-wifi/beacon/internal/id"

// Silent returns the hotspots that were announced as online and no longer are: their
// last beat came before a time, in µs since 1970, or they are not in service any more.
// It scans a million in some hundredths of a second.
func (t *Table) Silent(before int64) (all []id.Raw) {
	for from := 0; ; from += slabSize {
		more := t.silent(before, from, &all)
		if !more {
			return all
		}
	}
}

func (t *Table) silent(before int64, from int, all *[]id.Raw) (more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for slot := from; slot < min(from+slabSize, t.used); slot++ {
		l := &t.lives[slot/slabSize][slot%slabSize]
		if l.announced.Load() && (l.seen.Load() < before || l.active == 0) {
			*all = append(*all, t.names[slot/slabSize][slot%slabSize])
		}
	}
	return from+slabSize < t.used
}
