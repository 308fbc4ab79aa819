package store

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const putLinkCodeSQL = `INSERT INTO link_codes (hotspot, hash, expires_at, tries, operator_id) VALUES ($1, $2, $3, 0, $4)
		ON CONFLICT (hotspot) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at, tries = 0, operator_id = excluded.operator_id`

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
		return changes{&change}, tx.write(putLinkCodeSQL, string(code.Hotspot), hash, micros(code.ExpiresAt), string(code.Operator))
	}
	return db.doOnce(ctx, op, by)
}

// LinkDevice uses a code. Use gets the code, without its hash, and its hotspot, or nil if that is deleted. If
// it returns nil, the hotspot is written as the next version, with the change HotspotLinked,
// and the code is deleted. If it returns an error, that is the note of the change
// LinkRefused, and returned unchanged; then the tries of the code are written, or it is
// deleted if it is void. Use may run more than once, each time on the then current rows, and
// never after LinkDevice returns. If the actor has a Once, use sets its result (see doOnce).
//
// It returns NotFound for a code that does not exist, or no longer, and records no change:
// anyone could fill the audit log with them.
func (db HotspotTable) LinkDevice(
	ctx context.Context, hash [32]byte, by beacon.Actor, now time.Time, use func(*beacon.LinkCode, *beacon.Hotspot) error,
) (beacon.Hotspot, error) {
	link := &linkUse{hash: encodeHash(hash), by: by, now: now, use: use, op: &operation{order: "code", duplicate: beacon.Conflicting}}
	link.op.run = link.run
	if err := db.doOnce(ctx, link.op, by); err != nil {
		return beacon.Hotspot{}, err
	}
	return link.result, link.refusal
}

// linkUse is one use of a code.
type linkUse struct {
	hash string
	by   beacon.Actor
	now  time.Time
	use  func(*beacon.LinkCode, *beacon.Hotspot) error
	op   *operation

	result  beacon.Hotspot
	refusal error // the result, if what was written is a refusal
}

const (
	linkCodeSQL       = `SELECT hotspot, expires_at, tries, operator_id FROM link_codes WHERE hash = $1`
	deleteLinkCodeSQL = `DELETE FROM link_codes WHERE hash = $1`
)

func linkCodeRow(c *beacon.LinkCode) []any {
	return []any{(*string)(&c.Hotspot), moment(&c.ExpiresAt), &c.Tries, (*string)(&c.Operator)}
}

// run locks the code first, so that of two concurrent uses one waits for the other and
// then finds the code used.
func (u *linkUse) run(tx *transaction) (changes, error) {
	if _, err := tx.exec(`UPDATE link_codes SET tries = tries WHERE hash = $1`, u.hash); err != nil {
		return nil, err
	}
	code, found, err := first(tx.ctx, tx, linkCodeRow, linkCodeSQL, u.hash)
	if err == nil && !found {
		err = absent("there is no such link code")
	}
	if err != nil {
		return nil, err
	}
	var left beacon.LinkCode
	u.refusal = nil
	use := func(h *beacon.Hotspot) (bool, error) {
		left = code
		u.refusal = u.use(&left, h)
		return true, u.refusal
	}
	change, err := update(tx, u.op, hotspotSQL, code.Hotspot, use, &u.result)
	if beacon.KindOf(err) == beacon.NotFound && u.refusal == nil {
		err = u.op.asCaller(tx, func() error {
			_, err := use(nil)
			return err
		})
	}
	switch {
	case tx.failed != nil:
		return nil, tx.failed
	case u.refusal != nil:
		u.result = beacon.Hotspot{}
		return u.reject(tx, left)
	case err != nil:
		return nil, err
	}
	change.Kind, change.Actor = beacon.HotspotLinked, u.by
	return changes{change}, tx.write(deleteLinkCodeSQL, u.hash)
}

// reject writes what is left of the code, and the reason to the audit log.
func (u *linkUse) reject(tx *transaction, left beacon.LinkCode) (changes, error) {
	change := &beacon.Change{Kind: beacon.LinkRefused, Target: string(left.Hotspot), Actor: u.by, At: u.now}
	change.Actor.Note = u.refusal.Error()
	if left.Void {
		return changes{change}, tx.write(deleteLinkCodeSQL, u.hash)
	}
	return changes{change}, tx.write(`UPDATE link_codes SET tries = $2 WHERE hash = $1`, u.hash, left.Tries)
}

// NoteRefusal writes only an audit row, for something that was refused and changed
// nothing.
func (db ChangeTable) NoteRefusal(ctx context.Context, change beacon.Change) error {
	if err := storableText(string(change.Kind), change.Target, change.Actor.Note); err != nil {
		return internal("note refusal", err)
	}
	return db.commit(ctx, "refusal", func(*transaction) (changes, error) { return changes{&change}, nil })
}
