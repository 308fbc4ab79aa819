package store

import (
	"context"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

const rowRangeSQL = `SELECT ` + ledgerColumns + ` FROM ledger WHERE day = $1 AND user_id >= $2 AND user_id <= $4
			AND (user_id, hotspot) >= ($2, $3) AND (user_id, hotspot) <= ($4, $5) ORDER BY user_id, hotspot`

const againRangeSQL = `SELECT ` + ledgerColumns + ` FROM ledger_again WHERE user_id >= $2 AND user_id <= $4 AND day = $1
			AND (user_id, hotspot) >= ($2, $3) AND (user_id, hotspot) <= ($4, $5) ORDER BY user_id, hotspot, revision`

// ValidRows returns the rows of a closed day between two hotspots, both included, in
// order: those that no correction made void. Reopened has all reopenings.
func (db LedgerTable) ValidRows(ctx context.Context, day beacon.Day, from, to beacon.Owned, reopened ledger.Reopenings) ([]ledger.Row, error) {
	return validRows(ctx, db, day, from, to, reopened)
}

func validRows(ctx context.Context, db source, day beacon.Day, from, to beacon.Owned, reopened ledger.Reopenings) ([]ledger.Row, error) {
	args := []any{int64(day), string(from.User), string(from.Hotspot), string(to.User), string(to.Hotspot)}
	rows, err := list(ctx, db, ledgerRow, rowRangeSQL, args...)
	if err != nil || !reopened.Again(day) {
		return rows, err
	}
	again, err := list(ctx, db, ledgerRow, againRangeSQL, args...)
	rows = slices.DeleteFunc(append(rows, again...), func(r ledger.Row) bool { return !reopened.Valid(&r) })
	return sortedBy(rows, func(r *ledger.Row) beacon.Owned { return r.Owned }), err
}

const standingRangeSQL = `SELECT ` + standingColumns + ` FROM standings WHERE hotspot >= $1 AND hotspot <= $2 ORDER BY hotspot, since LIMIT $3`

// Standings returns all standings of some hotspots, in no particular order and some of
// them maybe twice.
func (db LedgerTable) Standings(ctx context.Context, ids []beacon.HotspotID) (all []ledger.Standing, err error) {
	rest := scanAmong(ctx, db.core, standingRow, func(s *ledger.Standing) beacon.HotspotID { return s.Hotspot }, ids,
		func(s *ledger.Standing) { all = append(all, *s) }, standingRangeSQL)
	found, err := listByID(ctx, db, standingRow, `SELECT `+standingColumns+` FROM standings WHERE hotspot IN (…)`, rest)
	return append(all, found...), err
}

// StandingsThrough returns through which day the standings are complete; false if they
// never were.
func (db LedgerTable) StandingsThrough(ctx context.Context) (ledger.StandingsThrough, bool, error) {
	return first(ctx, db, standingsThroughRow, standingsThroughSQL)
}

func standingsThroughRow(t *ledger.StandingsThrough) []any {
	return []any{(*int64)(&t.Day), &t.Revision, &t.ADay}
}

// ForgetStandings deletes all standings, to count them again. It returns Conflict if the
// lease was lost, like the two methods below.
func (db LedgerTable) ForgetStandings(ctx context.Context, l lease.Lease) error {
	return db.fenced(ctx, l, func(tx *transaction) error { return tx.write(`DELETE FROM standings`) })
}

const putStandingsSQL = `INSERT INTO standings (` + standingColumns + `) VALUES (…) ON CONFLICT (hotspot, since) DO UPDATE SET through = excluded.through, before = excluded.before, days = excluded.days`

// PutStandings writes standings. Other writes wait for it: send a thousand at a time, by
// hotspot.
func (db LedgerTable) PutStandings(ctx context.Context, l lease.Lease, standings []ledger.Standing) error {
	standings = sortedBy(standings, func(s *ledger.Standing) beacon.Owned { return beacon.Owned{Hotspot: s.Hotspot} })
	return db.fenced(ctx, l, func(tx *transaction) error {
		return putRows(tx, putStandingsSQL, standings, standingRow)
	})
}

const putStandingsThroughSQL = `INSERT INTO standings_through (id, day, revision, minutes_a_day) VALUES (1, $1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET day = excluded.day, revision = excluded.revision, minutes_a_day = excluded.minutes_a_day`

// FinishStandings records that the standings are complete. It returns Conflict if days
// were opened again since.
func (db LedgerTable) FinishStandings(ctx context.Context, l lease.Lease, through ledger.StandingsThrough) error {
	return db.fenced(ctx, l, func(tx *transaction) error {
		if err := atRevision(tx, through.Revision); err != nil {
			return err
		}
		return tx.write(putStandingsThroughSQL, int64(through.Day), through.Revision, int64(through.ADay))
	})
}

// finishStandings records, with the last page of a day, that the standings are complete.
func finishStandings(tx *transaction, page ledger.Page) error {
	if !page.Places || page.Done.IsZero() {
		return nil
	}
	return tx.write(putStandingsThroughSQL, int64(page.Day), page.Revision, int64(page.StandingADay))
}
