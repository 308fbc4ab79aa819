package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// OwnedRecords returns the records of a day, of up to limit hotspots after one, ordered by who
// earns with them on that day and then by hotspot, deleted ones included. Next is the last hotspot examined;
// more is false if there are no others. On a day without any record no hotspot is
// examined: after an outage, or with a clock that is far ahead, there are many such
// days.
func (db RecordTable) OwnedRecords(ctx context.Context, day beacon.Day, after beacon.Owned, limit int) (
	records []beacon.OwnedRecord, next beacon.Owned, more bool, err error,
) {
	if after == (beacon.Owned{}) {
		if some, err := db.RecordPage(ctx, day, "", 1); err != nil || len(some) == 0 {
			return nil, after, false, err
		}
	}
	owned, err := HotspotTable(db).OwnedOn(ctx, day, after, max(limit, 0)+1)
	if err != nil {
		return nil, after, false, err
	}
	if more = len(owned) > limit; more {
		owned = owned[:limit]
	}
	if len(owned) == 0 {
		return nil, after, more, nil
	}
	found, err := db.recordsOfOwned(ctx, day, owned)
	if err != nil {
		return nil, after, false, err
	}
	for _, o := range owned {
		if data, ok := found[o.Hotspot]; ok {
			records = append(records, beacon.OwnedRecord{Owned: o, Data: data})
		}
	}
	return records, owned[len(owned)-1], more, nil
}

const ownedPageSQL = `SELECT operator_id, id FROM hotspots WHERE (operator_id, id) > ($1, $2) ORDER BY operator_id, id LIMIT $3`

// OwnedPage returns up to limit hotspots after one, ordered by user and then hotspot,
// deleted ones included.
func (db HotspotTable) OwnedPage(ctx context.Context, after beacon.Owned, limit int) ([]beacon.Owned, error) {
	return list(ctx, db, ownedRow, ownedPageSQL, string(after.User), string(after.Hotspot), int64(limit))
}

const (
	ownedOnSQL = `SELECT operator_id, id FROM hotspots WHERE (operator_id, id) > ($1, $2)
		AND NOT EXISTS (SELECT 1 FROM former_owners WHERE former_owners.hotspot = hotspots.id AND through >= $3)
		ORDER BY operator_id, id LIMIT $4`
	ownedBeforeSQL = `SELECT user_id, hotspot FROM former_owners WHERE (user_id, hotspot) > ($1, $2) AND through >= $3
		AND NOT EXISTS (SELECT 1 FROM former_owners AS earlier WHERE earlier.hotspot = former_owners.hotspot
			AND earlier.through >= $3 AND earlier.through < former_owners.through)
		ORDER BY user_id, hotspot LIMIT $4`
)

// OwnedOn is OwnedPage with those who earn on a day: see beacon.Owners. What it returns of a
// day that is over never changes, so that the closing of a day can be resumed.
//
// The present owners are read first: a hotspot that is handed over in between is returned
// with its former owner by both queries, and not by none.
func (db HotspotTable) OwnedOn(ctx context.Context, day beacon.Day, after beacon.Owned, limit int) ([]beacon.Owned, error) {
	args := []any{string(after.User), string(after.Hotspot), int64(day), int64(limit)}
	owned, err := list(ctx, db, ownedRow, ownedOnSQL, args...)
	if err != nil {
		return nil, err
	}
	before, err := list(ctx, db, ownedRow, ownedBeforeSQL, args...)
	if err != nil || len(before) == 0 {
		return owned, err
	}
	owned = append(owned, before...)
	slices.SortFunc(owned, beacon.Owned.Compare)
	owned = slices.Compact(owned)
	return owned[:min(len(owned), limit)], nil
}

// recordsOfOwned looks up each record by its key: the hotspots of a user may be
// anywhere in the table.
func (db *core) recordsOfOwned(ctx context.Context, day beacon.Day, owned []beacon.Owned) (map[beacon.HotspotID][]byte, error) {
	ids := mapped(owned, func(o beacon.Owned) beacon.HotspotID { return o.Hotspot })
	slices.Sort(ids)
	found := make(map[beacon.HotspotID][]byte, len(ids))
	return found, recordsByID(ctx, db, day, ids, found)
}

const hotspotMonthRangeSQL = `SELECT ` + hotspotMonthColumns + ` FROM hotspot_months
		WHERE month = $1 AND user_id >= $2 AND user_id <= $4
			AND (user_id, hotspot) >= ($2, $3) AND (user_id, hotspot) <= ($4, $5) ORDER BY user_id, hotspot`

