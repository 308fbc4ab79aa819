package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// The conflict target names the index, so that a duplicate id is still an error.
var insertHotspotSQL = `INSERT INTO hotspots (` + hotspotColumns + `, mac_live)
		VALUES (…) ON CONFLICT (mac_live) DO NOTHING`

// InsertHotspots writes new hotspots of one operator in one transaction, once if the actor
// says so (see doOnce). One is not written if a live hotspot has its MAC, which is a Conflict,
// or if may refuses it. May, if not nil, is called in the same transaction with how many
// hotspots of the operator wait to be verified, how many were deleted in the day before
// without having been, and the operator's quota; those written before count.
//
// Done is called in the transaction with the verdict on each hotspot, nil for one that is
// written, and sets the result of the actor's Once if that depends on them. It may run more
// than once, and never after InsertHotspots returns. Its error is returned unchanged; it must
// have none if a hotspot is written.
func (db HotspotTable) InsertHotspots(
	ctx context.Context, all []beacon.Hotspot, by beacon.Actor,
	may func(waiting, discarded, quota int) error, done func(verdicts []error) error,
) error {
	rows := make([][]any, len(all))
	op := &operation{weight: len(all)}
	for i, h := range all {
		values, err := hotspotValues(h)
		if err != nil {
			return internal("insert hotspot", err)
		}
		rows[i] = values
		if order := "hotspot by mac " + h.Device.MAC.Canonical(); i == 0 || order < op.order {
			op.order = order
		}
	}
	op.run = func(tx *transaction) (made changes, err error) {
		verdicts := make([]error, len(all))
		for i, h := range all {
			verdicts[i] = insertHotspot(tx, h, rows[i], may)
			if tx.failed != nil {
				return nil, tx.failed
			}
			if verdicts[i] == nil {
				made = append(made, &beacon.Change{Kind: beacon.HotspotRegistered, Target: string(h.ID), Version: h.Version, Actor: by, At: h.CreatedAt})
			}
		}
		if err := op.asCaller(tx, func() error { return done(verdicts) }); err != nil {
			if len(made) > 0 && tx.failed == nil {
				tx.failed = err
			}
			return nil, err
		}
		return made, nil
	}
	return db.doOnce(ctx, op, by)
}

// InsertHotspot is InsertHotspots of one, and returns the verdict on it.
func (db HotspotTable) InsertHotspot(ctx context.Context, h beacon.Hotspot, by beacon.Actor, may func(waiting, discarded, quota int) error) error {
	return db.InsertHotspots(ctx, []beacon.Hotspot{h}, by, may, func(verdicts []error) error { return verdicts[0] })
}

// insertHotspot writes a new hotspot, or nothing and returns why.
func insertHotspot(tx *transaction, h beacon.Hotspot, values []any, may func(waiting, discarded, quota int) error) error {
	if may != nil {
		waiting, discarded, quota, err := countUnverified(tx, h.Operator, h.CreatedAt.Add(-24*time.Hour))
		if err != nil {
			return err
		}
		if err := may(waiting, discarded, quota); err != nil {
			return err
		}
	}
	n, err := tx.exec(insertHotspotSQL, values...)
	if err == nil && n > 0 {
		n, err = keepReserved(tx, h)
	}
	if err == nil && n == 0 {
		err = beacon.Conflicting(errMACTaken)
	}
	if err == nil {
		err = noteFormer(tx, beacon.Hotspot{}, h) // it has none, but in tests and imports
	}
	return err
}

// casTries limits how often an edit is repeated because another node changed the row in
// between.
const casTries = 20

// UpdateHotspot calls edit with the current row and writes the result as the next
// version. It returns NotFound if there is no live hotspot with that id, and Conflict
// if edit set a MAC that another hotspot has.
//
// Edit may run more than once, each time on the then current row, and never after
// UpdateHotspot returns. If it reports no change, nothing is written. An error of edit
// is returned unchanged. Edit sets UpdatedAt; setting DeletedAt deletes the hotspot and
// frees its MAC, which stays reserved for the operator for a while if the operator deleted
// the hotspot and it was in service. Changes to ID, Operator, CreatedAt and Version are ignored. If the actor has
// a Once, edit sets its result (see doOnce).
func (db HotspotTable) UpdateHotspot(
	ctx context.Context, id beacon.HotspotID, by beacon.Actor, kind beacon.ChangeKind,
	edit func(*beacon.Hotspot) (changed bool, err error),
) (beacon.Hotspot, error) {
	return db.edit(ctx, id, by, kind, hotspotSQL, func(_ *transaction, h *beacon.Hotspot) (bool, error) { return edit(h) })
}

