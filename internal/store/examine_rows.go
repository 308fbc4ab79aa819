package store

import (
	"context"
	"errors"
	"math"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// EachHotspot calls fn with every hotspot, deleted ones included, and the error found
// in its row, if any.
func (s Snapshot) EachHotspot(ctx context.Context, fn func(beacon.Hotspot, error) error) error {
	return each(ctx, s.books, examineText.hotspots, func(h *beacon.Hotspot) ([]any, func() error) {
		var row hotspotRow
		return row.targets(), func() (err error) {
			*h, err = row.hotspot()
			return err
		}
	}, fn)
}

// TakenMAC is a MAC address in use by a hotspot.
type TakenMAC struct {
	Hotspot beacon.HotspotID
	MAC     beacon.MAC // as in the hotspot
	Taken   string     // as in the index
	Deleted bool
}

// EachMAC calls fn with every MAC address in use, from the rows themselves.
func (s Snapshot) EachMAC(ctx context.Context, fn func(TakenMAC) error) error {
	return each(ctx, s.books, examineText.macs, func(m *TakenMAC) ([]any, func() error) {
		var deleted int64
		return []any{(*string)(&m.Hotspot), (*string)(&m.MAC), &m.Taken, &deleted}, func() error {
			m.Deleted = deleted != 0
			return nil
		}
	}, sound(fn))
}

// EachKey calls fn with every key, and the error found in its row, if any.
func (s Snapshot) EachKey(ctx context.Context, fn func(beacon.Key, error) error) error {
	return each(ctx, s.books, examineText.keys, keyRow, fn)
}

// EachChange calls fn with every change, stream by stream, each in order, and the error
// found in its row, if any.
func (s Snapshot) EachChange(ctx context.Context, fn func(beacon.Change, error) error) error {
	return each(ctx, s.books, examineText.changes, func(c *beacon.Change) ([]any, func() error) {
		var seal int64
		targets, _ := changeRow(c)
		return append(targets, &seal), func() error { return changeContent(c).check(seal) }
	}, fn)
}

// NodeRow is a process that wrote to the database.
type NodeRow struct {
	Node    string
	Trimmed int64 // the last trimmed number of its journal
}

// Nodes returns all nodes that ever wrote.
func (s Snapshot) Nodes(ctx context.Context) ([]NodeRow, error) {
	return list(ctx, s.books, examineText.nodes, func(n *NodeRow) ([]any, func() error) {
		var started int64
		return []any{&n.Node, &started, &n.Trimmed}, done
	})
}

// EachEvent calls fn with every kept event, in order.
func (s Snapshot) EachEvent(ctx context.Context, fn func(beacon.Event) error) error {
	return each(ctx, s.books, examineText.events, eventRow, sound(fn))
}

// Places returns, for each node, the last change that has become an event.
func (s Snapshot) Places(ctx context.Context) (map[string]int64, error) {
	places := map[string]int64{}
	var node string
	return places, each(ctx, s.books, examineText.places, func(seq *int64) ([]any, func() error) {
		return []any{&node, seq}, done
	}, func(seq int64, _ error) error {
		places[node] = seq
		return nil
	})
}

// Leases returns all leases.
func (s Snapshot) Leases(ctx context.Context) ([]lease.Lease, error) {
	return list(ctx, s.books, examineText.leases, leaseRow)
}

// EachSpan calls fn with the spans in which nodes were up.
func (s Snapshot) EachSpan(ctx context.Context, fn func(node string, span beacon.ServiceSpan) error) error {
	var node string
	return each(ctx, s.books, examineText.spans, func(span *beacon.ServiceSpan) ([]any, func() error) {
		return []any{&node, &span.From, &span.To}, done
	}, func(span beacon.ServiceSpan, _ error) error { return fn(node, span) })
}

// EachBatch calls fn with every row of all journals, journal by journal, each in order.
func (s Snapshot) EachBatch(ctx context.Context, fn func(node string, row beacon.JournalRow) error) error {
	var node string
	return each(ctx, s.books, examineText.journal, func(row *beacon.JournalRow) ([]any, func() error) {
		return []any{&node, &row.Seq, &row.Batch}, done
	}, func(row beacon.JournalRow, _ error) error { return fn(node, row) })
}

// EachRecord calls fn with every record of every day. From a day on, before is the record
// of the same hotspot on the day before, or nil.
func (s Snapshot) EachRecord(ctx context.Context, from beacon.Day, fn func(r beacon.RecordRow, before []byte) error) error {
	var before []byte
	return each(ctx, s.books, examineText.records, func(r *beacon.RecordRow) ([]any, func() error) {
		return []any{(*int64)(&r.Day), (*string)(&r.Hotspot), &r.Data, &before}, done
	}, func(r beacon.RecordRow, _ error) error { return fn(r, before) }, int64(from))
}

// Strays calls fn with every dangling reference, and returns the number of kinds of
// references.
func (s Snapshot) Strays(ctx context.Context, fn func(id, what string) error) (kinds int, err error) {
	for _, stray := range strays {
		err := each(ctx, s.books, stray.rows, textRow, func(id string, _ error) error { return fn(id, stray.what) })
		if err != nil {
			return 0, err
		}
	}
	return len(strays), nil
}

// firstNumber sorts before every day and month.
const firstNumber = math.MinInt64

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
	for last := T(firstNumber); ; {
		n, any, err := first(ctx, s.books, next, numberRow[T], int64(last))
		if err != nil || !any {
			return all, err
		}
		if n <= last {
			return all, errors.New("a table is not in the order of its key") // else it would loop forever
		}
		all, last = append(all, n), n
	}
}

