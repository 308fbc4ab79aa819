// Package job repeats what must be done again and again while a process lives.
package job

import (
	"context"
	"log/slog"
	"time"
)

// Every does something now, at each tick, and when it is called for, until ctx
// ends. What fails is tried again at the next tick; that it fails is said once,
// and so is that it works again. What completes "cannot …".
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