// edit is UpdateHotspot for the hotspot that a query finds.
func (db HotspotTable) edit(
	ctx context.Context, id beacon.HotspotID, by beacon.Actor, kind beacon.ChangeKind, text string,
	edit func(*transaction, *beacon.Hotspot) (changed bool, err error),
) (beacon.Hotspot, error) {
	var result beacon.Hotspot
	op := &operation{order: "hotspot by id " + string(id), by: by, duplicate: beacon.Conflicting}
	op.run = func(tx *transaction) (changes, error) {
		change, err := update(tx, op, text, id, func(h *beacon.Hotspot) (bool, error) { return edit(tx, h) }, &result)
		if change == nil || err != nil {
			return nil, err
		}
		change.Kind, change.Actor = kind, by
		return changes{change}, nil
	}
	if err := db.doOnce(ctx, op, by); err != nil {
		return beacon.Hotspot{}, err
	}
	return result, nil
}

// update edits the hotspot that a query finds. The change is nil if there was none.
func update(
	tx *transaction, op *operation, text string, id beacon.HotspotID, edit func(*beacon.Hotspot) (bool, error), result *beacon.Hotspot,
) (*beacon.Change, error) {
	for range casTries {
		if change, done, err := updateOnce(tx, op, text, id, edit, result); done || err != nil {
			return change, err
		}
	}
	return nil, beacon.Unavailable(fmt.Errorf("hotspot %s changed %d times during the edit", id, casTries))
}

var updateHotspotSQL = `UPDATE hotspots SET (` + mutableColumns + `, mac_live) = (…) WHERE id = $1 AND version = $2`

// writeHotspot overwrites a version of a row, and returns how many rows it found.
func writeHotspot(tx *transaction, values []any, id beacon.HotspotID, version int64) (int64, error) {
	return tx.exec(updateHotspotSQL, append([]any{string(id), version}, mutable(values)...)...)
}

// updateOnce is one round of read, edit, and compare-and-set. It is not done if the row
// changed in between.
func updateOnce(
	tx *transaction, op *operation, text string, id beacon.HotspotID, edit func(*beacon.Hotspot) (bool, error), result *beacon.Hotspot,
) (change *beacon.Change, done bool, err error) {
	current, err := findHotspot(tx, text, id)
	if err != nil {
		return nil, true, err
	}
	next, changed := current, false
	err = op.asCaller(tx, func() (err error) {
		changed, err = edit(&next)
		return err
	})
	if err != nil || !changed {
		*result = current
		return nil, true, err
	}
	next.ID, next.CreatedAt, next.Version = current.ID, current.CreatedAt, current.Version+1
	if !op.handsOver {
		next.Operator = current.Operator
	}
	values, err := hotspotValues(next)
	if err == nil {
		*result, err = readBack(values) // before anything is written
	}
	if err != nil {
		return nil, true, internal("update hotspot", err)
	}
	var does beacon.Tally // beside the change
	if next.Device.MAC.Canonical() != current.Device.MAC.Canonical() {
		does.MACs = 1
		if err := tx.mayDo(op.by, does); err != nil {
			return nil, true, err
		}
	}
	n, err := writeHotspot(tx, values, id, current.Version)
	if err != nil || n == 0 {
		return nil, false, err
	}
	at := next.UpdatedAt
	if next.DeletedAt.After(at) {
		at = next.DeletedAt
	}
	if err := freeMAC(tx, op.by.User, current, next, at); err != nil {
		return nil, true, err
	}
	if err := cmp.Or(noteDeletion(tx, op.by.User, current, next), noteFormer(tx, current, next), endOffer(tx, current, next)); err != nil {
		return nil, true, err
	}
	tx.did(op.by, does)
	return &beacon.Change{Target: string(id), Version: next.Version, At: at}, true, nil
}

func findHotspot(tx *transaction, text string, id beacon.HotspotID) (beacon.Hotspot, error) {
	h, found, err := first(tx.ctx, tx, hotspotRow, text, string(id))
	if err == nil && !found {
		err = absent("there is no such hotspot")
	}
	return h, err
}

// Hotspot returns a live hotspot, or NotFound.
func (db HotspotTable) Hotspot(ctx context.Context, id beacon.HotspotID) (beacon.Hotspot, error) {
	h, found, err := first(ctx, db, hotspotRow, hotspotSQL, string(id))
	if err == nil && !found {
		err = absent("there is no such hotspot")
	}
	return h, err
}