// EachLedgerRow calls fn with every row, void or not, in no order, and the error found in
// it, if any.
func (s Snapshot) EachLedgerRow(ctx context.Context, fn func(ledger.Row, error) error) error {
	if err := each(ctx, s.books, examineText.ledger, ledgerRow, fn); err != nil {
		return err
	}
	return each(ctx, s.books, examineText.ledgerAgain, ledgerRow, fn)
}

// Revision returns the revision of the ledger; 0 if nothing was written to it.
func (s Snapshot) Revision(ctx context.Context) (int64, error) {
	revision, _, err := first(ctx, s.books, examineText.revision, numberRow[int64])
	return revision, err
}

// AnyHeldDay reports whether any day was closed under a hold.
func (s Snapshot) AnyHeldDay(ctx context.Context) (bool, error) {
	_, any, err := first(ctx, s.books, examineText.heldDay, textRow[string])
	if err == nil && !any {
		_, any, err = first(ctx, s.books, examineText.heldSum, textRow[string])
	}
	return any, err
}

// EachHold calls fn for every hold, by user and number, with an error if it is damaged.
func (s Snapshot) EachHold(ctx context.Context, fn func(h beacon.Hold, damage error) error) error {
	return each(ctx, s.books, examineText.holds, holdRow, fn)
}

// StrayHeld returns the holds that held days name and that do not hold them.
func (s Snapshot) StrayHeld(ctx context.Context) ([]string, error) {
	return list(ctx, s.books, examineText.strayHeld, textRow[string])
}

// StandingsThrough returns through which day standings are complete; false if they never
// were.
func (s Snapshot) StandingsThrough(ctx context.Context) (ledger.StandingsThrough, bool, error) {
	return first(ctx, s.books, rewardText.standingsThrough, standingsThroughRow)
}

// EachStanding calls fn with every standing.
func (s Snapshot) EachStanding(ctx context.Context, fn func(ledger.Standing) error) error {
	return each(ctx, s.books, examineText.standings, standingRow, sound(fn))
}

// FinishedMonths returns the months that are settled for everyone.
func (s Snapshot) FinishedMonths(ctx context.Context) ([]beacon.Month, error) {
	return list(ctx, s.books, examineText.rewardMonths, numberRow[beacon.Month])
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
