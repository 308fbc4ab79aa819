package rewards

import (
	"context"
	"time"
)

// InPagesOf makes pages small, so that few hotspots need many.
func (r *Rewards) InPagesOf(n int) { r.pageSize = n }

// Step is what Run does each second.
func (r *Rewards) Step(ctx context.Context) error { return r.step(ctx) }

// ByMachine replaces the machine's clock.
func (r *Rewards) ByMachine(now func() time.Time) { r.machine = now }
