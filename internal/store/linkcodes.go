package store

import (
	"context"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// PutLinkCode writes a code with which a device may be linked to a live hotspot,
// in the place of its earlier one. It answers NotFound when there is no such
// hotspot, and Conflict when another hotspot has the same code.
func (db *DB) PutLinkCode(ctx context.Context, code beacon.LinkCode, by beacon.Actor, now time.Time) error {
	hash := encodeHash(code.Hash)
	change := beacon.Change{Kind: beacon.LinkCodeCreated, Target: string(code.Hotspot), Actor: by, At: now}
	op := &operation{order: "code", duplicate: codeTaken}
	op.run = func(tx *transaction) (changes, error) {
		if _, err := liveHotspot(tx, code.Hotspot); err != nil {
			return nil, err
		}
		_, err := tx.exec(sqlText.putLinkCode, string(code.Hotspot), hash, micros(code.ExpiresAt))
		return changes{&change}, err
	}
	return db.committer.do(ctx, op)
}

// LinkDevice uses a code up: edit changes the hotspot of the code, such as its
// KeyHash and LinkedAt, and the result is written under the next version as
// HotspotLinked. It answers NotFound when there is no such code, or not any more,
// and Forbidden when it expired by now or its hotspot is gone.
//
// An error of edit is returned as it is, and costs the code one of its tries;
// the last one costs the code itself. Edit may run more than once, each time on
// the row as it is then, and never after LinkDevice returned.
//
// Whoever uses a code that exists leaves one change behind: HotspotLinked, or
// LinkRefused with the reason in its note. Codes that never were leave none,
// because anyone could fill the audit with them.
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
	if err := db.committer.do(ctx, use.op); err != nil {
		return beacon.Hotspot{}, err
	}
	if use.refusal != nil {
		return beacon.Hotspot{}, use.refusal
	}
	return use.result, nil
}

var errSpent error = &beacon.Error{Kind: beacon.Forbidden, Message: "this code cannot be used any more"}

// linkUse is one use of a code.
type linkUse struct {
	hash string
	by   beacon.Actor
	now  time.Time
	edit func(*beacon.Hotspot) (bool, error)
	op   *operation

	result  beacon.Hotspot
	refusal error // the answer, when what was written is a refusal
}

// run locks the code first, so that of two who use it at once one waits for the
// other and then finds it used.
func (u *linkUse) run(tx *transaction) (changes, error) {
	u.refusal = nil
	n, err := tx.exec(sqlText.lockLinkCode, u.hash)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, notFound("link code")
	}
	var hotspot beacon.HotspotID
	var expires, tries int64
	_, err = tx.row(func(scan func(...any) error) error { return scan(&hotspot, &expires, &tries) }, sqlText.linkCode, u.hash)
	if err != nil {
		return nil, err
	}
	if expires <= micros(u.now) {
		u.refusal = errSpent
		return u.refuse(tx, hotspot, "the code has expired", sqlText.deleteLinkCode)
	}
	change, err := u.link(tx, hotspot)
	switch {
	case tx.failed != nil:
		return nil, tx.failed
	case isNotFound(err) && u.refusal == nil:
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
	_, err = tx.exec(sqlText.deleteLinkCode, u.hash)
	return changes{change}, err
}

func (u *linkUse) link(tx *transaction, id beacon.HotspotID) (*beacon.Change, error) {
	for range casTries {
		change, done, err := updateOnce(tx, u.op, id, u.edit, &u.result)
		if done || err != nil {
			return change, err
		}
	}
	return nil, changedTooOften(id)
}

// refuse writes down what the attempt costs, and why in the audit.
func (u *linkUse) refuse(tx *transaction, id beacon.HotspotID, note, cost string) (changes, error) {
	by := u.by
	if by.Note != "" {
		note = by.Note + "; " + note
	}
	by.Note = note
	_, err := tx.exec(cost, u.hash)
	return changes{{Kind: beacon.LinkRefused, Target: string(id), Actor: by, At: u.now}}, err
}

// NoteRefusal writes an audit row alone: of something that was refused and
// changed nothing.
func (db *DB) NoteRefusal(ctx context.Context, change beacon.Change) error {
	if err := storableText(string(change.Kind), change.Target, change.Actor.Note); err != nil {
		return internal("note refusal", err)
	}
	op := &operation{order: "refusal"}
	op.run = func(*transaction) (changes, error) { return changes{&change}, nil }
	return db.committer.do(ctx, op)
}
