package store

import (
	"context"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// PutLinkCode writes a code for linking a device to a live hotspot, replacing the
// hotspot's earlier one, once if the actor says so (see doOnce). It returns NotFound if
// there is no such hotspot, and Conflict if another hotspot has the same code.
func (db *DB) PutLinkCode(ctx context.Context, code beacon.LinkCode, by beacon.Actor, now time.Time) error {
	hash := encodeHash(code.Hash)
	change := beacon.Change{Kind: beacon.LinkCodeCreated, Target: string(code.Hotspot), Actor: by, At: now}
	op := &operation{order: "code", duplicate: codeTaken}
	op.run = func(tx *transaction) (changes, error) {
		if _, err := findHotspot(tx, sqlText.hotspot, code.Hotspot); err != nil {
			return nil, err
		}
		return changes{&change}, tx.write(sqlText.putLinkCode, string(code.Hotspot), hash, micros(code.ExpiresAt))
	}
	return db.doOnce(ctx, op, by)
}

// LinkDevice uses a code up: edit changes the hotspot of the code, such as its KeyHash
// and LinkedAt, and the result is written as the next version, with the change
// HotspotLinked. It returns NotFound if the code does not exist, or no longer, and
// Forbidden if it has expired or its hotspot is deleted.
//
// An error of edit is returned unchanged and uses up one of the code's tries; the last
// try deletes the code. Edit may run more than once, each time on the then current row,
// and never after LinkDevice returns.
//
// If the actor has a Once, edit sets its result (see doOnce).
//
// Each use of an existing code records one change: HotspotLinked, or LinkRefused with
// the reason in its note. Unknown codes record none, because anyone could fill the
// audit log with them.
func (db *DB) LinkDevice(
	ctx context.Context, hash [32]byte, by beacon.Actor, now time.Time, edit func(*beacon.Hotspot) error,
) (beacon.Hotspot, error) {
	use := &linkUse{hash: encodeHash(hash), by: by, now: now}
	use.edit = func(h *beacon.Hotspot) (bool, error) {
		use.refusal = edit(h)
		return true, use.refusal
	}
	use.op = &operation{order: "code", duplicate: macTaken}
	use.op.run = use.run
	if err := db.doOnce(ctx, use.op, by); err != nil {
		return beacon.Hotspot{}, err
	}
	if use.refusal != nil {
		return beacon.Hotspot{}, use.refusal
	}
	return use.result, nil
}

var errSpent error = &beacon.Error{Kind: beacon.Forbidden, Message: "this code can no longer be used"}

// linkUse is one use of a code.
type linkUse struct {
	hash string
	by   beacon.Actor
	now  time.Time
	edit func(*beacon.Hotspot) (bool, error)
	op   *operation

	result  beacon.Hotspot
	refusal error // the result, if what was written is a refusal
}

// run locks the code first, so that of two concurrent uses one waits for the other and
// then finds the code used.
func (u *linkUse) run(tx *transaction) (changes, error) {
	u.refusal = nil
	if u.by.Once != nil {
		u.by.Once.Result = nil // of an earlier attempt at this transaction
	}
	n, err := tx.exec(sqlText.lockLinkCode, u.hash)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, notFound("link code")
	}
	var hotspot beacon.HotspotID
	var expires, tries int64
	if _, err := tx.row([]any{&hotspot, &expires, &tries}, sqlText.linkCode, u.hash); err != nil {
		return nil, err
	}
	if expires <= micros(u.now) {
		u.refusal = errSpent
		return u.refuse(tx, hotspot, "the code has expired", sqlText.deleteLinkCode)
	}
	change, err := update(tx, u.op, sqlText.hotspot, hotspot, u.edit, &u.result)
	switch {
	case tx.failed != nil:
		return nil, tx.failed
	case beacon.KindOf(err) == beacon.NotFound && u.refusal == nil:
		u.refusal = errSpent
		return u.refuse(tx, hotspot, "the hotspot is deleted", sqlText.deleteLinkCode)
	case u.refusal != nil:
		note, spend := fmt.Sprintf("%v: try %d of %d", u.refusal, tries+1, beacon.LinkTries), sqlText.spendLinkCode
		if tries+1 >= beacon.LinkTries {
			spend = sqlText.deleteLinkCode
		}
		return u.refuse(tx, hotspot, note, spend)
	case err != nil:
		return nil, err
	}
	change.Kind, change.Actor = beacon.HotspotLinked, u.by
	return changes{change}, tx.write(sqlText.deleteLinkCode, u.hash)
}

// refuse writes the cost of the attempt, and the reason to the audit log.
func (u *linkUse) refuse(tx *transaction, id beacon.HotspotID, note, cost string) (changes, error) {
	by := u.by
	if by.Note != "" {
		note = by.Note + "; " + note
	}
	by.Note = note
	return changes{{Kind: beacon.LinkRefused, Target: string(id), Actor: by, At: u.now}}, tx.write(cost, u.hash)
}

// NoteRefusal writes only an audit row, for something that was refused and changed
// nothing.
func (db *DB) NoteRefusal(ctx context.Context, change beacon.Change) error {
	if err := storableText(string(change.Kind), change.Target, change.Actor.Note); err != nil {
		return internal("note refusal", err)
	}
	return db.commit(ctx, "refusal", func(*transaction) (changes, error) { return changes{&change}, nil })
}
