package heartbeat

// windowSize is how many numbers below the highest are told apart.
const windowSize = 64

// seqs remembers which sequence numbers arrived, in 16 bytes: the highest, and which of
// the 64 below it. IPsec detects replayed packets with the same window. Numbers below
// the window count as known.
type seqs struct {
	top    uint64
	window uint64 // bit i: top-1-i arrived
}

func (s seqs) knows(seq uint64) bool {
	if seq >= s.top {
		return seq == s.top
	}
	below := s.top - seq - 1
	return below >= 64 || s.window>>below&1 != 0
}

func (s *seqs) add(seq uint64) { s.join(seqs{top: seq}) }

func (s *seqs) join(other seqs) {
	high, low := *s, other
	if low.top > high.top {
		high, low = low, high
	}
	switch diff := high.top - low.top; {
	case diff == 0:
		high.window |= low.window
	case diff <= 64: // shifts by 64 or more yield 0
		high.window |= low.window<<diff | 1<<(diff-1)
	}
	*s = high
}
