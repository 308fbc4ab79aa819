package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

const reopenSQL = `INSERT INTO reward_revision (id, revision) VALUES (1, $1)
		ON CONFLICT (id) DO UPDATE SET revision = excluded.revision WHERE reward_revision.revision = excluded.revision - 1`
const addReopeningSQL = `INSERT INTO reopenings (revision, first_day, last_day, at) VALUES ($1, $2, $3, $4)`

// Reopen opens closed days again: it writes the corrections and the sums of what holds,
// and forgets how far those days were closed. It writes all of it or nothing. It returns
// Conflict if anything was closed, settled or opened since the reopening was computed,
// and for days of a month that is settled or being settled. Other writes wait for it:
// for some seconds where there are many hotspots.
func (db LedgerTable) Reopen(ctx context.Context, r ledger.Reopening, by beacon.Actor) error {
	by.Note = fmt.Sprintf("through %s, revision %d", r.Through, r.Revision)
	change := beacon.Change{Kind: beacon.RewardsReopened, Target: r.From.String(), Actor: by, At: r.At}
	hotspots := sortedByMonth(r.Hotspots, func(m *ledger.HotspotMonth) (beacon.Month, beacon.Owned) { return m.Month, m.Owned })
	gone := sortedByMonth(r.Gone, func(m *ledger.HotspotMonth) (beacon.Month, beacon.Owned) { return m.Month, m.Owned })
	users := sortedByMonth(r.Users, func(m *ledger.UserMonth) (beacon.Month, beacon.Owned) { return m.Month, beacon.Owned{User: m.User} })
	corrections := sortedByMonth(r.Corrections, func(c *ledger.Row) (beacon.Month, beacon.Owned) { return c.Day.Month(), c.Owned })
	op := &operation{order: "reopen"}
	op.run = func(tx *transaction) (changes, error) {
		if err := mayReopen(tx, &r); err != nil {
			return nil, err
		}
		err := cmp.Or(
			tx.write(reopenSQL, r.Revision),
			tx.write(addReopeningSQL, r.Revision, int64(r.From), int64(r.Through), micros(r.At)),
			putRows(tx, `INSERT INTO corrections (`+correctionColumns+`) VALUES (…)`, corrections, correctionRow),
			putRows(tx, putHotspotMonthsSQL, hotspots, hotspotMonthRow),
			forgetHotspots(tx, gone),
			putRows(tx, putUserMonthsSQL, users, userMonthRow),
			tx.write(`DELETE FROM held_days WHERE day >= $1`, int64(r.From)),
			tx.write(`DELETE FROM reward_days WHERE day >= $1`, int64(r.From)),
		)
		return changes{&change}, err
	}
	return db.doOnce(ctx, op, by)
}

const forgetHotspotSQL = `DELETE FROM hotspot_months WHERE month = $1 AND user_id = $2 AND hotspot = $3`

func forgetHotspots(tx *transaction, sums []ledger.HotspotMonth) error {
	for _, m := range sums {
		if err := tx.write(forgetHotspotSQL, int64(m.Month), string(m.User), string(m.Hotspot)); err != nil {
			return err
		}
	}
	return nil
}

// A month whose settlement has begun counts as settled.
var settledFromSQL = []string{
	`SELECT 1 FROM reward_months WHERE month >= $1 LIMIT 1`,
	`SELECT 1 FROM accounts WHERE settled >= $1 LIMIT 1`,
	`SELECT 1 FROM hotspot_totals WHERE through >= $1 LIMIT 1`,
}

// mayReopen locks the ledger, and returns Conflict unless it is as the reopening found
// it and nothing of those months is settled. It changes nothing: a refusal is committed
// with the rest of its group.
func mayReopen(tx *transaction, r *ledger.Reopening) error {
	if err := atRevision(tx, r.Revision-1); err != nil {
		return err
	}
	newest, found, err := first(tx.ctx, tx, closingRow, newestClosingSQL)
	if err != nil {
		return err
	}
	if !found || newest != r.Closing {
		return reopenedElsewhere()
	}
	for _, text := range settledFromSQL {
		settled, err := tx.exists(text, int64(r.From.Month()))
		if err != nil {
			return err
		}
		if settled {
			return ledger.ErrSettled
		}
	}
	return nil
}

const atRevisionSQL = `INSERT INTO reward_revision (id, revision) VALUES (1, $1)
		ON CONFLICT (id) DO UPDATE SET revision = excluded.revision WHERE reward_revision.revision = excluded.revision`

// atRevision locks the ledger against reopenings for the rest of the transaction. It
// returns Conflict if days were opened again since a revision.
func atRevision(tx *transaction, revision int64) error {
	n, err := tx.exec(atRevisionSQL, revision)
	if err == nil && n == 0 {
		err = reopenedElsewhere()
	}
	return err
}

// reopenedElsewhere is the error for a write to a ledger that has changed meanwhile.
// Nothing was written.
func reopenedElsewhere() error {
	return beacon.Conflicting(errors.New("days were closed or opened again: read how far the closing has come, and start again"))
}

const reopeningsSQL = `SELECT revision, first_day, last_day, at FROM reopenings ORDER BY revision`

func (b *books) Reopenings(ctx context.Context) (ledger.Reopenings, error) {
	return list(ctx, b, reopeningRow, reopeningsSQL)
}

const (
	correctionsSQL = `SELECT ` + correctionColumns + ` FROM corrections WHERE user_id = $1 AND month = $2 ORDER BY revision`
	againSQL       = `SELECT ` + ledgerColumns + ` FROM ledger_again
		WHERE user_id = $1 AND day >= $2 AND day <= $3 ORDER BY day, hotspot, revision`
)

func (b *books) Again(ctx context.Context, user beacon.UserID, month beacon.Month) ([]ledger.Row, error) {
	rows, err := list(ctx, b, correctionRow, correctionsSQL, string(user), int64(month))
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].Kind = ledger.Correction
	}
	again, err := list(ctx, b, ledgerRow, againSQL, string(user), int64(month.First()), int64(month.Last()))
	return append(rows, again...), err
}

const (
	voidedBySQL    = `SELECT revision FROM reopenings WHERE first_day <= $1 ORDER BY revision DESC LIMIT 1`
	newestAgainSQL = `SELECT ` + ledgerColumns + ` FROM ledger_again
		WHERE user_id = $1 AND day = $2 AND hotspot = $3 ORDER BY revision DESC LIMIT 1`
)
const ledgerRowSQL = `SELECT ` + ledgerColumns + ` FROM ledger WHERE day = $1 AND user_id = $2 AND hotspot = $3`

func (b *books) Row(ctx context.Context, day beacon.Day, of beacon.Owned) (r ledger.Row, found bool, err error) {
	voided, _, err := first(ctx, b, number[int64], voidedBySQL, int64(day))
	if err != nil {
		return r, false, err
	}
	if voided > 0 {
		r, found, err = first(ctx, b, ledgerRow, newestAgainSQL, string(of.User), int64(day), string(of.Hotspot))
	}
	if err == nil && !found {
		r, found, err = first(ctx, b, ledgerRow, ledgerRowSQL, int64(day), string(of.User), string(of.Hotspot))
	}
	return r, found && r.Revision >= voided, err
}
