package store

import (
	"context"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const putLinkCodeSQL = `INSERT INTO link_codes (hotspot, hash, expires_at, tries) VALUES ($1, $2, $3, 0)
		ON CONFLICT (hotspot) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at, tries = 0`

// PutLinkCode writes a code for linking a device to a live hotspot, replacing the
// hotspot's earlier one, once if the actor says so (see doOnce). It returns NotFound if
// there is no such hotspot, and Conflict if another hotspot has the same code.
func (db HotspotTable) PutLinkCode(ctx context.Context, code beacon.LinkCode, by beacon.Actor, now time.Time) error {
	hash := encodeHash(code.Hash)
	change := beacon.Change{Kind: beacon.LinkCodeCreated, Target: string(code.Hotspot), Actor: by, At: now}
	op := &operation{order: "code", duplicate: beacon.Conflicting}
	op.run = func(tx *transaction) (changes, error) {
		if _, err := findHotspot(tx, hotspotSQL, code.Hotspot); err != nil {
			return nil, err
		}
		return changes{&change}, tx.write(putLinkCodeSQL, string(code.Hotspot), hash, micros(code.ExpiresAt))
	}
	return db.doOnce(ctx, op, by)
}

// LinkDevice uses a code up: edit changes the hotspot of the code, such as its KeyHash
// and LinkedAt, and the result is written as the next version, with the change
// HotspotLinked. It returns NotFound if the code does not exist, or no longer, and
// ErrSpentCode if it has expired or its hotspot is deleted.
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
func (db HotspotTable) LinkDevice(
	ctx context.Context, hash [32]byte, by beacon.Actor, now time.Time, edit func(*beacon.Hotspot) error,
) (beacon.Hotspot, error) {
	use := &linkUse{hash: encodeHash(hash), by: by, now: now}
	use.edit = func(h *beacon.Hotspot) (bool, error) {
		use.refusal = edit(h)
		return true, use.refusal
	}
	use.op = &operation{order: "code", duplicate: beacon.Conflicting}
	use.op.run = use.run
	if err := db.doOnce(ctx, use.op, by); err != nil {
		return beacon.Hotspot{}, err
	}
	if use.refusal != nil {
		return beacon.Hotspot{}, use.refusal
	}
	return use.result, nil
}

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

const deleteLinkCodeSQL = `DELETE FROM link_codes WHERE hash = $1`

// run locks the code first, so that of two concurrent uses one waits for the other and
// then finds the code used.
func (u *linkUse) run(tx *transaction) (changes, error) {
	u.refusal = nil
	n, err := tx.exec(`UPDATE link_codes SET tries = tries WHERE hash = $1`, u.hash)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, beacon.NoSuch("link code")
	}
	var hotspot beacon.HotspotID
	var expires, tries int64
	if _, err := tx.row([]any{&hotspot, &expires, &tries}, `SELECT hotspot, expires_at, tries FROM link_codes WHERE hash = $1`, u.hash); err != nil {
		return nil, err
	}
	if expires <= micros(u.now) {
		u.refusal = beacon.ErrSpentCode
		return u.refuse(tx, hotspot, "the code has expired", deleteLinkCodeSQL)
	}
	change, err := update(tx, u.op, hotspotSQL, hotspot, u.edit, &u.result)
	switch {
	case tx.failed != nil:
		return nil, tx.failed
	case beacon.KindOf(err) == beacon.NotFound && u.refusal == nil:
		u.refusal = beacon.ErrSpentCode
		return u.refuse(tx, hotspot, "the hotspot is deleted", deleteLinkCodeSQL)
	case u.refusal != nil:
		note, spend := fmt.Sprintf("%v: try %d of %d", u.refusal, tries+1, beacon.LinkTries), `UPDATE link_codes SET tries = tries + 1 WHERE hash = $1`
		if tries+1 >= beacon.LinkTries {
			spend = deleteLinkCodeSQL
		}
		return u.refuse(tx, hotspot, note, spend)
	case err != nil:
		return nil, err
	}
	change.Kind, change.Actor = beacon.HotspotLinked, u.by
	return changes{change}, tx.write(deleteLinkCodeSQL, u.hash)
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
func (db ChangeTable) NoteRefusal(ctx context.Context, change beacon.Change) error {
	if err := storableText(string(change.Kind), change.Target, change.Actor.Note); err != nil {
		return internal("note refusal", err)
	}
	return db.commit(ctx, "refusal", func(*transaction) (changes, error) { return changes{&change}, nil })
}
