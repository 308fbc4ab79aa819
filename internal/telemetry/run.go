package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
)

// Run runs until ctx ends: it writes beats, marks that the service is up, folds and
// announces. When it returns, every acknowledged beat is durable, and that it was up until
// then.
func (t *Telemetry) Run(ctx context.Context) {
	var jobs sync.WaitGroup
	jobs.Go(func() { t.write(ctx) })
	jobs.Go(func() { clock.Every(ctx, markInterval, nil, t.Log, "record that the service is up", t.mark) })
	jobs.Go(func() { clock.Every(ctx, foldCheckInterval, t.foldDue, t.Log, "fold the heartbeats", t.foldIfDue) })
	jobs.Go(func() { clock.Every(ctx, watchInterval, nil, t.Log, "announce status changes", t.announce) })
	jobs.Go(func() { clock.Every(ctx, refreshInterval, nil, t.Log, "refresh the metrics in memory", t.refresh) })
	jobs.Wait()
	// A service that is stopped was up to its end.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := t.mark(ending); err != nil && !errors.Is(err, errRefusing) {
		t.Log.Warn("that the service was up to its end could not be recorded", "err", err)
	}
}

// endTimeout bounds the last mark, because the database may be down.
const endTimeout = 2 * time.Second

const (
	foldCheckInterval = time.Second
	watchInterval     = time.Second
	refreshInterval   = time.Second
)

// foldIfDue folds when enough time has passed by the data's clock.
func (t *Telemetry) foldIfDue(ctx context.Context) error {
	now := beacon.MinuteOf(t.Clock.Now())
	folded, _ := t.folds.last()
	if now >= folded && now < folded+foldEvery {
		return nil
	}
	return t.fold(ctx)
}

// refresh checks the clock and updates what memory shows: maps each time, figures once
// a minute.
func (t *Telemetry) refresh(context.Context) error {
	r := t.read()
	if r.minute != t.refreshed && !r.strange() {
		t.Fleet.Refresh(r.Now)
		t.refreshed = r.minute
	}
	return t.Fleet.Redraw(r.Now)
}

// Stats is the state of telemetry, for monitoring.
type Stats struct {
	Taken, Refused int64         // beats since startup; a repeated one is neither
	FoldAge        time.Duration // since the last fold, by the data's clock, to the minute; 0: startup is not over
	FoldTook       time.Duration
}

// Stats returns the current state.
func (t *Telemetry) Stats() Stats {
	s := Stats{Taken: t.taken.Load(), Refused: t.refused.Load()}
	if t.restored.Load() {
		at, _ := t.folds.last()
		s.FoldAge = max(t.Clock.Now().Sub(at.Time()), 0)
	}
	t.folds.mu.Lock()
	s.FoldTook = t.folds.took
	t.folds.mu.Unlock()
	return s
}
