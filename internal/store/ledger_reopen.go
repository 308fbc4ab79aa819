package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// Reopen opens closed days again: it writes the corrections and the sums of what holds,
// and forgets how far those days were closed. It writes all of it or nothing. It returns
// Conflict if anything was closed, settled or opened since the reopening was computed,
// and for days of a month that is settled or being settled. Other writes wait for it:
// for some seconds where there are many hotspots.
func (db *DB) Reopen(ctx context.Context, r ledger.Reopening, by beacon.Actor) error {
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
			tx.write(rewardText.reopen, r.Revision),
			tx.write(rewardText.addReopening, r.Revision, int64(r.From), int64(r.Through), micros(r.At)),
			putRows(tx, rewardText.putCorrections[:], corrections, appendCorrection),
			putRows(tx, rewardText.putHotspotMonths[:], hotspots, appendHotspotMonth),
			forgetHotspots(tx, gone),
			putRows(tx, rewardText.putUserMonths[:], users, appendUserMonth),
			tx.write(rewardText.forgetHeldDays, int64(r.From)),
			tx.write(rewardText.forgetDays, int64(r.From)),
		)
		return changes{&change}, err
	}
	return db.doOnce(ctx, op, by)
}

func forgetHotspots(tx *transaction, sums []ledger.HotspotMonth) error {
	for _, m := range sums {
		if err := tx.write(rewardText.forgetHotspot, int64(m.Month), string(m.User), string(m.Hotspot)); err != nil {
			return err
		}
	}
	return nil
}

// mayReopen locks the ledger, and returns Conflict unless it is as the reopening found
// it and nothing of those months is settled. It changes nothing: a refusal is committed
// with the rest of its group.
func mayReopen(tx *transaction, r *ledger.Reopening) error {
	if err := atRevision(tx, r.Revision-1); err != nil {
		return err
	}
	newest, found, err := rowIn(tx, closingRow, rewardText.newestDay.text())
	if err != nil {
		return err
	}
	if !found || newest != r.Closing {
		return reopenedElsewhere()
	}
	for _, text := range rewardText.settledFrom {
		settled, err := tx.exists(text, int64(r.From.Month()))
		if err != nil {
			return err
		}
		if settled {
			return &beacon.Error{Kind: beacon.Conflict, Message: fmt.Sprintf("%s or a later month is settled, or is being settled", r.From.Month())}
		}
	}
	return nil
}

// atRevision locks the ledger against reopenings for the rest of the transaction. It
// returns Conflict if days were opened again since a revision.
func atRevision(tx *transaction, revision int64) error {
	n, err := tx.exec(rewardText.atRevision, revision)
	if err == nil && n == 0 {
		err = reopenedElsewhere()
	}
	return err
}

// reopenedElsewhere is the error for a write to a ledger that has changed meanwhile.
// Nothing was written.
func reopenedElsewhere() error {
	return &beacon.Error{
		Kind:    beacon.Conflict,
		Message: "days were closed or opened again meanwhile: try again",
		Err:     errors.New("read how far the closing has come, and start again"),
	}
}

func appendCorrection(values []any, c *ledger.Row) []any {
	values = append(values, string(c.User), int64(c.Day.Month()), c.Revision, int64(c.Day), c.Corrects[:])
	return appendSum(values, &ledger.Sum{Served: int64(c.Served), Expected: int64(c.Expected), Earned: c.Earned})
}

func correctionRow(c *ledger.Row) ([]any, func() error) {
	var month int64
	var corrects []byte
	targets := []any{(*string)(&c.User), &month, &c.Revision, (*int64)(&c.Day), &corrects, &c.Served, &c.Expected}
	return append(targets, earnedTargets(&c.Earned)...), func() error { return readHash(&c.Corrects, corrects) }
}

func reopeningRow(r *ledger.Reopening) ([]any, func() error) {
	return []any{&r.Revision, (*int64)(&r.From), (*int64)(&r.Through), (*moment)(&r.At)}, done
}

func (b *books) Reopenings(ctx context.Context) (ledger.Reopenings, error) {
	return list(ctx, b, rewardText.reopenings, reopeningRow)
}

func (b *books) Again(ctx context.Context, user beacon.UserID, month beacon.Month) ([]ledger.Row, error) {
	rows, err := list(ctx, b, rewardText.corrections, correctionRow, string(user), int64(month))
	if err != nil {
		return nil, err
	}
	again, err := list(ctx, b, rewardText.again, ledgerRow, string(user), int64(month.First()), int64(month.Last()))
	return append(rows, again...), err
}

func (b *books) Row(ctx context.Context, day beacon.Day, of beacon.Owned) (r ledger.Row, any bool, err error) {
	voided, _, err := first(ctx, b, rewardText.voidedBy, numberRow[int64], int64(day))
	if err != nil {
		return r, false, err
	}
	if voided > 0 {
		r, any, err = first(ctx, b, rewardText.newestAgain, ledgerRow, string(of.User), int64(day), string(of.Hotspot))
	}
	if err == nil && !any {
		r, any, err = first(ctx, b, rewardText.ledgerRow, ledgerRow, int64(day), string(of.User), string(of.Hotspot))
	}
	return r, any && r.Revision >= voided, err
}
