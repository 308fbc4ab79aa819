package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// EditHolds calls edit with all holds of a user, by number, and writes the hold that it
// returns: as a new one if its number is new, else as the next version. If edit returns no
// kind of change, nothing is written. Edit may run more than once, each time with the then current holds, and
// never after EditHolds returns. Its error is returned unchanged. If the actor has a Once,
// edit sets its result (see doOnce).
func (db *DB) EditHolds(
	ctx context.Context, user beacon.UserID, by beacon.Actor, at time.Time,
	edit func([]beacon.Hold) (beacon.Hold, beacon.ChangeKind, error),
) (beacon.Hold, error) {
	var result beacon.Hold
	op := &operation{order: "hold " + string(user)}
	op.run = func(tx *transaction) (changes, error) {
		for range casTries {
			var kind beacon.ChangeKind
			all, err := holdsIn(tx, user)
			if err != nil {
				return nil, err
			}
			err = op.asCaller(func() (err error) {
				result, kind, err = edit(all)
				return err
			})
			if err != nil || kind == "" {
				return nil, err
			}
			n, err := writeHold(tx, &result, len(all))
			if err != nil {
				return nil, err
			}
			if n > 0 {
				return changes{&beacon.Change{Kind: kind, Target: string(result.ID), Version: result.Version, Actor: by, At: at}}, nil
			}
		}
		return nil, unavailable(fmt.Errorf("the holds of %s changed %d times during the edit", user, casTries))
	}
	if err := db.doOnce(ctx, op, by); err != nil {
		return beacon.Hold{}, err
	}
	return result, nil
}

func holdsIn(tx *transaction, user beacon.UserID) (all []beacon.Hold, err error) {
	var one beacon.Hold
	targets, finish := holdRow(&one)
	err = tx.rows(func(scan func(...any) error) error {
		err := scan(targets...)
		if err == nil {
			err = finish()
		}
		all = append(all, one)
		return err
	}, rewardText.holdsOf.text(), string(user))
	return all, err
}

// writeHold inserts a hold whose number is above those known, or updates it, unless another
// node did so meanwhile: then n is 0. The version of the hold becomes the one written.
func writeHold(tx *transaction, h *beacon.Hold, known int) (n int64, err error) {
	was, fresh := h.Version, h.Number > known
	if !fresh {
		h.Version++
	}
	values, err := holdValues(h)
	if err != nil {
		return 0, err
	}
	if fresh {
		return tx.exec(rewardText.insertHold, values...)
	}
	return tx.exec(rewardText.updateHold, string(h.User), int64(h.Number), string(h.State), micros(h.Until), values[7], values[8], was)
}

// holdText is the JSON of a hold. Its names are part of the schema.
type holdText struct {
	Reason   string    `json:"reason"`
	Evidence string    `json:"evidence"`
	Placed   actText   `json:"placed"`
	Extended []actText `json:"extended,omitempty"`
	Answer   *actText  `json:"answer,omitempty"`
	Visit    *actText  `json:"visit,omitempty"`
	Ended    *actText  `json:"ended,omitempty"`
}

type actText struct {
	By   string `json:"by"`
	At   int64  `json:"at"` // in microseconds
	Note string `json:"note,omitempty"`
}

func encodeAct(a beacon.HoldAct) actText { return actText{string(a.By), micros(a.At), a.Note} }

func maybeAct(a beacon.HoldAct) *actText {
	if a == (beacon.HoldAct{}) {
		return nil
	}
	text := encodeAct(a)
	return &text
}

func (a *actText) act() beacon.HoldAct {
	if a == nil {
		return beacon.HoldAct{}
	}
	return beacon.HoldAct{By: beacon.UserID(a.By), At: fromMicros(a.At), Note: a.Note}
}

// holdValues returns a hold in the order of holdColumns.
func holdValues(h *beacon.Hold) ([]any, error) {
	text, err := json.Marshal(holdText{
		Reason: h.Reason, Evidence: h.Evidence, Placed: encodeAct(h.Placed), Extended: mapped(h.Extended, encodeAct),
		Answer: maybeAct(h.Answer), Visit: maybeAct(h.Visit), Ended: maybeAct(h.Ended),
	})
	if err == nil {
		err = storableText(string(h.User), string(h.ID), string(h.Hotspot), string(text))
	}
	return []any{
		string(h.User), int64(h.Number), string(h.ID), string(h.Hotspot), string(h.State), micros(h.Until), h.Version, string(text),
		holdContent(h, string(text)).seal(),
	}, err
}

func holdContent(h *beacon.Hold, text string) *content {
	c := &content{version: h.Version}
	c.text(string(h.User), string(h.ID), string(h.Hotspot), string(h.State), text)
	c.integer(int64(h.Number), micros(h.Until))
	return c
}

func holdRow(h *beacon.Hold) ([]any, func() error) {
	var text string
	var seal int64
	targets := []any{
		(*string)(&h.User), &h.Number, (*string)(&h.ID), (*string)(&h.Hotspot), (*string)(&h.State), (*moment)(&h.Until), &h.Version, &text, &seal,
	}
	return targets, func() error {
		var said holdText
		err := holdContent(h, text).check(seal)
		if err == nil {
			err = json.Unmarshal([]byte(text), &said)
		}
		if err != nil {
			return fmt.Errorf("hold %s: %w", h.ID, err)
		}
		h.Reason, h.Evidence = said.Reason, said.Evidence
		h.Placed, h.Answer, h.Visit, h.Ended = said.Placed.act(), said.Answer.act(), said.Visit.act(), said.Ended.act()
		h.Extended = mapped(said.Extended, func(a actText) beacon.HoldAct { return a.act() })
		return nil
	}
}

