package rewards

import (
	"context"
	"math"
	"time"

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/job"
)

const (
	lookInterval = time.Second

	// steadyFor is how long the clock must have run evenly before it is believed
	// that a day is over: what is closed by a clock that was wrong for a while stays
	// closed.
	steadyFor = 10 * time.Minute

	// jump is how far the clock may run off from the machine's monotonic one
	// between two looks before it counts as set by someone.
	jump = 30 * time.Second
)

// Run closes days and settles months while this process is the one to do so,
// until ctx ends.
func (r *Rewards) Run(ctx context.Context) {
	job.Every(ctx, lookInterval, nil, r.Log, "close days and settle months", r.step)
}

func (r *Rewards) step(ctx context.Context) error {
	steady := r.clock.at(r.Now(), time.Now(), r.Rate)
	held, keeper := r.Keeper()
	if !steady || !keeper {
		return nil
	}
	if err := r.closeDays(ctx, held); err != nil {
		return err
	}
	return r.settleDue(ctx)
}

// bySchedule is who settles when the time has come.
var bySchedule = beacon.Actor{Request: "schedule"}

// settleDue settles the months whose grace is over.
func (r *Rewards) settleDue(ctx context.Context) error {
	for {
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

// steadiness tells for how long a clock has run evenly.
type steadiness struct {
	since time.Time // by the clock
	last  time.Time // the last look, by the clock
	real  time.Time // the same, by the machine's
}

// at takes a look, and reports whether the clock can be believed. Of a clock
// whose rate nobody knows nothing can be told.
func (s *steadiness) at(now, real time.Time, rate float64) bool {
	now = now.Round(0)
	passed, truly := now.Sub(s.last), time.Duration(float64(real.Sub(s.real))*rate)
	if s.since.IsZero() || math.Abs(float64(passed-truly)) > float64(jump)*max(rate, 1) {
		s.since = now
	}
	s.last, s.real = now, real
	return rate == 0 || now.Sub(s.since) >= steadyFor
}
