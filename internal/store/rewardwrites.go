package store

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// putRows writes rows with the statements made by chunks.
func putRows[T any](tx *transaction, texts []string, rows []T, appendTo func([]any, *T) []any) error {
	return inChunks(texts, len(rows), func(text string, from, to int) error {
		_, err := tx.exec(text, valuesOf(rows[from:to], appendTo)...)
		return err
	})
}

func valuesOf[T any](rows []T, appendTo func([]any, *T) []any) []any {
	const columns = 14 // of the widest table
	values := make([]any, 0, columns*len(rows))
	for i := range rows {
		values = appendTo(values, &rows[i])
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
	targets, value := closingRow()
	found, err := tx.row(func(scan func(...any) error) error { return scan(targets...) }, rewardText.newestDay.text())
	if err != nil || !found {
		return err
	}
	if newest, _ := value(); newest.Through() != day-1 {
		return closedElsewhere()
	}
	return nil
}

// checkBasis returns Conflict unless the sums are still those that the page was added
// to. They were read outside this transaction, and perhaps by another process.
func checkBasis(tx *transaction, page ledger.Page) error {
	if len(page.Rows) == 0 {
		return nil
	}
	var is ledger.Basis
	first, last := page.Rows[0].Owned, page.Rows[len(page.Rows)-1].Owned
	_, err := tx.row(func(scan func(...any) error) error { return scan(&is.Hotspots, &is.Through, &is.Users, &is.Rows) },
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
