package telemetry

import (
	"context"
	"time"
)

const HotspotsAtATime = hotspotsAtATime

// The jobs of Run, for tests that do them one by one.

func (t *Telemetry) Write(ctx context.Context)          { t.write(ctx) }
func (t *Telemetry) Fold(ctx context.Context) error     { return t.fold(ctx) }
func (t *Telemetry) Mark(ctx context.Context) error     { return t.mark(ctx) }
func (t *Telemetry) Announce(ctx context.Context) error { return t.announce(ctx) }
func (t *Telemetry) Refresh(ctx context.Context) error  { return t.refresh(ctx) }

// SetTimeouts is for tests in which the database is slow or hangs.
func (t *Telemetry) SetTimeouts(slow, hangs time.Duration) {
	t.batcher.timeout, t.batcher.hangTimeout = slow, hangs
}
