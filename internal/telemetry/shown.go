package telemetry

import "time"

// Shown is the state of telemetry, for monitoring.
type Shown struct {
	Taken, Refused int64         // beats since startup; a repeated one is neither
	FoldAge        time.Duration // since the last fold, by the data's clock, to the minute; 0: startup is not over
	FoldTook       time.Duration
	ClockBelieved  bool // otherwise no minute is sealed, and no day is final
}

// Shown returns the current state.
func (t *Telemetry) Shown() Shown {
	s := Shown{Taken: t.taken.Load(), Refused: t.refused.Load()}
	if t.restored.Load() {
		at, _ := t.folds.last()
		s.FoldAge = max(t.Now().Sub(at.Time()), 0)
	}
	t.folds.mu.Lock()
	s.FoldTook = t.folds.took
	t.folds.mu.Unlock()
	t.trust.mu.Lock()
	s.ClockBelieved = t.trust.steady
	t.trust.mu.Unlock()
	return s
}
