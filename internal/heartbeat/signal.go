package heartbeat

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

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

// join takes the higher counts: both count the same beats.
func (s *samples) join(other samples) {
	for i := range s {
		s[i] = max(s[i], other[i])
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
