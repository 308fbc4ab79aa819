package rewards

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/job"
	"github.com/beacon-wifi/beacon/internal/lease"
)

const (
	lookInterval = time.Second

	// steadyFor is how long the clock must have run steadily before this process
	// trusts it that a day is over: a day closed by a wrong clock stays closed.
	// steadyForLong applies when many days seem to be over. It is short enough that a
	// server restarted every day still closes them.
	steadyFor     = 10 * time.Minute
	steadyForLong = time.Hour
)

// Run closes days and settles months while this process holds the lease, until ctx
// ends.
func (r *Rewards) Run(ctx context.Context) {
	job.Every(ctx, lookInterval, nil, r.Log, "close days and settle months", r.step)
}

// CatchUp closes and settles all that is due now, once. It is for callers that do not
// Run.
func (r *Rewards) CatchUp(ctx context.Context) error { return r.step(ctx) }

func (r *Rewards) step(ctx context.Context) error {
	r.entitled(0) // sample the clock, lease holder or not
	if err := r.consult(ctx); err != nil {
		return err
	}
	if err := r.adopt(ctx); err != nil {
		return err
	}
	if err := r.closeDays(ctx); err != nil {
		return err
	}
	return r.settleDue(ctx)
}

// entitled returns the lease under which this process may close and settle, and
// whether it holds it and its clock has been steady for long enough.
func (r *Rewards) entitled(steady time.Duration) (lease.Lease, bool) {
	even := r.clock.At(r.Now(), r.machine(), r.Rate)
	held, keeper := r.Keeper()
	return held, keeper && even >= steady
}

// bySchedule is the actor of a settlement that happens on schedule.
var bySchedule = beacon.Actor{Request: "schedule"}

// settleDue settles the months whose grace period is over.
func (r *Rewards) settleDue(ctx context.Context) error {
	for {
		if _, ok := r.entitled(steadyFor); !ok {
			return nil
		}
		v, err := r.view(ctx, nil)
		month := v.month
		if err != nil || !v.begun || v.first <= month.Last() || !r.over((month + 1).Start().Add(Grace)) {
			return err
		}
		began := time.Now()
		report, err := r.Settle(ctx, bySchedule, month, false, func(done, _ int) { r.shown.settling(done) })
		r.shown.settling(0)
		if err != nil {
			return err
		}
		r.Log.Info("month settled", "month", month.String(), "statements", report.Statements, "written", report.Written,
			"total", report.Total.String(), "took_ms", time.Since(began).Milliseconds())
	}
}
