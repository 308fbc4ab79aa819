package rewards

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/lease"
	"github.com/beacon-wifi/beacon/ledger"
	"github.com/beacon-wifi/beacon/policy"
)

// farBehind is how many days may be closed at once by a clock that has been
// steady for some minutes only. When there are more, either nobody closed for
// long, or the clock is far ahead and would close days that have not come.
const farBehind = 3

// closeDays closes every day whose records are final, one after the other.
func (r *Rewards) closeDays(ctx context.Context) error {
	for {
		v, err := r.view(ctx, nil)
		if err != nil {
			return err
		}
		if _, ok := r.mayClose(v.first, v.begun); !ok {
			return nil
		}
		if err := r.closeDay(ctx, v); err != nil {
			return fmt.Errorf("close %s: %w", v.first, err)
		}
	}
}

// mayClose answers the lease under which this process may close a day, now. It is
// asked again for each page: a lease can be lost, and a clock be set right.
func (r *Rewards) mayClose(day beacon.Day, begun bool) (lease.Lease, bool) {
	final, ok := r.Telemetry.FinalBefore()
	if !ok || day >= final {
		return lease.Lease{}, false
	}
	steady := steadyFor
	if begun && final-day > farBehind {
		steady = steadyForLong
	}
	return r.entitled(steady)
}

// closeDay writes one row for each hotspot that was in service on a day, and
// what follows from it. It goes on where it was left.
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
	for more := true; more; {
		held, ok := r.mayClose(page.Day, v.begun)
		if !ok {
			return nil
		}
		var err error
		if page, more, err = r.closePage(ctx, held, page); err != nil {
			return err
		}
		rows += len(page.Rows)
		r.shown.closing(rows)
		page = ledger.Page{Day: page.Day, From: page.Upto}
	}
	r.shown.closed(page.Day)
	r.Log.Info("day closed", "day", page.Day.String(), "hotspots", rows, "took_ms", time.Since(began).Milliseconds())
	return nil
}

// closePage fills a page, which begins where the closing is, and writes it.
func (r *Rewards) closePage(ctx context.Context, held lease.Lease, page ledger.Page) (_ ledger.Page, more bool, err error) {
	records, upto, more, err := r.Store.OwnedRecords(ctx, page.Day, page.From, r.pageSize)
	if err != nil {
		return page, false, err
	}
	if page.Upto = upto; !more {
		page.Done = r.Now()
	}
	if err := r.fill(ctx, &page, records); err != nil {
		return page, false, err
	}
	return page, more, r.Store.PutPage(ctx, held, page)
}

// fill makes the rows of a page, and the sums that they lead to.
func (r *Rewards) fill(ctx context.Context, page *ledger.Page, records []beacon.OwnedRecord) error {
	var err error
	if page.Rows, err = r.rowsOf(page.Day, records); err != nil || len(page.Rows) == 0 {
		return err
	}
	first, last := page.Rows[0].Owned, page.Rows[len(page.Rows)-1].Owned
	hotspots, err := r.Store.HotspotMonths(ctx, page.Day.Month(), first, last)
	if err != nil {
		return err
	}
	users, err := r.Store.UserMonths(ctx, page.Day.Month(), first.User, last.User)
	if err != nil {
		return err
	}
	page.Basis = ledger.BasisOf(hotspots, users)
	addRows(page, hotspots, users)
	return nil
}

// rowsOf decides what each hotspot earned. A record that nobody will ever read
// earns nothing, and the others must not suffer for it; one that a newer program
// wrote is left to that.
func (r *Rewards) rowsOf(day beacon.Day, records []beacon.OwnedRecord) ([]ledger.Row, error) {
	rules := r.book().On(day)
	rows := make([]ledger.Row, 0, len(records))
	for _, record := range records {
		facts, err := r.Telemetry.FactsOf(record.Data)
		switch {
		case errors.Is(err, beacon.ErrDamaged):
			r.Log.Error("a record of heartbeats is damaged, and earns nothing", "hotspot", record.Hotspot, "day", day.String(), "err", err)
		case err != nil:
			return nil, fmt.Errorf("record of %s: %w", record.Hotspot, err)
		case !facts.None():
			rows = append(rows, rowOf(day, record.Owned, facts, rules))
		}
	}
	return rows, nil
}

// rowOf makes a row. What nobody decided of the day is not counted against
// anyone: the hotspot was gone by then.
func rowOf(day beacon.Day, of beacon.Owned, f beacon.Facts, rules *policy.Policy) ledger.Row {
	f.Outside = beacon.MinutesADay - f.Expected - f.Closed - f.Excused
	return ledger.Row{Day: day, Owned: of, Policy: rules.Version, Facts: f, Earned: rules.Reward(f)}
}
