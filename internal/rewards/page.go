package rewards

import (
	"context"
	"errors"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// batch is one page of rows.
type batch struct {
	rows []ledger.Row
	upto beacon.Owned
	last bool
	err  error
}

// readAhead makes the rows of a day page by page, one page ahead of the receiver: the
// next page is read while one is written. It ends with the last page, with an error,
// or with ctx.
func (r *Rewards) readAhead(ctx context.Context, day beacon.Day, from beacon.Owned) <-chan batch {
	batches := make(chan batch)
	go func() {
		defer close(batches)
		for next := (batch{upto: from}); !next.last && next.err == nil; {
			next = r.readPage(ctx, day, next.upto)
			select {
			case batches <- next:
			case <-ctx.Done():
				return
			}
		}
	}()
	return batches
}

func (r *Rewards) readPage(ctx context.Context, day beacon.Day, from beacon.Owned) batch {
	records, upto, more, err := r.Store.OwnedRecords(ctx, day, from, r.pageSize)
	if err != nil {
		return batch{err: err}
	}
	rows, err := r.rowsOf(day, records)
	return batch{rows, upto, !more, err}
}

// closePage completes a page that begins where the closing is, and writes it. It
// reads the sums now, because a user's rows may have begun on the page before.
func (r *Rewards) closePage(ctx context.Context, held lease.Lease, page ledger.Page, b batch) error {
	page.Rows, page.Upto = b.rows, b.upto
	if b.last {
		page.Done = r.Now()
	}
	if err := r.addUp(ctx, &page); err != nil {
		return err
	}
	return r.Store.PutPage(ctx, held, page)
}

// addUp adds the rows of a page to the sums.
func (r *Rewards) addUp(ctx context.Context, page *ledger.Page) error {
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
	page.Basis = ledger.BasisOf(hotspots, users)
	addRows(page, hotspots, users)
	return nil
}

// rowsOf decides what each hotspot earned. A damaged record earns nothing and does
// not hold up the others. A record written by a newer version is an error: that
// version must close it.
func (r *Rewards) rowsOf(day beacon.Day, records []beacon.OwnedRecord) ([]ledger.Row, error) {
	rules := r.book().On(day)
	rows := make([]ledger.Row, 0, len(records))
	for _, record := range records {
		facts, err := r.Telemetry.FactsOf(record.Data)
		switch {
		case errors.Is(err, beacon.ErrDamaged):
			r.Log.Error("a heartbeat record is damaged and earns nothing", "hotspot", record.Hotspot, "day", day.String(), "err", err)
		case err != nil:
			return nil, fmt.Errorf("record of %s: %w", record.Hotspot, err)
		case !facts.None():
			rows = append(rows, rowOf(day, record.Owned, facts, rules))
		}
	}
	return rows, nil
}

// rowOf makes a row. Minutes of the day that are not classified count as outside,
// against nobody: the hotspot was deleted by then.
func rowOf(day beacon.Day, of beacon.Owned, f beacon.Facts, rules *policy.Policy) ledger.Row {
	f.Outside = beacon.MinutesADay - f.Expected - f.Closed - f.Excused
	return ledger.Row{Day: day, Owned: of, Policy: rules.Version, Facts: f, Earned: rules.Reward(f)}
}
