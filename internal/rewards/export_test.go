package rewards

import "context"

// InPagesOf makes pages small, so that few hotspots need many.
func (r *Rewards) InPagesOf(n int) { r.pageSize = n }

// Step is what Run does each second.
func (r *Rewards) Step(ctx context.Context) error { return r.step(ctx) }