// HotspotMonths returns the sums of a month between two hotspots, both included, in
// order.
func (db LedgerTable) HotspotMonths(ctx context.Context, month beacon.Month, from, to beacon.Owned) ([]ledger.HotspotMonth, error) {
	return list(ctx, db, hotspotMonthRow, hotspotMonthRangeSQL,
		int64(month), string(from.User), string(from.Hotspot), string(to.User), string(to.Hotspot))
}

const userMonthRangeSQL = `SELECT ` + userMonthColumns + ` FROM user_months
		WHERE month = $1 AND user_id >= $2 AND user_id <= $3 ORDER BY user_id`

// UserMonths returns the sums of a month between two users, both included, in order.
func (db LedgerTable) UserMonths(ctx context.Context, month beacon.Month, from, to beacon.UserID) ([]ledger.UserMonth, error) {
	return list(ctx, db, userMonthRow, userMonthRangeSQL, int64(month), string(from), string(to))
}

const putHotspotMonthsSQL = `INSERT INTO hotspot_months (` + hotspotMonthColumns + `) VALUES (…) ON CONFLICT (month, user_id, hotspot) DO UPDATE SET through = excluded.through, tier = excluded.tier,
			served = excluded.served, expected = excluded.expected, availability = excluded.availability,
			performance = excluded.performance, utilization = excluded.utilization`

const putUserMonthsSQL = `INSERT INTO user_months (` + userMonthColumns + `) VALUES (…) ON CONFLICT (month, user_id) DO UPDATE SET hotspots = excluded.hotspots, row_count = excluded.row_count,
			chain = excluded.chain, held = excluded.held, served = excluded.served, expected = excluded.expected, availability = excluded.availability,
			performance = excluded.performance, utilization = excluded.utilization`

const (
	putAccountsSQL = `INSERT INTO accounts (` + accountColumns + `) VALUES (…) ON CONFLICT (user_id) DO UPDATE SET first_day = excluded.first_day WHERE accounts.first_day > excluded.first_day`
	putHeldDaysSQL = `INSERT INTO held_days (` + heldDayColumns + `, month) VALUES (…) ON CONFLICT (user_id, day, hotspot) DO UPDATE SET listed = excluded.listed, seal = excluded.seal WHERE held_days.listed = -1`
)

// PutPage writes a page of a day: its rows, the sums that include them, the accounts
// that do not exist yet, and how far the day is closed. It writes all of it or nothing.
// It returns Conflict if the lease was lost, if the closing is not where the page
// begins, or if the sums are not those that the page was added to. A day can begin only
// if the day before is closed, or if no day was ever begun.
//
// If the outcome is unknown, Closing shows what happened once the next write under the
// lease has succeeded or returned Conflict. Other writes wait for a page: a thousand
// rows are enough.
func (db LedgerTable) PutPage(ctx context.Context, l lease.Lease, page ledger.Page) error {
	return db.PutPages(ctx, l, []ledger.Page{page})
}

// PutPages writes pages that follow each other, all of them or none. Each is as for
// PutPage; sums may be left out of a page if a later one of its month has them.
func (db LedgerTable) PutPages(ctx context.Context, l lease.Lease, pages []ledger.Page) error {
	own := make([]ledger.Page, len(pages))
	for i := range pages {
		own[i] = ownPage(pages[i])
	}
	return db.fenced(ctx, l, func(tx *transaction) error {
		for _, page := range own {
			if err := putPage(tx, page); err != nil {
				return err
			}
		}
		return nil
	})
}

func putPage(tx *transaction, page ledger.Page) error {
	put := `INSERT INTO ledger (` + ledgerColumns + `) VALUES (…)`
	if page.Again {
		put = `INSERT INTO ledger_again (` + ledgerColumns + `) VALUES (…)`
	}
	if err := atRevision(tx, page.Revision); err != nil {
		return err
	}
	if err := checkBasis(tx, page); err != nil { // before anything is written
		return err
	}
	if err := moveClosing(tx, page); err != nil {
		return err
	}
	return cmp.Or(
		putRows(tx, put, page.Rows, ledgerRow),
		putRows(tx, putHotspotMonthsSQL, page.Hotspots, hotspotMonthRow),
		putRows(tx, putUserMonthsSQL, page.Users, userMonthRow),
		putRows(tx, putAccountsSQL, page.Accounts, newAccountRow),
		finishStandings(tx, page),
		putRows(tx, putHeldDaysSQL, page.Held, heldDayWithMonth),
	)
}