var hotspotWithMACSQL = `SELECT ` + hotspotColumns + ` FROM hotspots WHERE mac_live = $1`

// HotspotWithMAC returns the live hotspot with a MAC address, or NotFound.
func (db HotspotTable) HotspotWithMAC(ctx context.Context, mac beacon.MAC) (beacon.Hotspot, error) {
	h, found, err := first(ctx, db, hotspotRow, hotspotWithMACSQL, mac.Canonical())
	if err == nil && !found {
		err = absent("there is no such hotspot")
	}
	return h, err
}

const countOfSQL = `SELECT count(*) FROM hotspots WHERE operator_id = $1 AND deleted_at = 0`

var hotspotsOfSQL = `SELECT ` + hotspotColumns + ` FROM hotspots
		WHERE operator_id = $1 AND deleted_at = 0 AND id > $4 ORDER BY id LIMIT $2 OFFSET $3`

// HotspotsOf returns a page of an operator's live hotspots, ordered by id, and their
// total number. The page is one of those with an id above after. A page past the end is
// empty.
func (db HotspotTable) HotspotsOf(ctx context.Context, user beacon.UserID, after beacon.HotspotID, offset, limit int) (page []beacon.Hotspot, total int, err error) {
	if _, err = readRow(ctx, db, []any{&total}, countOfSQL, string(user)); err != nil || total <= offset {
		return nil, total, err
	}
	page, err = list(ctx, db, hotspotRow, hotspotsOfSQL, string(user), max(limit, 0), max(offset, 0), string(after))
	return page, total, err
}

var everOfSQL = `SELECT ` + hotspotColumns + ` FROM hotspots
		WHERE operator_id = $1 AND id > $2 ORDER BY id LIMIT $3`

// EverOf returns up to limit hotspots of an operator with an id above after, ordered by
// id, deleted ones too.
func (db HotspotTable) EverOf(ctx context.Context, user beacon.UserID, after beacon.HotspotID, limit int) ([]beacon.Hotspot, error) {
	return list(ctx, db, hotspotRow, everOfSQL, string(user), string(after), max(limit, 0))
}

const namesSQL = `SELECT id, name, deleted_at FROM hotspots WHERE operator_id = $1 AND (deleted_at = 0 OR deleted_at >= $2) ORDER BY id`

// NamesOf returns an operator's live hotspots with their names, ordered by id. It has
// no search by name, because databases fold case differently.
func (db HotspotTable) NamesOf(ctx context.Context, user beacon.UserID) ([]beacon.HotspotName, error) {
	const never = math.MaxInt64 // no deletion is this late: deleted hotspots are left out
	return list(ctx, db, nameRow, namesSQL, string(user), int64(never))
}

const hotspotsChangedAfterSQL = `SELECT id FROM hotspots WHERE updated_at > $1 AND deleted_at = 0 ORDER BY id`

// HotspotsChangedAfter returns the live hotspots whose last change was after a moment, by
// id. It reads all rows: call it only when a clock was wrong.
func (db HotspotTable) HotspotsChangedAfter(ctx context.Context, at time.Time) ([]beacon.HotspotID, error) {
	return list(ctx, db, label[beacon.HotspotID], hotspotsChangedAfterSQL, micros(at))
}

var (
	hotspotRangeSQL = `SELECT ` + hotspotColumns + ` FROM hotspots WHERE id >= $1 AND id <= $2 ORDER BY id LIMIT $3`
	hotspotsByIDSQL = `SELECT ` + hotspotColumns + ` FROM hotspots WHERE id IN (…)`
)

// HotspotsByID returns the hotspots that exist, deleted ones too, in no particular
// order: what a follower of the change stream has to apply.
func (db HotspotTable) HotspotsByID(ctx context.Context, ids []beacon.HotspotID) (all []beacon.Hotspot, err error) {
	rest := scanAmong(ctx, db.core, hotspotRow, func(h *beacon.Hotspot) beacon.HotspotID { return h.ID }, ids,
		func(h *beacon.Hotspot) { all = append(all, *h) }, hotspotRangeSQL)
	if len(rest) > 0 && len(all) > 0 && all[len(all)-1].ID == rest[0] {
		rest = rest[1:]
	}
	found, err := listByID(ctx, db, hotspotRow, hotspotsByIDSQL, rest)
	return append(all, found...), err
}