// Hold returns a hold; false if there is none.
func (db *DB) Hold(ctx context.Context, id beacon.HoldID) (beacon.Hold, bool, error) {
	return firstRetrying(ctx, db, rewardText.hold, holdRow, string(id))
}

// ActiveHolds returns the holds that are active, of everyone.
func (db *DB) ActiveHolds(ctx context.Context) ([]beacon.Hold, error) {
	return listRetrying(ctx, db, rewardText.activeHolds, holdRow)
}

// Holds returns a page of the holds of a user, or of all users if user is empty, newest
// first, and their total number. The page is one of the holds after one, or of all if that
// is empty.
func (db *DB) Holds(ctx context.Context, user beacon.UserID, after beacon.HoldID, offset, limit int) (page []beacon.Hold, total int, err error) {
	count, rows, whose := rewardText.countHolds, rewardText.holds, []any{}
	if user != "" {
		count, rows, whose = rewardText.countHoldsOf, rewardText.holdsOfUser, []any{string(user)}
	}
	if _, err = db.queryRow(ctx, []any{&total}, count, whose...); err != nil || total <= offset {
		return nil, total, err
	}
	if after == "" {
		after = lastKey
	}
	page, err = listRetrying(ctx, db, rows, holdRow, append([]any{int64(max(limit, 0)), int64(max(offset, 0)), string(after)}, whose...)...)
	return page, total, err
}

// ToEnd returns the held days of months through one, of users between two, both included,
// whose holds are over and which no statement lists yet, by user, day and hotspot.
func (db *DB) ToEnd(ctx context.Context, month beacon.Month, from, to beacon.UserID) ([]ledger.HeldDay, error) {
	return listRetrying(ctx, db, rewardText.toEnd, heldDayRow, string(from), string(to), int64(month))
}

// UsersToEnd returns up to limit users after one who have such held days, but no sum of
// the month.
func (db *DB) UsersToEnd(ctx context.Context, month beacon.Month, after beacon.UserID, limit int) ([]beacon.UserID, error) {
	return listRetrying(ctx, db, rewardText.usersToEnd, textRow[beacon.UserID], string(after), int64(month), int64(limit))
}

func (b *books) Hold(ctx context.Context, id beacon.HoldID) (beacon.Hold, bool, error) {
	return first(ctx, b, rewardText.hold, holdRow, string(id))
}

func (b *books) HoldsOf(ctx context.Context, user beacon.UserID) ([]beacon.Hold, error) {
	return list(ctx, b, rewardText.holdsOf, holdRow, string(user))
}

func (b *books) HeldDays(ctx context.Context, user beacon.UserID, fn func(ledger.HeldDay) error) error {
	for after, more := (ledger.HeldDay{Day: firstNumber}), true; more; {
		page, err := list(ctx, b, rewardText.heldDays, heldDayRow, string(user), int64(after.Day), string(after.Hotspot), int64(pageSize))
		if err != nil {
			return err
		}
		for _, after = range page {
			if err := fn(after); err != nil {
				return err
			}
		}
		more = len(page) == pageSize
	}
	return nil
}

func (b *books) HeldDay(ctx context.Context, day beacon.Day, of beacon.Owned) (ledger.HeldDay, bool, error) {
	return first(ctx, b, rewardText.heldDay, heldDayRow, string(of.User), int64(day), string(of.Hotspot))
}

func (b *books) Ended(ctx context.Context, user beacon.UserID, month beacon.Month) ([]ledger.HeldDay, error) {
	return list(ctx, b, rewardText.ended, heldDayRow, string(user), int64(month))
}

func heldDayContent(d *ledger.HeldDay) *content {
	c := &content{version: unchanging}
	c.text(string(d.User), string(d.Hotspot), string(d.Hold), string(d.Hash[:]))
	c.integer(int64(d.Day), int64(d.Amount), int64(d.Listed))
	return c
}

func appendHeldDay(values []any, d *ledger.HeldDay) []any {
	return append(values, string(d.User), int64(d.Day), string(d.Hotspot), string(d.Hold), d.Hash[:], int64(d.Amount), int64(d.Listed),
		heldDayContent(d).seal(), int64(d.Day.Month()))
}

func heldDayRow(d *ledger.HeldDay) ([]any, func() error) {
	var hash []byte
	var seal int64
	targets := []any{
		(*string)(&d.User), (*int64)(&d.Day), (*string)(&d.Hotspot), (*string)(&d.Hold), &hash, (*int64)(&d.Amount), (*int64)(&d.Listed),
		&seal, (*string)(&d.State),
	}
	return targets, func() error {
		err := readHash(&d.Hash, hash)
		if err == nil {
			err = heldDayContent(d).check(seal)
		}
		if err != nil {
			err = fmt.Errorf("%s on %s: %w", d.Hotspot, d.Day, err)
		}
		return err
	}
}
