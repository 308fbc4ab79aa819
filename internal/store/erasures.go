package store

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const knownUserSQL = `SELECT 1 WHERE EXISTS (SELECT 1 FROM api_keys WHERE user_id = $1)
		OR EXISTS (SELECT 1 FROM hotspots WHERE operator_id = $1)`

const askErasureSQL = `INSERT INTO erasures (user_id, asked, due, begun, cleared, erased) VALUES ($1, $2, $3, 0, 0, 0)
		ON CONFLICT (user_id) DO NOTHING`
const erasureSQL = `SELECT user_id, asked, due, begun, cleared, erased FROM erasures WHERE user_id = $1`

// AskErasure records that a user wants to be erased, and returns the wish: an earlier one
// if there is one. It returns NotFound for a user who never had a key or a hotspot.
func (db UserTable) AskErasure(ctx context.Context, e beacon.Erasure, by beacon.Actor) (beacon.Erasure, error) {
	var result beacon.Erasure
	err := db.commit(ctx, "erasure "+string(e.User), func(tx *transaction) (changes, error) {
		known, err := tx.exists(knownUserSQL, string(e.User))
		if err == nil && !known {
			err = absent("the user never had a key or a hotspot")
		}
		if err != nil {
			return nil, err
		}
		n, err := tx.exec(askErasureSQL, string(e.User), micros(e.Asked), micros(e.Due))
		if err != nil {
			return nil, err
		}
		result, _, err = first(tx.ctx, tx, erasureRow, erasureSQL, string(e.User))
		if err != nil || n == 0 {
			return nil, err
		}
		return changes{{Kind: beacon.ErasureAsked, Target: string(e.User), Actor: by, At: e.Asked}}, nil
	})
	if err != nil {
		return beacon.Erasure{}, err // result may still be written
	}
	return result, nil
}

// WithdrawErasure takes a wish back. It returns NotFound if there is none, and Conflict if
// it is too late.
func (db UserTable) WithdrawErasure(ctx context.Context, user beacon.UserID, by beacon.Actor, now time.Time) error {
	op := &operation{order: "erasure " + string(user)}
	op.run = func(tx *transaction) (changes, error) {
		n, err := tx.exec(`DELETE FROM erasures WHERE user_id = $1 AND begun = 0`, string(user))
		if err != nil || n > 0 {
			return changes{{Kind: beacon.ErasureWithdrawn, Target: string(user), Actor: by, At: now}}, err
		}
		_, begun, err := first(tx.ctx, tx, erasureRow, erasureSQL, string(user))
		switch {
		case err != nil:
			return nil, err
		case begun:
			return nil, beacon.Conflicting(errors.New("the erasure has begun"))
		}
		return nil, absent("there is no such wish")
	}
	return db.doOnce(ctx, op, by)
}

// Erasure returns the wish of a user to be erased; false if there is none.
func (db UserTable) Erasure(ctx context.Context, user beacon.UserID) (e beacon.Erasure, found bool, err error) {
	return first(ctx, db, erasureRow, erasureSQL, string(user))
}

const dueErasuresSQL = `SELECT user_id, asked, due, begun, cleared, erased FROM erasures
		WHERE erased = 0 AND user_id > $1 AND due <= $2 ORDER BY user_id LIMIT $3`

// DueErasures returns up to limit wishes that are due at now and not fulfilled, of users
// after one, by user.
func (db UserTable) DueErasures(ctx context.Context, after beacon.UserID, now time.Time, limit int) ([]beacon.Erasure, error) {
	return list(ctx, db, erasureRow, dueErasuresSQL, string(after), micros(now), limit)
}

const stepErasureSQL = `UPDATE erasures SET begun = $2, cleared = $3, erased = $4 WHERE user_id = $1 AND asked = $5`

// StepErasure records how far an erasure is: begun, unless it was taken back, then
// cleared, then erased. It reports whether there is such a wish.
func (db UserTable) StepErasure(ctx context.Context, e beacon.Erasure, by beacon.Actor, now time.Time) (found bool, err error) {
	err = db.commit(ctx, "erasure "+string(e.User), func(tx *transaction) (changes, error) {
		n, err := tx.exec(stepErasureSQL, string(e.User), micros(e.Begun), micros(e.Cleared), micros(e.Erased), micros(e.Asked))
		if found = n > 0; err != nil || e.Erased.IsZero() {
			return nil, err
		}
		return changes{{Kind: beacon.UserErased, Target: string(e.User), Actor: by, At: now}}, nil
	})
	if err != nil {
		return false, err // found may still be written
	}
	return found, nil
}

func erasureRow(e *beacon.Erasure) []any {
	return []any{
		(*string)(&e.User), moment(&e.Asked), moment(&e.Due), moment(&e.Begun), moment(&e.Cleared), moment(&e.Erased),
	}
}

var (
	deletedHotspotSQL = `SELECT ` + hotspotColumns + ` FROM hotspots WHERE id = $1 AND deleted_at <> 0`
	eraseOfSQL        = []string{
		`DELETE FROM link_codes WHERE hotspot = $1`, `DELETE FROM flags WHERE hotspot = $1 OR members LIKE '%' || $1 || '%'`,
		`DELETE FROM checkins WHERE hotspot = $1`, `DELETE FROM device_addresses WHERE hotspot = $1`,
		`DELETE FROM deletions WHERE hotspot = $1`, `DELETE FROM offers WHERE hotspot = $1`,
	}
)

