package store

import (
	"context"
	"errors"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// Days returns all days that have ledger rows.
func (s Snapshot) Days(ctx context.Context) ([]beacon.Day, error) {
	return numbers[beacon.Day](ctx, s, examineText.nextDay)
}

// Months returns all months that have sums.
func (s Snapshot) Months(ctx context.Context) (ofHotspots, ofUsers []beacon.Month, err error) {
	if ofHotspots, err = numbers[beacon.Month](ctx, s, examineText.nextHotspotMonth); err != nil {
		return nil, nil, err
	}
	ofUsers, err = numbers[beacon.Month](ctx, s, examineText.nextUserMonth)
	return ofHotspots, ofUsers, err
}

// numbers skips from one number of a key to the next, without reading the rows between
// them.
func numbers[T ~int64](ctx context.Context, s Snapshot, next bulk) (all []T, err error) {
	for last := int64(firstNumber); ; {
		n, any, err := first(ctx, s.books, next, numberRow, last)
		if err != nil || !any {
			return all, err
		}
		if n <= last {
			return all, errors.New("a table is not in the order of its key") // else it would loop forever
		}
		all, last = append(all, T(n)), n
	}
}

// EachLedgerRow calls fn with every row, in no order, and the error found in it, if
// any.
func (s Snapshot) EachLedgerRow(ctx context.Context, fn func(ledger.Row, error) error) error {
	return each(ctx, s.books, examineText.ledger, ledgerRow, fn)
}

// FinishedMonths returns the months that are settled for everyone.
func (s Snapshot) FinishedMonths(ctx context.Context) ([]beacon.Month, error) {
	all, err := list(ctx, s.books, examineText.rewardMonths, numberRow)
	months := make([]beacon.Month, len(all))
	for i, n := range all {
		months[i] = beacon.Month(n)
	}
	return months, err
}

// Policies returns the stored policies, by version.
func (s Snapshot) Policies(ctx context.Context) ([]ledger.Policy, error) {
	return list(ctx, s.books, rewardText.policies, policyRow)
}

// The methods below return pages of the ledger: the rows after one, ordered by user and
// then by hotspot or month. An empty page is the end.

// LedgerAfter returns a page of the rows of a day.
func (s Snapshot) LedgerAfter(ctx context.Context, day beacon.Day, after beacon.Owned) ([]ledger.Row, error) {
	return list(ctx, s.books, examineText.ledgerPage, ledgerRow, int64(day), string(after.User), string(after.Hotspot), int64(pageSize))
}

// HotspotMonthsAfter returns a page of the sums of hotspots in a month.
func (s Snapshot) HotspotMonthsAfter(ctx context.Context, month beacon.Month, after beacon.Owned) ([]ledger.HotspotMonth, error) {
	return list(ctx, s.books, examineText.hotspotMonthPage, hotspotMonthRow,
		int64(month), string(after.User), string(after.Hotspot), int64(pageSize))
}

// UserMonthsAfter returns a page of the sums of users in a month.
func (s Snapshot) UserMonthsAfter(ctx context.Context, month beacon.Month, after beacon.UserID) ([]ledger.UserMonth, error) {
	return list(ctx, s.books, examineText.userMonthPage, userMonthRow, int64(month), string(after), int64(pageSize))
}

// StatementsAfter returns a page of all statements.
func (s Snapshot) StatementsAfter(ctx context.Context, user beacon.UserID, month beacon.Month) ([]ledger.Statement, error) {
	return list(ctx, s.books, examineText.statementPage, statementRow, string(user), int64(month), int64(pageSize))
}

// AccountsAfter returns a page of all accounts.
func (s Snapshot) AccountsAfter(ctx context.Context, after beacon.UserID) ([]ledger.Account, error) {
	return list(ctx, s.books, examineText.accountPage, accountRow, string(after), int64(pageSize))
}

// TotalsAfter returns a page of the totals of all hotspots.
func (s Snapshot) TotalsAfter(ctx context.Context, after beacon.Owned) ([]ledger.HotspotTotal, error) {
	return list(ctx, s.books, examineText.totalPage, totalRow, string(after.User), string(after.Hotspot), int64(pageSize))
}
