package telemetry

import "time"

// Shown is how telemetry is doing, for monitoring.
type Shown struct {
	Taken, Refused int64         // beats since the start; one that was known before is neither
	FoldAge        time.Duration // since the last fold, by the data's clock, to the minute; 0: the start is not over
	FoldTook       time.Duration
	ClockBelieved  bool // else no minute is decided, and no day closed
}

// Shown tells how it is doing.
func (t *Telemetry) Shown() Shown {
	s := Shown{Taken: t.taken.Load(), Refused: t.refused.Load()}
	if t.restored.Load() {
		at, _ := t.folds.last()
		s.FoldAge = max(t.Now().Sub(at.Time()), 0)
	}
	t.folds.mu.Lock()
	s.FoldTook = t.folds.took
	t.folds.mu.Unlock()
	t.certainty.mu.Lock()
	s.ClockBelieved = t.certainty.steady
	t.certainty.mu.Unlock()
	return s
}