// EraseHotspot calls edit with a deleted hotspot and writes the result as the next
// version, if it differs, and deletes what else is stored of the hotspot and belongs to
// no books. It returns NotFound, and does nothing, if there is no such deleted hotspot.
func (db HotspotTable) EraseHotspot(ctx context.Context, id beacon.HotspotID, by beacon.Actor, edit func(*beacon.Hotspot)) error {
	op := &operation{order: "hotspot by id " + string(id)}
	op.run = func(tx *transaction) (changes, error) {
		var result beacon.Hotspot
		change, err := update(tx, op, deletedHotspotSQL, id, func(h *beacon.Hotspot) (bool, error) {
			before := *h
			edit(h)
			return !reflect.DeepEqual(before, *h), nil
		}, &result)
		if err != nil {
			return nil, err
		}
		for _, text := range eraseOfSQL {
			if err := tx.write(text, string(id)); err != nil {
				return nil, err
			}
		}
		if change == nil {
			return nil, nil //nolint:nilnil // no change
		}
		change.Kind, change.Actor = beacon.HotspotErased, by
		return changes{change}, nil
	}
	return db.committer.do(ctx, op)
}

const eraseKeySQL = `UPDATE api_keys SET name = '', restrictions = '', enrolment = '', enrolled = 0, last_used_at = 0, seal = $2 WHERE id = $1 AND revoked_at <> 0`

// EraseKey takes from a revoked key its name, its restrictions, which may say from where it
// was used, and what it could enrol.
func (db KeyTable) EraseKey(ctx context.Context, k beacon.Key) error {
	k.Name = ""
	return db.exec(ctx, "key "+string(k.ID), nil, eraseKeySQL, string(k.ID), keyContent(&k, scopesText(k.Scopes), "", "").seal())
}

var eraseOfUserSQL = []string{
	`DELETE FROM quotas WHERE user_id = $1`, `DELETE FROM tallies WHERE user_id = $1`, `DELETE FROM freed_macs WHERE user_id = $1`, `DELETE FROM idempotency WHERE owner = $1`,
	`DELETE FROM memberships WHERE user_id = $1`, `DELETE FROM invitations WHERE user_id = $1`, `DELETE FROM account_names WHERE user_id = $1`,
	`DELETE FROM offers WHERE to_id = $1`,
}

// EraseUser deletes what is stored of a user and belongs to no books: the quota, reserved
// MAC addresses, who the members are, and answers that are kept for repeated requests.
//
// Each member has a change, so that servers forget at once what they may do. Nobody becomes a
// member of it meanwhile: see lockPeopleSQL.
func (db UserTable) EraseUser(ctx context.Context, user beacon.UserID, by beacon.Actor, now time.Time) error {
	return db.commit(ctx, "erasure "+string(user), func(tx *transaction) (changes, error) {
		if err := tx.write(lockPeopleSQL); err != nil {
			return nil, err
		}
		members, err := list(tx.ctx, tx, label[beacon.PersonID], `SELECT person_id FROM memberships WHERE user_id = $1 ORDER BY person_id`, string(user))
		if err != nil {
			return nil, err
		}
		for _, text := range eraseOfUserSQL {
			if err := tx.write(text, string(user)); err != nil {
				return nil, err
			}
		}
		return mapped(members, func(person beacon.PersonID) *beacon.Change {
			by := by
			by.Note = string(user)
			return &beacon.Change{Kind: beacon.MemberRemoved, Target: string(person), Actor: by, At: now}
		}), nil
	})
}

const notesSQL = `SELECT ` + changeColumns + ` FROM changes
		WHERE node = $1 AND seq > $2 AND note <> '' ORDER BY seq LIMIT $3`

// EraseNotes takes away the notes of all changes of the targets, but for those that the
// books need. It reads all changes that have a note.
func (db ChangeTable) EraseNotes(ctx context.Context, targets map[string]bool) error {
	heads, err := db.Heads(ctx)
	if err != nil {
		return err
	}
	for _, node := range slices.Sorted(maps.Keys(heads)) {
		for after := int64(0); ; {
			page, err := list(ctx, db, changeRow, notesSQL, node, after, pageSize)
			if err != nil {
				return err
			}
			if len(page) == 0 {
				break
			}
			after = page[len(page)-1].Seq
			page = slices.DeleteFunc(page, func(c beacon.Change) bool {
				return !targets[c.Target] || c.Kind == beacon.RewardsSettled || c.Kind == beacon.HotspotHandedOver
			})
			for some := range slices.Chunk(page, touchSize) {
				if err := db.eraseNotes(ctx, some); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (db *core) eraseNotes(ctx context.Context, page []beacon.Change) error {
	return db.commit(ctx, "notes", func(tx *transaction) (changes, error) {
		for _, c := range page {
			c.Actor.Note = ""
			if err := tx.write(`UPDATE changes SET note = '', seal = $3 WHERE node = $1 AND seq = $2`, c.Node, c.Seq, changeContent(&c).seal()); err != nil {
				return nil, err
			}
		}
		return nil, nil //nolint:nilnil // it is no change
	})
}
