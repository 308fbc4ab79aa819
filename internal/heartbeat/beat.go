package heartbeat

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Beat is one heartbeat, with its hotspot and when it arrived.
type Beat struct {
	Hotspot id.Raw
	At      int64 // µs since 1970, by the server's clock
	beacon.Heartbeat

	// Back is set for a beat that arrives while its hotspot is closed: its traffic was
	// carried that many hours before, as late as the hotspot was open. If that is before
	// the day of the beat, the traffic still counts on it.
	Back uint8

	// Fell is set by Judge: the counters are lower than before in the same boot, and the
	// device did not say why. It is not journaled.
	Fell bool
}

// valid reports whether the time is in range. Beats of a broken clock are refused,
// since they belong to no day.
func (b *Beat) valid() bool { return b.At >= 0 && b.At/microMinute <= int64(beacon.LastMinute) }

func (b *Beat) minute() beacon.Minute { return beacon.Minute(b.At / microMinute) }

// tie orders beats of the same moment, in the same way on every node.
func (b *Beat) tie() uint32 { return uint32(uint16(b.Seq))<<16 | uint32(uint16(b.Boot)) }

// most is the highest number of clients that is counted; no access point has more.
const most = 1<<16 - 1

func (b *Beat) clients() uint16 { return uint16(min(max(b.Clients, 0), most)) }

// last is the newest beat: the one with the latest time.
type last struct {
	at      int64
	tie     uint32
	clients uint16
}

func (l last) before(other last) bool {
	if l.at != other.at {
		return l.at < other.at
	}
	if l.tie != other.tie {
		return l.tie < other.tie
	}
	return l.clients < other.clients
}

func (l *last) join(other last) {
	if l.before(other) {
		*l = other
	}
}

// windowSize is how many numbers below the highest are distinguished: as many as a word has
// bits.
const windowSize = 64

// seqs remembers which sequence numbers arrived, in 16 bytes: the highest, and which of
// the windowSize below it. IPsec detects replayed packets with the same window. Numbers below
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
	return below >= windowSize || s.window>>below&1 != 0
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
	case diff <= windowSize: // shifts by 64 or more yield 0
		high.window |= low.window<<diff | 1<<(diff-1)
	}
	*s = high
}

// Signal samples are counted in steps of three hours, to keep a million hotspots small.
// So "24 hours" (decision N14) are the current step and the eight before it.
const (
	signalHours = 3
	signalSteps = hoursADay / signalHours
)

// samples counts the four qualities of signal, from poor to excellent.
type samples [4]uint16

func (s *samples) add(signal beacon.Signal) {
	if signal == beacon.NoSignal || signal > beacon.ExcellentSignal {
		return
	}
	if n := &s[signal-1]; *n < math.MaxUint16 {
		*n++
	}
}

// plus adds the counts of other beats.
func (s *samples) plus(other samples) {
	for i := range s {
		s[i] = uint16(min(uint32(s[i])+uint32(other[i]), math.MaxUint16))
	}
}

// median returns the quality of the middle sample, or the better of the middle two.
func median(a, b samples) beacon.Signal {
	total := 0
	for i := range a {
		total += int(a[i]) + int(b[i])
	}
	if total == 0 {
		return beacon.NoSignal
	}
	better := 0
	for i := len(a) - 1; i > 0; i-- {
		if better += int(a[i]) + int(b[i]); 2*better >= total {
			return beacon.Signal(i + 1)
		}
	}
	return beacon.PoorSignal
}

// hour counts hours since 1970, UTC.
type hour uint32

const (
	hoursADay   = 24
	microMinute = 60_000_000
)

func hourOf(m beacon.Minute) hour { return hour(m / 60) }

// firstHour returns the hour at which a day begins.
func firstHour(d beacon.Day) hour { return hour(d) * hoursADay }

func (h hour) first() beacon.Minute { return beacon.Minute(h) * 60 }

func (h hour) day() beacon.Day { return beacon.Day(h / hoursADay) }

// ofDay returns the hour, counted from midnight.
func (h hour) ofDay() int { return int(h % hoursADay) }
