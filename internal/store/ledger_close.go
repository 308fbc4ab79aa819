package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// OwnedRecords returns the records of a day, of up to limit hotspots after one, ordered
// by user and then hotspot, deleted ones included. Next is the last hotspot examined;
// more is false if there are no others. On a day without any record no hotspot is
// examined: after an outage, or with a clock that is far ahead, there are many such
// days.
func (db *DB) OwnedRecords(ctx context.Context, day beacon.Day, after beacon.Owned, limit int) (
	records []beacon.OwnedRecord, next beacon.Owned, more bool, err error,
) {
	if after == (beacon.Owned{}) {
		if any, err := db.RecordPage(ctx, day, "", 1); err != nil || len(any) == 0 {
			return nil, after, false, err
		}
	}
	owned, err := db.OwnedPage(ctx, after, max(limit, 0)+1)
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

// OwnedPage returns up to limit hotspots after one, ordered by user and then hotspot,
// deleted ones included.
func (db *DB) OwnedPage(ctx context.Context, after beacon.Owned, limit int) ([]beacon.Owned, error) {
	return listRetrying(ctx, db, rewardText.ownedPage, ownedRow, string(after.User), string(after.Hotspot), int64(limit))
}

// recordsOfOwned looks up each record by its key: the hotspots of a user may be
// anywhere in the table.
func (db *DB) recordsOfOwned(ctx context.Context, day beacon.Day, owned []beacon.Owned) (map[beacon.HotspotID][]byte, error) {
	ids := mapped(owned, func(o beacon.Owned) beacon.HotspotID { return o.Hotspot })
	slices.Sort(ids)
	found := make(map[beacon.HotspotID][]byte, len(ids))
	return found, db.recordsByID(ctx, day, ids, found)
}

// listArgs returns the arguments of a statement with a list: those before it, and the
// list, padded to n with its last item.
func listArgs[T ~string](texts []T, n int, before ...any) []any {
	args := slices.Grow(before, n)
	for i := range n {
		args = append(args, string(texts[min(i, len(texts)-1)]))
	}
	return args
}

// HotspotMonths returns the sums of a month between two hotspots, both included, in
// order.
func (db *DB) HotspotMonths(ctx context.Context, month beacon.Month, from, to beacon.Owned) ([]ledger.HotspotMonth, error) {
	return listRetrying(ctx, db, rewardText.hotspotMonthRange, hotspotMonthRow,
		int64(month), string(from.User), string(from.Hotspot), string(to.User), string(to.Hotspot))
}

// UserMonths returns the sums of a month between two users, both included, in order.
func (db *DB) UserMonths(ctx context.Context, month beacon.Month, from, to beacon.UserID) ([]ledger.UserMonth, error) {
	return listRetrying(ctx, db, rewardText.userMonthRange, userMonthRow, int64(month), string(from), string(to))
}

// PutPage writes a page of a day: its rows, the sums that include them, the accounts
// that do not exist yet, and how far the day is closed. It writes all of it or nothing.
// It returns Conflict if the lease was lost, if the closing is not where the page
// begins, or if the sums are not those that the page was added to. A day can begin only
// if the day before is closed, or if no day was ever begun.
//
// If the outcome is unknown, Closing shows what happened once the next write under the
// lease has succeeded or returned Conflict. Other writes wait for a page: a thousand
// rows are enough.
func (db *DB) PutPage(ctx context.Context, l lease.Lease, page ledger.Page) error {
	page = ownPage(page)
	put := rewardText.putLedger[:]
	if page.Again {
		put = rewardText.putAgain[:]
	}
	return db.fenced(ctx, l, func(tx *transaction) error {
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
			putRows(tx, put, page.Rows, appendLedgerRow),
			putRows(tx, rewardText.putHotspotMonths[:], page.Hotspots, appendHotspotMonth),
			putRows(tx, rewardText.putUserMonths[:], page.Users, appendUserMonth),
			putRows(tx, rewardText.putAccounts[:], page.Accounts, appendNewAccount),
			finishStandings(tx, page),
			putRows(tx, rewardText.putHeldDays[:], page.Held, appendHeldDay),
		)
	})
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

// putRows writes rows with the statements made by chunks.
func putRows[T any](tx *transaction, texts []string, rows []T, appendTo func([]any, *T) []any) error {
	return inChunks(texts, len(rows), func(text string, from, to int) error {
		return tx.write(text, valuesOf(rows[from:to], appendTo)...)
	})
}

func valuesOf[T any](rows []T, appendTo func([]any, *T) []any) (values []any) {
	for i := range rows {
		values = appendTo(values, &rows[i])
		if i == 0 {
			values = slices.Grow(values, len(values)*(len(rows)-1))
		}
	}
	return values
}

// sortedBy copies rows, sorted by hotspot. Most are sorted already: sorting them anyway
// would take a tenth of the time it takes to write them.
func sortedBy[T any](rows []T, of func(*T) beacon.Owned) []T {
	own := slices.Clone(rows)
	for i := 1; i < len(own); i++ {
		if compareOwned(of(&own[i-1]), of(&own[i])) > 0 {
			slices.SortStableFunc(own, func(a, b T) int { return compareOwned(of(&a), of(&b)) })
			break
		}
	}
	return own
}

func compareOwned(a, b beacon.Owned) int {
	return cmp.Or(strings.Compare(string(a.User), string(b.User)), strings.Compare(string(a.Hotspot), string(b.Hotspot)))
}

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
	n, err := tx.exec(rewardText.advanceDay, append(next, string(page.From.User), string(page.From.Hotspot))...)
	if err != nil || n > 0 {
		return err
	}
	if page.From != (beacon.Owned{}) {
		return closedElsewhere()
	}
	if err := mayBegin(tx, page.Day); err != nil {
		return err
	}
	if n, err = tx.exec(rewardText.beginDay, next...); err == nil && n == 0 {
		err = closedElsewhere()
	}
	return err
}

// mayBegin returns Conflict unless the day before is the last closed one, or no day was
// ever begun. The day itself may have been begun: beginDay detects that.
func mayBegin(tx *transaction, day beacon.Day) error {
	newest, found, err := rowIn(tx, closingRow, rewardText.newestDay.text())
	if err == nil && found && newest.Through() != day-1 {
		return closedElsewhere()
	}
	return err
}

// checkBasis returns Conflict unless the sums are still those that the page was added
// to. They were read outside this transaction, and perhaps by another process.
func checkBasis(tx *transaction, page ledger.Page) error {
	if len(page.Rows) == 0 {
		return nil
	}
	var is ledger.Basis
	first, last := page.Rows[0].Owned, page.Rows[len(page.Rows)-1].Owned
	_, err := tx.row([]any{&is.Hotspots, &is.Through, &is.Users, &is.Rows},
		rewardText.basis, int64(page.Day.Month()), string(first.User), string(first.Hotspot), string(last.User), string(last.Hotspot))
	if err == nil && is != page.Basis {
		err = closedElsewhere()
	}
	return err
}

// closedElsewhere is the error for a page that does not follow. Nothing was written.
func closedElsewhere() error {
	return &beacon.Error{
		Kind:    beacon.Conflict,
		Message: "the closing of days is not at the start of this page",
		Err:     errors.New("read how far the closing has come, and continue from there"),
	}
}
