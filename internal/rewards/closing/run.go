package closing

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

const stepInterval = time.Second

// Run closes days and settles months while this process holds the lease, until ctx
// ends.
func (r *Closer) Run(ctx context.Context) {
	clock.Every(ctx, stepInterval, nil, r.Log, "close days and settle months", r.Step)
}

// Step closes and settles all that is due now.
func (r *Closer) Step(ctx context.Context) error {
	if err := r.Reload(ctx); err != nil {
		return err
	}
	if _, holder := r.Lease(); holder {
		if err := r.holds.ReleaseDue(ctx); err != nil {
			return err
		}
	}
	if err := r.closeDays(ctx); err != nil {
		return err
	}
	return r.settleDue(ctx)
}

// entitled returns the lease under which this process may close and settle, and
// whether it holds it and its clock has been steady for long enough.
func (r *Closer) entitled(steady time.Duration) (lease.Lease, bool) {
	held, holder := r.Lease()
	return held, holder && r.Clock.Read().Steady >= steady
}

// settleDue settles the months whose grace period is over.
func (r *Closer) settleDue(ctx context.Context) error {
	for {
		if _, ok := r.entitled(clock.SteadyFor); !ok {
			return nil
		}
		v, err := r.View(ctx, nil)
		month := v.Month
		if err != nil || !v.Begun || v.First <= month.Last() || !r.Clock.Over((month + 1).Start().Add(rewards.Grace)) {
			return err
		}
		began := time.Now()
		report, err := r.Settle(ctx, rewards.BySchedule, month, false, func(done, _ int) { r.shown.sums.Store(int64(done)) })
		r.shown.sums.Store(0)
		if err != nil {
			return err
		}
		r.Log.Info("month settled", "month", month.String(), "statements", report.Statements, "written", report.Written,
			"total", report.Total.String(), "took_ms", time.Since(began).Milliseconds())
	}
}

// Progress is how far the ledger is, and what this process is working on.
type Progress struct {
	Through   time.Time // the end of the last day closed, by any process; zero: none known
	Unclosed  int       // days over and not closed: one, for some minutes after midnight
	Unsettled int       // months not settled although their grace period is over
	Closing   int       // hotspots done of the day being closed; 0: none
	Settling  int       // sums and statements done of the month being settled; 0: none
}

// Progress returns the progress, for monitoring.
func (r *Closer) Progress() (p Progress) {
	if first := beacon.Day(r.shown.first.Load()); first != 0 {
		p.Unclosed = max(int(r.Today()-first), 0)
		if r.shown.begun.Load() {
			p.Through = first.Time()
		}
	}
	if month := beacon.Month(r.shown.month.Load()); month != 0 {
		p.Unsettled = rewards.Unsettled(month, r.Clock.Now())
	}
	p.Closing, p.Settling = int(r.shown.rows.Load()), int(r.shown.sums.Load())
	return p
}

// progress is what Progress is computed from. Its fields are set while days are closed and
// months settled, and read at any time.
type progress struct {
	first      atomic.Int64 // the first day that is not closed; 0: unknown
	begun      atomic.Bool  // the day before it is closed
	month      atomic.Int64 // the first month that is not settled; 0: unknown
	rows, sums atomic.Int64
}

func (p *progress) closed(day beacon.Day) {
	p.rows.Store(0)
	p.first.Store(int64(day) + 1)
	p.begun.Store(true)
}

// seen records how far the ledger is, whichever process wrote it.
func (p *progress) seen(v rewards.View) {
	p.first.Store(int64(v.First))
	p.begun.Store(v.Begun)
	p.month.Store(int64(v.Month))
}
