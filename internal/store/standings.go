package store

import (
	"context"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// ValidRows returns the rows of a closed day between two hotspots, both included, in
// order: those that no correction made void. Reopened has all reopenings.
func (db *DB) ValidRows(ctx context.Context, day beacon.Day, from, to beacon.Owned, reopened ledger.Reopenings) ([]ledger.Row, error) {
	args := []any{int64(day), string(from.User), string(from.Hotspot), string(to.User), string(to.Hotspot)}
	rows, err := listRetrying(ctx, db, rewardText.rowRange, ledgerRow, args...)
	if err != nil || !reopened.Again(day) {
		return rows, err
	}
	again, err := listRetrying(ctx, db, rewardText.againRange, ledgerRow, args...)
	rows = slices.DeleteFunc(append(rows, again...), func(r ledger.Row) bool { return !reopened.Holds(&r) })
	return sortedBy(rows, func(r *ledger.Row) beacon.Owned { return r.Owned }), err
}

// Standings returns all standings of some hotspots, in no particular order and some of
// them maybe twice.
func (db *DB) Standings(ctx context.Context, ids []beacon.HotspotID) (all []ledger.Standing, err error) {
	var s ledger.Standing
	targets, _ := standingRow(&s)
	rest := db.scanAmong(ctx, rewardText.standingRange, targets, &s.Hotspot, ids, func() error {
		all = append(all, s)
		return nil
	})
	return appendByID(ctx, db, all, rewardText.standings, standingRow, rest)
}

// StandingsThrough returns through which day the standings are complete; false if they
// never were.
func (db *DB) StandingsThrough(ctx context.Context) (ledger.StandingsThrough, bool, error) {
	return firstRetrying(ctx, db, rewardText.standingsThrough, standingsThroughRow)
}

func standingsThroughRow(t *ledger.StandingsThrough) ([]any, func() error) {
	return []any{(*int64)(&t.Day), &t.Revision}, done
}

// ForgetStandings deletes all standings, to count them again. It returns Conflict if the
// lease was lost, like the two methods below.
func (db *DB) ForgetStandings(ctx context.Context, l lease.Lease) error {
	return db.fenced(ctx, l, func(tx *transaction) error { return tx.write(rewardText.forgetStandings) })
}

// PutStandings writes standings. Other writes wait for it: send a thousand at a time, by
// hotspot.
func (db *DB) PutStandings(ctx context.Context, l lease.Lease, standings []ledger.Standing) error {
	standings = sortedBy(standings, func(s *ledger.Standing) beacon.Owned { return beacon.Owned{Hotspot: s.Hotspot} })
	return db.fenced(ctx, l, func(tx *transaction) error {
		return putRows(tx, rewardText.putStandings[:], standings, func(values []any, s *ledger.Standing) []any {
			return append(values, string(s.Hotspot), int64(s.Since), int64(s.Through), int64(s.Before), int64(s.Days))
		})
	})
}

// FinishStandings records that the standings are complete. It returns Conflict if days
// were opened again since.
func (db *DB) FinishStandings(ctx context.Context, l lease.Lease, through ledger.StandingsThrough) error {
	return db.fenced(ctx, l, func(tx *transaction) error {
		if err := atRevision(tx, through.Revision); err != nil {
			return err
		}
		return tx.write(rewardText.putStandingsThrough, int64(through.Day), through.Revision)
	})
}

// finishStandings records, with the last page of a day, that the standings are complete.
func finishStandings(tx *transaction, page ledger.Page) error {
	if !page.Places || page.Done.IsZero() {
		return nil
	}
	return tx.write(rewardText.putStandingsThrough, int64(page.Day), page.Revision)
}

func standingRow(s *ledger.Standing) ([]any, func() error) {
	return []any{(*string)(&s.Hotspot), (*int64)(&s.Since), (*int64)(&s.Through), &s.Before, &s.Days}, done
}
