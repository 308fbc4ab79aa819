package closing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/places"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// farBehind is how many days a clock that has been steady only for SteadyFor may
// close at once. With more, either nothing was closed for long, or the clock is far
// ahead and would close days that have not come.
const farBehind = 3

// closeDays closes every day whose records are final, in order.
func (r *Closer) closeDays(ctx context.Context) error {
	for {
		v, err := r.View(ctx, nil)
		if err != nil {
			return err
		}
		r.shown.seen(v)
		if _, ok := r.mayClose(v.First, v.Begun); !ok {
			return r.countAhead(ctx, v)
		}
		if err := r.closeDay(ctx, v); err != nil {
			return fmt.Errorf("close %s: %w", v.First, err)
		}
	}
}

// mayClose returns the lease under which this process may close a day now. It is
// called again for each page, because a lease can be lost and a clock corrected.
func (r *Closer) mayClose(day beacon.Day, begun bool) (lease.Lease, bool) {
	final, ok := r.Telemetry.FinalBefore()
	if !ok || day >= final {
		return lease.Lease{}, false
	}
	if !r.Clock.Over((day + 1).Time()) {
		return lease.Lease{}, false
	}
	steady := clock.SteadyFor
	if begun && final-day > farBehind {
		steady = clock.SteadyForLong
	}
	return r.entitled(steady)
}

