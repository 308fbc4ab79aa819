package rewards

import (
	"context"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// farBehind is how many days a clock that has been steady only for steadyFor may
// close at once. With more, either nothing was closed for long, or the clock is far
// ahead and would close days that have not come.
const farBehind = 3

// closeDays closes every day whose records are final, in order.
func (r *Rewards) closeDays(ctx context.Context) error {
	for {
		v, err := r.view(ctx, nil)
		if err != nil {
			return err
		}
		r.shown.seen(v)
		if _, ok := r.mayClose(v.first, v.begun); !ok {
			return nil
		}
		if err := r.closeDay(ctx, v); err != nil {
			return fmt.Errorf("close %s: %w", v.first, err)
		}
	}
}

// mayClose returns the lease under which this process may close a day now. It is
// called again for each page, because a lease can be lost and a clock corrected.
func (r *Rewards) mayClose(day beacon.Day, begun bool) (lease.Lease, bool) {
	final, ok := r.Telemetry.FinalBefore()
	if !ok || day >= final {
		return lease.Lease{}, false
	}
	if !r.over((day + 1).Time()) {
		return lease.Lease{}, false
	}
	steady := steadyFor
	if begun && final-day > farBehind {
		steady = steadyForLong
	}
	return r.entitled(steady)
}

// closeDay writes one row for each hotspot that was in service on a day, and the sums
// that follow from the rows. It resumes where an earlier run stopped.
func (r *Rewards) closeDay(ctx context.Context, v view) error {
	if err := r.adopt(ctx); err != nil {
		return err
	}
	began := time.Now()
	page := ledger.Page{Day: v.first}
	rows := 0
	if v.begun && v.closing.Day == v.first {
		page.From, rows = v.closing.Upto, v.closing.Hotspots
	}
	ctx, cancel := context.WithCancel(ctx)
	batches := r.readAhead(ctx, page.Day, page.From)
	defer func() {
		cancel()
		for range batches { // until the reader has ended
		}
	}()
	for batch := range batches {
		held, ok := r.mayClose(page.Day, v.begun)
		if !ok {
			return nil
		}
		if batch.err != nil {
			return batch.err
		}
		if err := r.closePage(ctx, held, page, batch); err != nil {
			return err
		}
		rows += len(batch.rows)
		r.shown.closing(rows)
		page.From = batch.upto
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.shown.closed(page.Day)
	r.Log.Info("day closed", "day", page.Day.String(), "hotspots", rows, "took_ms", time.Since(began).Milliseconds())
	return nil
}
