package rewards

import "time"

// InPagesOf makes pages small, so that few hotspots need many.
func (r *Rewards) InPagesOf(n int) { r.pageSize = n }

// ByMachine replaces the machine's clock.
func (r *Rewards) ByMachine(now func() time.Time) { r.machine = now }
