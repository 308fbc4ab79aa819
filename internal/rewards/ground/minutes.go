package ground

import (
	"math/bits"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// minutes is those that a hotspot served.
type minutes struct {
	set        *beacon.Minutes
	count      int
	first, end int // words that are not 0 are between these
}

func newMinutes(set *beacon.Minutes) minutes {
	m := minutes{set: set}
	if set == nil {
		return m
	}
	for w, word := range set {
		if word == 0 {
			continue
		}
		if m.count == 0 {
			m.first = w
		}
		m.end = w + 1
		m.count += bits.OnesCount64(word)
	}
	return m
}

// meet reports whether two sets have a minute in common.
func (m *minutes) meet(other *minutes) bool {
	for w := max(m.first, other.first); w < min(m.end, other.end); w++ {
		if m.set[w]&other.set[w] != 0 {
			return true
		}
	}
	return false
}

var wholeDay = func() (day beacon.Minutes) {
	for i := range beacon.MinutesADay {
		day[i/64] |= 1 << (i % 64)
	}
	return day
}()
