package rewards

import (
	"context"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/lease"
	"github.com/beacon-wifi/beacon/ledger"
	"github.com/beacon-wifi/beacon/policy"
)

// closeDays closes every day whose records are final, one after the other.
func (r *Rewards) closeDays(ctx context.Context, held lease.Lease) error {
	final, ok := r.Telemetry.FinalBefore()
	if !ok {
		return nil
	}
	for {
		v, err := r.view(ctx, nil)
		if err != nil || v.first >= final {
			return err
		}
		if err := r.closeDay(ctx, held, v); err != nil {
			return fmt.Errorf("close %s: %w", v.first, err)
		}
	}
}

// closeDay writes one row for each hotspot that was in service on a day, and
// what follows from it. It goes on where it was left.
func (r *Rewards) closeDay(ctx context.Context, held lease.Lease, v view) error {
	// Another server may know a policy that this one does not.
	if err := r.checkPolicies(ctx); err != nil {
		return err
	}
	began := time.Now()
	page := ledger.Page{Day: v.first}
	rows := 0
	if v.begun && v.closing.Day == v.first {
		page.From, rows = v.closing.Upto, v.closing.Hotspots
	}
	for more := true; more; {
		var records []beacon.OwnedRecord
		var err error
		records, page.Upto, more, err = r.Store.OwnedRecords(ctx, page.Day, page.From, r.pageSize)
		if err != nil {
			return err
		}
		if !more {
			page.Done = r.Now()
		}
		if err := r.fill(ctx, &page, records); err != nil {
			return err
		}
		if err := r.Store.PutPage(ctx, held, page); err != nil {
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

// fill makes the rows of a page, and the sums that they lead to.
func (r *Rewards) fill(ctx context.Context, page *ledger.Page, records []beacon.OwnedRecord) error {
	page.Rows = r.rowsOf(page.Day, records)
	if len(page.Rows) == 0 {
		return nil
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
	addRows(page, hotspots, users)
	return nil
}

// rowsOf decides what each hotspot earned.
func (r *Rewards) rowsOf(day beacon.Day, records []beacon.OwnedRecord) []ledger.Row {
	rules := r.Policies.On(day)
	rows := make([]ledger.Row, 0, len(records))
	for _, record := range records {
		facts, err := r.Telemetry.FactsOf(record.Data)
		if err != nil {
			// The others must not suffer for it.
			r.Log.Error("a record of heartbeats cannot be read, and earns nothing", "hotspot", record.Hotspot, "day", day.String(), "err", err)
			continue
		}
		if row := rowOf(day, record.Owned, facts, rules); !facts.None() {
			rows = append(rows, row)
		}
	}
	return rows
}

// rowOf makes a row. What nobody decided of the day is not counted against
// anyone: the hotspot was gone by then.
func rowOf(day beacon.Day, of beacon.Owned, f beacon.Facts, rules *policy.Policy) ledger.Row {
	f.Outside = beacon.MinutesADay - f.Expected - f.Closed - f.Excused
	return ledger.Row{Day: day, Owned: of, Policy: rules.Version, Facts: f, Earned: rules.Reward(f)}
}
