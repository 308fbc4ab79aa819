package clock

import (
	"context"
	"log/slog"
	"time"
)

// Every calls do now, at each tick and whenever due receives, until ctx ends. After a
// failure it tries again at the next tick. It logs the first failure, and the recovery.
// what completes "cannot …" in the log.
func Every(ctx context.Context, interval time.Duration, due <-chan struct{}, log *slog.Logger, what string, do func(context.Context) error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	failing := false
	for {
		err := do(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			log.Error("cannot "+what+"; trying again", "err", err)
		case err == nil && failing:
			log.Info("can " + what + " again")
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

// Pause waits, and returns false if ctx ended.
func Pause(ctx context.Context, d time.Duration) bool {
	waiting, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-waiting.Done()
	return ctx.Err() == nil
}
