package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// InsertHotspot writes a new hotspot. It returns Conflict if a live hotspot has its
// MAC.
//
// If once is not nil, the record of an idempotent request is written in the same
// transaction, with the hotspot as its result. If its owner already has a record under
// its key that expires after h.CreatedAt, nothing is written and that record is
// returned: of two callers that race, on any nodes, one inserts and the other gets the
// record of the first (decision N12).
func (db *DB) InsertHotspot(
	ctx context.Context, h beacon.Hotspot, by beacon.Actor, once *beacon.Idempotency,
) (replay *beacon.Idempotency, err error) {
	row, err := rowOf(h)
	if err != nil {
		return nil, internal("insert hotspot", err)
	}
	fixed, mutable := row.values()
	values := append(fixed, mutable...)
	change := beacon.Change{Kind: beacon.HotspotRegistered, Target: string(h.ID), Version: h.Version, Actor: by, At: h.CreatedAt}
	var record, earlier *beacon.Once
	var result []byte
	if once != nil {
		result, err = encodeRegistration(h)
		if err := errors.Join(err, storableText(string(once.Owner), once.Key)); err != nil {
			return nil, internal("insert hotspot", err)
		}
		record = &beacon.Once{Owner: string(once.Owner), Key: once.Key, Fingerprint: once.Fingerprint, ExpiresAt: once.ExpiresAt, At: h.CreatedAt}
	}
	err = db.commit(ctx, "hotspot by mac "+h.Device.MAC.Canonical(), func(tx *transaction) (_ changes, err error) {
		if earlier, err = claimOnce(tx, record, result, 0); err != nil || earlier != nil {
			return nil, err
		}
		if refused := mayRegister(tx, by, row.operator, h.CreatedAt); refused != nil {
			return nil, errors.Join(refused, releaseOnce(tx, record))
		}
		n, err := tx.exec(sqlText.insertHotspot, values...)
		if err == nil && n > 0 {
			n, err = keepReserved(tx, h)
		}
		if err != nil || n > 0 {
			return changes{&change}, err
		}
		if err := releaseOnce(tx, record); err != nil {
			return nil, err
		}
		return nil, macTaken(nil)
	})
	if err != nil || earlier == nil {
		return nil, err
	}
	registered, err := decodeRegistration(earlier.Result)
	if err != nil {
		return nil, internal("read an idempotency record", err)
	}
	return &beacon.Idempotency{
		Owner: once.Owner, Key: once.Key, Fingerprint: earlier.Fingerprint, Hotspot: registered, ExpiresAt: earlier.ExpiresAt,
	}, nil
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
// the hotspot. Changes to ID, Operator, CreatedAt and Version are ignored. If the actor has
// a Once, edit sets its result (see doOnce).
func (db *DB) UpdateHotspot(
	ctx context.Context, id beacon.HotspotID, by beacon.Actor, kind beacon.ChangeKind,
	edit func(*beacon.Hotspot) (changed bool, err error),
) (beacon.Hotspot, error) {
	var result beacon.Hotspot
	op := &operation{order: "hotspot by id " + string(id), user: by.User, duplicate: macTaken}
	op.run = func(tx *transaction) (changes, error) {
		change, err := update(tx, op, sqlText.hotspot, id, edit, &result)
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
	return nil, unavailable(fmt.Errorf("hotspot %s changed %d times during the edit", id, casTries))
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
	err = op.asCaller(func() (err error) {
		changed, err = edit(&next)
		return err
	})
	if err != nil || !changed {
		*result = current
		return nil, true, err
	}
	next.ID, next.Operator, next.CreatedAt, next.Version = current.ID, current.Operator, current.CreatedAt, current.Version+1
	row, err := rowOf(next)
	if err != nil {
		return nil, true, internal("update hotspot", err)
	}
	if *result, err = row.hotspot(); err != nil { // as it will be read back; before anything is written
		return nil, true, internal("update hotspot", err)
	}
	n, err := row.write(tx, current.Version)
	if err != nil || n == 0 {
		return nil, false, err
	}
	at := next.UpdatedAt
	if next.DeletedAt.After(at) {
		at = next.DeletedAt
	}
	if err := freeMAC(tx, op.user, current, next, at); err != nil {
		return nil, true, err
	}
	return &beacon.Change{Target: string(id), Version: next.Version, At: at}, true, nil
}

func findHotspot(tx *transaction, text string, id beacon.HotspotID) (beacon.Hotspot, error) {
	h, found, err := rowIn(tx, hotspotReader, text, string(id))
	if err == nil && !found {
		err = notFound("hotspot")
	}
	return h, err
}

// Hotspot returns a live hotspot, or NotFound.
func (db *DB) Hotspot(ctx context.Context, id beacon.HotspotID) (beacon.Hotspot, error) {
	h, found, err := queryFirst(ctx, db, hotspotReader, sqlText.hotspot, string(id))
	if err == nil && !found {
		err = notFound("hotspot")
	}
	return h, err
}

// HotspotsOf returns a page of an operator's live hotspots, ordered by id, and their
// total number. The page is one of those with an id above after. A page past the end is
// empty.
func (db *DB) HotspotsOf(ctx context.Context, user beacon.UserID, after beacon.HotspotID, offset, limit int) (page []beacon.Hotspot, total int, err error) {
	if _, err = db.queryRow(ctx, []any{&total}, sqlText.countOf, string(user)); err != nil || total <= offset {
		return nil, total, err
	}
	page, err = query(ctx, db, hotspotReader, sqlText.hotspotsOf, string(user), max(limit, 0), max(offset, 0), string(after))
	return page, total, err
}

// EverOf returns up to limit hotspots of an operator with an id above after, ordered by
// id, deleted ones too.
func (db *DB) EverOf(ctx context.Context, user beacon.UserID, after beacon.HotspotID, limit int) ([]beacon.Hotspot, error) {
	return query(ctx, db, hotspotReader, sqlText.everOf, string(user), string(after), max(limit, 0))
}

// NamesOf returns an operator's live hotspots with their names, ordered by id. It has
// no search by name, because databases fold case differently.
func (db *DB) NamesOf(ctx context.Context, user beacon.UserID) ([]beacon.HotspotName, error) {
	const never = math.MaxInt64 // no deletion is this late: deleted hotspots are left out
	return listRetrying(ctx, db, rewardText.names, nameRow, string(user), int64(never))
}

// HotspotsChangedAfter returns the live hotspots whose last change was after a moment, by
// id. It reads all rows: call it only when a clock was wrong.
func (db *DB) HotspotsChangedAfter(ctx context.Context, at time.Time) ([]beacon.HotspotID, error) {
	return query(ctx, db, textRow[beacon.HotspotID], sqlText.hotspotsChangedAfter, micros(at))
}

// idsPerQuery is how many ids a query with a list of them asks for at once. The list is
// padded with its last id, so that one prepared statement serves any number.
const idsPerQuery = 100

// HotspotsByID returns the hotspots that exist, deleted ones too, in no particular
// order: what a follower of the change stream has to apply.
func (db *DB) HotspotsByID(ctx context.Context, ids []beacon.HotspotID) (all []beacon.Hotspot, err error) {
	var row hotspotRow // reused: each row overwrites all of it
	rest := db.scanAmong(ctx, sqlText.hotspotRange, row.targets(), (*beacon.HotspotID)(&row.id), ids, func() error {
		h, err := row.named()
		if err == nil {
			all = append(all, h)
		}
		return err
	})
	if len(rest) > 0 && len(all) > 0 && all[len(all)-1].ID == rest[0] {
		rest = rest[1:]
	}
	return appendByID(ctx, db, all, sqlText.hotspotsByID, hotspotReader, rest)
}
