package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/vitals"
)

// Run works until ctx ends: it writes beats, marks that the service is up, folds
// and announces. When it returns, every beat that was acknowledged is durable.
func (t *Telemetry) Run(ctx context.Context) {
	var jobs sync.WaitGroup
	jobs.Go(func() { t.write(ctx) })
	jobs.Go(func() { t.every(ctx, markInterval, nil, "note that the service is up", t.mark) })
	jobs.Go(func() { t.every(ctx, foldLook, t.foldDue, "fold the heartbeats", t.foldIfDue) })
	jobs.Go(func() { t.every(ctx, watchInterval, nil, "announce who is online", t.announce) })
	jobs.Go(func() { t.every(ctx, refreshInterval, nil, "refresh what memory shows", t.refresh) })
	jobs.Wait()
}

const (
	foldLook        = time.Second
	watchInterval   = time.Second
	refreshInterval = time.Second
)

// every does something now, at each tick, and when it is called for, until ctx
// ends. What fails is tried again at the next tick, and said once.
func (t *Telemetry) every(ctx context.Context, interval time.Duration, due <-chan struct{}, what string, do func(context.Context) error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	failing := false
	for {
		err := do(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			t.Log.Error("cannot "+what+"; trying again", "err", err)
		case err == nil && failing:
			t.Log.Info("can " + what + " again")
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-due:
		}
	}
}

// foldIfDue folds when enough time has passed by the data's clock.
func (t *Telemetry) foldIfDue(ctx context.Context) error {
	now := vitals.MinuteOf(t.Now())
	folded, _ := t.folds.last()
	if now >= folded && now < folded+foldEvery {
		return nil
	}
	return t.fold(ctx)
}

// refresh brings what memory shows in step with the clock, once a minute.
func (t *Telemetry) refresh(context.Context) error {
	now := t.Now()
	minute := vitals.MinuteOf(now)
	switch {
	case minute == t.refreshed:
		return nil
	case minute < t.refreshed:
		t.Table.ClockBack(now)
		t.doubt.Store(true)
	}
	t.Table.Refresh(now)
	t.refreshed = minute
	return nil
}
