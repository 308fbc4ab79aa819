package heartbeat

import (
	"cmp"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Latest returns the records of a hotspot, by day, as they would be if they were
// written now and sealed up to and including this minute: the given ones, merged with
// those in memory.
func (t *Table) Latest(l *Live, records []*Record, now time.Time) []*Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	minute := beacon.MinuteOf(now)
	k := t.unpack(l)
	k.day(minute.Day())
	byDay := map[beacon.Day]*Record{}
	for _, r := range records {
		byDay[r.day] = r
	}
	for i := range k.days {
		own := k.days[i].copy()
		if r := byDay[own.day]; r != nil {
			own.join(r)
		}
		own.seal(&k.rules, minute+1)
		byDay[own.day] = own
	}
	all := make([]*Record, 0, len(byDay))
	for _, r := range byDay {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Record) int { return cmp.Compare(a.day, b.day) })
	return all
}
