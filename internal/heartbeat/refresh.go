package heartbeat

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// chunk is how many Lives Refresh handles at a time, so that beats wait for less than a
// millisecond.
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
		if l.state&placed == 0 || l.state&deleted != 0 || len(t.book(l)) == 0 {
			continue
		}
		if hour := hourOf(now); l.hour < hour || l.hour == hour && l.until < now {
			k := t.unpack(l)
			k.roll(now)
			t.pack(l, k, hour, l.boot)
		}
		if l.days > 1 && now.OfDay() >= FinalLag {
			l.dirty.Store(true)
		}
		t.show(l)
	}
	return from+chunk < t.used
}