// closeDay writes one row for each hotspot that was in service on a day, and the sums
// that follow from the rows. It resumes where an earlier run stopped.
func (r *Closer) closeDay(ctx context.Context, v rewards.View) error {
	if err := r.Reload(ctx); err != nil {
		return err
	}
	began := time.Now()
	page := ledger.Page{Day: v.First, Revision: v.Revision(), Again: v.Reopened.Again(v.First)}
	rows := 0
	if v.Begun && v.Closing.Day == v.First {
		page.From, rows = v.Closing.Upto, v.Closing.Hotspots
	}
	var ground *places.Division
	if rules := r.Known().On(page.Day); rules.PaysPlaces() {
		var err error
		if ground, err = r.divideDay(ctx, v, page.Day, rules); err != nil {
			return err
		}
		page.Places, page.StandingADay = true, rules.StandingADay
		if ok, err := r.putStandings(ctx, v, ground); err != nil || !ok {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	batches := r.readAhead(ctx, page.Day, page.From, ground)
	defer func() {
		cancel()
		for range batches { // until the reader has ended
		}
	}()
	for batch := range batches {
		held, ok := r.mayClose(page.Day, v.Begun)
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
		r.shown.rows.Store(int64(rows))
		page.From = batch.upto
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.shown.closed(page.Day)
	r.Log.Info("day closed", "day", page.Day.String(), "hotspots", rows, "took_ms", time.Since(began).Milliseconds())
	return nil
}

// divideDay counts the standings before a day, and divides its ground.
func (r *Closer) divideDay(ctx context.Context, v rewards.View, day beacon.Day, rules *policy.Policy) (*places.Division, error) {
	if err := r.places.Count(ctx, r.Lease, v, day); err != nil {
		return nil, err
	}
	return r.places.Divide(ctx, v.Reopened, day, rules)
}

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
func (r *Closer) readAhead(ctx context.Context, day beacon.Day, from beacon.Owned, ground *places.Division) <-chan batch {
	batches := make(chan batch)
	go func() {
		defer close(batches)
		for next := (batch{upto: from}); !next.last && next.err == nil; {
			next = r.readPage(ctx, day, next.upto, ground)
			select {
			case batches <- next:
			case <-ctx.Done():
				return
			}
		}
	}()
	return batches
}

func (r *Closer) readPage(ctx context.Context, day beacon.Day, from beacon.Owned, ground *places.Division) batch {
	if ground != nil {
		return r.dividedPage(ctx, ground, from)
	}
	records, upto, more, err := r.Days.OwnedRecords(ctx, day, from, r.PageSize)
	if err != nil {
		return batch{err: err}
	}
	b := batch{upto: upto, last: !more}
	b.rows, b.err = r.rowsOf(day, records)
	return b
}

// dividedPage makes a page of a day whose ground is divided. On a day without any record
// no hotspot is examined.
func (r *Closer) dividedPage(ctx context.Context, d *places.Division, from beacon.Owned) batch {
	if len(d.Claims) == 0 {
		return batch{upto: from, last: true}
	}
	owned, err := r.Days.OwnedOn(ctx, d.Day, from, r.PageSize+1)
	if err != nil {
		return batch{err: err}
	}
	b := batch{upto: from, last: len(owned) <= r.PageSize}
	owned = owned[:min(len(owned), r.PageSize)]
	if len(owned) > 0 {
		b.upto = owned[len(owned)-1]
	}
	b.rows, b.err = r.rows(ctx, d, owned)
	return b
}

// putStandings writes the standings of a day, in the order of their table: with the rows,
// which are in the order of users, each would change another page of the database. A
// standing knows what it was without its day, so this can be repeated. Ok is false if this
// process may no longer close the day.
func (r *Closer) putStandings(ctx context.Context, v rewards.View, d *places.Division) (ok bool, err error) {
	for some := range slices.Chunk(d.Standings(), r.PageSize) {
		held, ok := r.mayClose(d.Day, v.Begun)
		if !ok {
			return false, nil
		}
		if err := r.places.Store.PutStandings(ctx, held, some); err != nil {
			return false, err
		}
	}
	return true, nil
}

// closePage completes a page that begins where the closing is, and writes it. It
// reads the sums now, because a user's rows may have begun on the page before.
func (r *Closer) closePage(ctx context.Context, held lease.Lease, page ledger.Page, b batch) error {
	page.Rows, page.Upto = b.rows, b.upto
	if b.last {
		page.Done = r.Clock.Now()
	}
	if err := r.holds.Mark(ctx, page.Rows); err != nil {
		return err
	}
	if err := r.addUp(ctx, &page); err != nil {
		return err
	}
	return r.Days.PutPage(ctx, held, page)
}

// addUp adds the rows of a page to the sums.
func (r *Closer) addUp(ctx context.Context, page *ledger.Page) error {
	if len(page.Rows) == 0 {
		return nil
	}
	first, last := page.Rows[0].Owned, page.Rows[len(page.Rows)-1].Owned
	hotspots, err := r.Days.HotspotMonths(ctx, page.Day.Month(), first, last)
	if err != nil {
		return err
	}
	users, err := r.Days.UserMonths(ctx, page.Day.Month(), first.User, last.User)
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
func (r *Closer) rowsOf(day beacon.Day, records []beacon.OwnedRecord) ([]ledger.Row, error) {
	rules := r.Known().On(day)
	rows := make([]ledger.Row, 0, len(records))
	for _, record := range records {
		did, err := r.Telemetry.DidOf(record.Data)
		switch {
		case errors.Is(err, beacon.ErrDamaged):
			r.Log.Error("a heartbeat record is damaged and earns nothing", "hotspot", record.Hotspot, "day", day.String(), "err", err)
		case err != nil:
			return nil, fmt.Errorf("record of %s: %w", record.Hotspot, err)
		case !did.None():
			rows = append(rows, rowOf(day, record.Owned, did.Facts, rules))
		}
	}
	return rows, nil
}

// rowOf makes a row. Minutes of the day that are not classified count as outside,
// against nobody: the hotspot had been deleted.
func rowOf(day beacon.Day, of beacon.Owned, f beacon.Facts, rules *policy.Policy) ledger.Row {
	f.Outside = beacon.MinutesADay - f.Expected - f.Closed - f.Excused
	return ledger.Row{Day: day, Owned: of, Policy: rules.Version, Facts: f, Earned: rules.Reward(f)}
}

// addRows adds the rows of a page to the existing sums of its month. All lists are
// ordered by user and then by hotspot.
func addRows(page *ledger.Page, hotspots []ledger.HotspotMonth, users []ledger.UserMonth) {
	page.Hotspots = make([]ledger.HotspotMonth, 0, len(page.Rows))
	for i := range page.Rows {
		row := &page.Rows[i]
		for len(users) > 0 && users[0].User < row.User {
			users = users[1:]
		}
		for len(hotspots) > 0 && hotspots[0].Compare(row.Owned) < 0 {
			hotspots = hotspots[1:]
		}
		user := userOf(page, row, users)
		hotspot := ledger.HotspotMonth{Month: user.Month, Owned: row.Owned}
		if len(hotspots) > 0 && hotspots[0].Owned == row.Owned {
			hotspot = hotspots[0]
		} else {
			user.Hotspots++
		}
		sum := row.Sum()
		hotspot.Through, hotspot.Tier, hotspot.Sum = row.Day, row.Tier, hotspot.Plus(sum)
		user.Rows, user.Chain, user.Sum = user.Rows+1, user.Chain.Next(row), user.Plus(sum)
		if row.IsHeld() {
			user.Held += row.Total()
			page.Held = append(page.Held, ledger.HeldDay{
				Day: row.Day, Owned: row.Owned, Hold: row.Hold, Hash: user.Chain, Amount: row.Total(), Listed: ledger.NoMonth,
			})
		}
		page.Hotspots = append(page.Hotspots, hotspot)
	}
}

// userOf returns the sum of the row's user, which is the last one in the page. It
// takes it from the page, from what an earlier page wrote, or makes a new one.
func userOf(page *ledger.Page, row *ledger.Row, written []ledger.UserMonth) *ledger.UserMonth {
	month := row.Day.Month()
	if n := len(page.Users); n > 0 && page.Users[n-1].User == row.User {
		return &page.Users[n-1]
	}
	known := len(written) > 0 && written[0].User == row.User
	if known {
		page.Users = append(page.Users, written[0])
	} else {
		page.Users = append(page.Users, ledger.UserMonth{Month: month, User: row.User, Chain: ledger.Seed(row.User, month)})
	}
	if !known || page.Again { // the first row may have been of a later day
		page.Accounts = append(page.Accounts, ledger.Account{User: row.User, FirstDay: row.Day})
	}
	return &page.Users[len(page.Users)-1]
}

// rows makes the rows of a page of hotspots.
func (r *Closer) rows(ctx context.Context, d *places.Division, owned []beacon.Owned) ([]ledger.Row, error) {
	rows, excused, spare := make([]ledger.Row, 0, len(owned)), false, false
	for _, o := range owned {
		c := d.Claims[o.Hotspot]
		if c == nil || c.Facts.None() {
			continue
		}
		f := c.Facts
		f.Ground = d.Ground(o.Hotspot)
		rows = append(rows, rowOf(d.Day, o, f, d.Rules))
		excused, spare = excused || f.Excused > 0, spare || c.Spare
	}
	var err error
	if excused {
		err = r.excuse(ctx, d, rows)
	}
	if spare && err == nil && d.Rules.Counts() == beacon.InMinutes {
		err = r.spare(ctx, d, rows)
	}
	return rows, err
}

// excuse adds to rows at what rate their excused minutes are paid.
func (r *Closer) excuse(ctx context.Context, d *places.Division, rows []ledger.Row) error {
	ids := make([]beacon.HotspotID, len(rows))
	for i := range rows {
		ids[i] = rows[i].Hotspot
	}
	rates, err := places.Recent(d, ids, func(day beacon.Day) ([]ledger.Row, error) { return r.rowsOn(ctx, d, day, rows) })
	for i := range rows {
		if row := &rows[i]; row.Excused > 0 && row.Proof > 0 {
			row.Recent = rates[row.Hotspot]
			row.Earned = d.Rules.Reward(row.Facts)
		}
	}
	return err
}

// spare adds to rows what the day before leaves for traffic.
func (r *Closer) spare(ctx context.Context, d *places.Division, rows []ledger.Row) error {
	before, err := r.rowsOn(ctx, d, d.Day-1, rows)
	rules, left := r.Known().On(d.Day-1), map[beacon.HotspotID]beacon.Amount{}
	for i := range before {
		left[before[i].Hotspot] = rules.Spare(before[i].Facts, before[i].Utilization)
	}
	for i := range rows {
		if row := &rows[i]; row.Proof > 0 && left[row.Hotspot] > 0 {
			row.Spare = left[row.Hotspot]
			row.Earned = d.Rules.Reward(row.Facts)
		}
	}
	return err
}

// rowsOn returns the rows of a closed day of the hotspots of a page.
func (r *Closer) rowsOn(ctx context.Context, d *places.Division, day beacon.Day, page []ledger.Row) ([]ledger.Row, error) {
	owned := make([]beacon.Owned, len(page))
	for i := range page {
		owned[i] = page[i].Owned
	}
	return d.RowsOf(ctx, r.places.Store, day, owned)
}

// countAhead counts standings when nothing can be closed, so that what is shown of the
// open days does not have to wait for the closing of the first of them.
func (r *Closer) countAhead(ctx context.Context, v rewards.View) error {
	if _, holder := r.Lease(); !holder || !v.Begun || !r.Known().On(v.First).PaysPlaces() {
		return nil
	}
	return r.places.Count(ctx, r.Lease, v, v.First)
}