// ownPage copies a page and sorts it as the tables do. The copy is needed because the
// caller may leave before it is written.
func ownPage(page ledger.Page) ledger.Page {
	page.Rows = sortedBy(page.Rows, func(r *ledger.Row) beacon.Owned { return r.Owned })
	for i := range page.Rows {
		page.Rows[i].Revision = page.Revision
	}
	page.Hotspots = sortedBy(page.Hotspots, func(m *ledger.HotspotMonth) beacon.Owned { return m.Owned })
	page.Users = sortedBy(page.Users, func(m *ledger.UserMonth) beacon.Owned { return beacon.Owned{User: m.User} })
	page.Held = sortedBy(page.Held, func(d *ledger.HeldDay) beacon.Owned { return d.Owned })
	page.Accounts = sortedBy(page.Accounts, func(a *ledger.Account) beacon.Owned { return beacon.Owned{User: a.User} })
	return page
}

// sortedBy copies rows, sorted by hotspot. Most are sorted already: sorting them anyway
// would take a tenth of the time it takes to write them.
func sortedBy[T any](rows []T, of func(*T) beacon.Owned) []T {
	own := slices.Clone(rows)
	for i := 1; i < len(own); i++ {
		if of(&own[i-1]).Compare(of(&own[i])) > 0 {
			slices.SortStableFunc(own, func(a, b T) int { return of(&a).Compare(of(&b)) })
			break
		}
	}
	return own
}

const advanceDaySQL = `UPDATE reward_days SET upto_user = $2, upto_hotspot = $3, hotspots = hotspots + $4,
			availability = availability + $5, performance = performance + $6, utilization = utilization + $7, closed_at = $8
		WHERE day = $1 AND upto_user = $9 AND upto_hotspot = $10 AND closed_at = 0`

const beginDaySQL = `INSERT INTO reward_days (` + rewardDayColumns + `) VALUES (…)
		ON CONFLICT (day) DO NOTHING`

// moveClosing moves the closing of a day from the start of a page to its end, or
// returns Conflict.
func moveClosing(tx *transaction, page ledger.Page) error {
	var earned beacon.Earned
	for i := range page.Rows {
		earned = earned.Plus(page.Rows[i].Earned)
	}
	next := []any{
		int64(page.Day), string(page.Upto.User), string(page.Upto.Hotspot), int64(len(page.Rows)),
		int64(earned.Availability), int64(earned.Performance), int64(earned.Utilization), micros(page.Done),
	}
	n, err := tx.exec(advanceDaySQL, append(next, string(page.From.User), string(page.From.Hotspot))...)
	if err != nil || n > 0 {
		return err
	}
	if page.From != (beacon.Owned{}) {
		return closedElsewhere()
	}
	if err := mayBegin(tx, page.Day); err != nil {
		return err
	}
	if n, err = tx.exec(beginDaySQL, next...); err == nil && n == 0 {
		err = closedElsewhere()
	}
	return err
}

const newestClosingSQL = `SELECT ` + rewardDayColumns + ` FROM reward_days ORDER BY day DESC LIMIT 1`

// mayBegin returns Conflict unless the day before is the last closed one, or no day was
// ever begun. The day itself may have been begun: beginDay detects that.
func mayBegin(tx *transaction, day beacon.Day) error {
	newest, found, err := first(tx.ctx, tx, closingRow, newestClosingSQL)
	if err == nil && found && newest.Through() != day-1 {
		return closedElsewhere()
	}
	return err
}

const basisSQL = `SELECT hotspots.n, hotspots.through, users.n, users.row_count FROM
		(SELECT count(*) AS n, CAST(coalesce(sum(through), 0) AS bigint) AS through FROM hotspot_months
			WHERE month = $1 AND user_id >= $2 AND user_id <= $4
				AND (user_id, hotspot) >= ($2, $3) AND (user_id, hotspot) <= ($4, $5)) AS hotspots,
		(SELECT count(*) AS n, CAST(coalesce(sum(row_count), 0) AS bigint) AS row_count FROM user_months
			WHERE month = $1 AND user_id >= $2 AND user_id <= $4) AS users`

// checkBasis returns Conflict unless the sums are still those that the page was added
// to. They were read outside this transaction, and perhaps by another process.
func checkBasis(tx *transaction, page ledger.Page) error {
	if len(page.Rows) == 0 {
		return nil
	}
	var is ledger.Basis
	first, last := page.Rows[0].Owned, page.Rows[len(page.Rows)-1].Owned
	_, err := tx.row([]any{&is.Hotspots, &is.Through, &is.Users, &is.Rows},
		basisSQL, int64(page.Day.Month()), string(first.User), string(first.Hotspot), string(last.User), string(last.Hotspot))
	if err == nil && is != page.Basis {
		err = closedElsewhere()
	}
	return err
}

// closedElsewhere is the error for a page that does not follow. Nothing was written.
func closedElsewhere() error {
	return beacon.Conflicting(errors.New("the closing of days is not at the start of this page: read how far it has come, and continue from there"))
}
