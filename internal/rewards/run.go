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

	// steadyFor is how long the clock must have run evenly before it is believed
	// that a day is over: what is closed by a clock that was wrong for a while stays
	// closed. steadyForLong is for when many days seem to be over; a server that is
	// started anew every day must still come to close them.
	steadyFor     = 10 * time.Minute
	steadyForLong = time.Hour
)

// Run closes days and settles months while this process is the one to do so,
// until ctx ends.
func (r *Rewards) Run(ctx context.Context) {
	job.Every(ctx, lookInterval, nil, r.Log, "close days and settle months", r.step)
}

// CatchUp closes and settles all that is due now, once: for who does not Run.
func (r *Rewards) CatchUp(ctx context.Context) error { return r.step(ctx) }

func (r *Rewards) step(ctx context.Context) error {
	r.entitled(0) // a look at the clock, whoever is the keeper
	if err := r.adopt(ctx); err != nil {
		return err
	}
	if err := r.closeDays(ctx); err != nil {
		return err
	}
	return r.settleDue(ctx)
}

// entitled answers the lease under which this process may close and settle, if it
// is the one to do so, and its clock has run evenly for long enough.
func (r *Rewards) entitled(steady time.Duration) (lease.Lease, bool) {
	even := r.clock.At(r.Now(), time.Now(), r.Rate)
	held, keeper := r.Keeper()
	return held, keeper && even >= steady
}

// bySchedule is who settles when the time has come.
var bySchedule = beacon.Actor{Request: "schedule"}

// settleDue settles the months whose grace is over.
func (r *Rewards) settleDue(ctx context.Context) error {
	for {
		if _, ok := r.entitled(steadyFor); !ok {
			return nil
		}
		v, err := r.view(ctx, nil)
		month := v.month
		if err != nil || !v.begun || v.first <= month.Last() || r.Now().Before((month + 1).Start().Add(Grace)) {
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
