package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// heldDaysFrom has the held days with the state of their holds.
const heldDaysFrom = `FROM (SELECT held_days.*, holds.state FROM held_days JOIN holds ON holds.id = held_days.hold) AS held`

// EditHolds calls edit with all holds of a user, by number, and writes the hold that it
// returns: as a new one if its number is new, else as the next version. If edit returns no
// kind of change, nothing is written. Edit may run more than once, each time with the then current holds, and
// never after EditHolds returns. Its error is returned unchanged. If the actor has a Once,
// edit sets its result (see doOnce).
func (db HoldTable) EditHolds(
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
			err = op.asCaller(tx, func() (err error) {
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
		return nil, beacon.Unavailable(fmt.Errorf("the holds of %s changed %d times during the edit", user, casTries))
	}
	if err := db.doOnce(ctx, op, by); err != nil {
		return beacon.Hold{}, err
	}
	return result, nil
}

const holdsOfSQL = `SELECT ` + holdColumns + ` FROM holds WHERE user_id = $1 ORDER BY number`

func holdsIn(tx *transaction, user beacon.UserID) ([]beacon.Hold, error) {
	return list(tx.ctx, tx, holdRow, holdsOfSQL, string(user))
}

const insertHoldSQL = `INSERT INTO holds (` + holdColumns + `) VALUES (…)
		ON CONFLICT (user_id, number) DO NOTHING`

const updateHoldSQL = `UPDATE holds SET state = $3, until = $4, version = version + 1, content = $5, seal = $6
		WHERE user_id = $1 AND number = $2 AND version = $7`

// writeHold inserts a hold whose number is above those known, or updates it, unless another
// node did so meanwhile: then n is 0. The version of the hold becomes the one written.
func writeHold(tx *transaction, h *beacon.Hold, known int) (n int64, err error) {
	was, fresh := h.Version, h.Number > known
	if !fresh {
		h.Version++
	}
	values, err := appendValues(nil, holdRow(h))
	if err == nil {
		err = storableText(string(h.User), string(h.ID), string(h.Hotspot), values[7].(string))
	}
	if err != nil {
		return 0, err
	}
	if fresh {
		return tx.exec(insertHoldSQL, values...)
	}
	return tx.exec(updateHoldSQL, string(h.User), int64(h.Number), string(h.State), micros(h.Until), values[7], values[8], was)
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
	By     string            `json:"by"`
	Person beacon.PersonID   `json:"person,omitempty"`
	People []beacon.PersonID `json:"people,omitempty"`
	At     int64             `json:"at"` // in microseconds
	Note   string            `json:"note,omitempty"`
}

func encodeAct(a beacon.HoldAct) actText {
	return actText{string(a.By), a.Person, a.People, micros(a.At), a.Note}
}

func maybeAct(a beacon.HoldAct) *actText {
	if a.IsZero() {
		return nil
	}
	text := encodeAct(a)
	return &text
}

func (a *actText) act() beacon.HoldAct {
	if a == nil {
		return beacon.HoldAct{}
	}
	return beacon.HoldAct{By: beacon.UserID(a.By), Person: a.Person, People: a.People, At: fromMicros(a.At), Note: a.Note}
}

func encodeHold(h *beacon.Hold) (string, error) {
	text, err := json.Marshal(holdText{
		Reason: h.Reason, Evidence: h.Evidence, Placed: encodeAct(h.Placed), Extended: mapped(h.Extended, encodeAct),
		Answer: maybeAct(h.Answer), Visit: maybeAct(h.Visit), Ended: maybeAct(h.Ended),
	})
	return string(text), err
}

func decodeHold(h *beacon.Hold, text string) error {
	var said holdText
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return err
	}
	h.Reason, h.Evidence = said.Reason, said.Evidence
	h.Placed, h.Answer, h.Visit, h.Ended = said.Placed.act(), said.Answer.act(), said.Visit.act(), said.Ended.act()
	h.Extended = mapped(said.Extended, func(a actText) beacon.HoldAct { return a.act() })
	return nil
}

func holdContent(h *beacon.Hold, text string) *content {
	c := &content{version: h.Version}
	c.text(string(h.User), string(h.ID), string(h.Hotspot), string(h.State), text)
	c.integer(int64(h.Number), micros(h.Until))
	return c
}

func holdRow(h *beacon.Hold) []any {
	text := &coded[string]{encode: func() (string, error) { return encodeHold(h) }, decode: func(string) error { return nil }}
	seal := &coded[int64]{
		encode: func() (int64, error) { return holdContent(h, text.stored).seal(), nil },
		decode: func(stored int64) error {
			return cmp.Or(holdContent(h, text.stored).check(stored), decodeHold(h, text.stored))
		},
	}
	return []any{
		(*string)(&h.User), &h.Number, (*string)(&h.ID), (*string)(&h.Hotspot), (*string)(&h.State), moment(&h.Until), &h.Version, text, seal,
		named{"hold", (*string)(&h.ID)},
	}
}

const holdSQL = `SELECT ` + holdColumns + ` FROM holds WHERE id = $1`

// Hold returns a hold; false if there is none.
func (db HoldTable) Hold(ctx context.Context, id beacon.HoldID) (beacon.Hold, bool, error) {
	return first(ctx, db, holdRow, holdSQL, string(id))
}

const activeHoldsSQL = `SELECT ` + holdColumns + ` FROM holds WHERE state = 'active' ORDER BY user_id, number`

// ActiveHolds returns the holds that are active, of everyone.
func (db HoldTable) ActiveHolds(ctx context.Context) ([]beacon.Hold, error) {
	return list(ctx, db, holdRow, activeHoldsSQL)
}

// CountActiveHolds returns how many holds are active, of everyone.
func (db HoldTable) CountActiveHolds(ctx context.Context) (n int, err error) {
	_, err = readRow(ctx, db, []any{&n}, `SELECT count(*) FROM holds WHERE state = 'active'`)
	return n, err
}

const (
	holdsSQL       = `SELECT ` + holdColumns + ` FROM holds WHERE id < $3 ORDER BY id DESC LIMIT $1 OFFSET $2`
	holdsOfUserSQL = `SELECT ` + holdColumns + ` FROM holds WHERE id < $3 AND user_id = $4 ORDER BY id DESC LIMIT $1 OFFSET $2`
)

// Holds returns a page of the holds of a user, or of all users if user is empty, newest
// first, and their total number. The page is one of the holds after one, or of all if that
// is empty.
func (db HoldTable) Holds(ctx context.Context, user beacon.UserID, after beacon.HoldID, offset, limit int) (page []beacon.Hold, total int, err error) {
	count, rows, whose := `SELECT count(*) FROM holds`, holdsSQL, []any{}
	if user != "" {
		count, rows, whose = `SELECT count(*) FROM holds WHERE user_id = $1`, holdsOfUserSQL, []any{string(user)}
	}
	if _, err = readRow(ctx, db, []any{&total}, count, whose...); err != nil || total <= offset {
		return nil, total, err
	}
	if after == "" {
		after = lastKey
	}
	page, err = list(ctx, db, holdRow, rows, append([]any{int64(max(limit, 0)), int64(max(offset, 0)), string(after)}, whose...)...)
	return page, total, err
}

const toEndSQL = `SELECT ` + heldDayColumns + `, state ` + heldDaysFrom + ` WHERE listed = -1 AND user_id >= $1 AND user_id <= $2
			AND month <= $3 AND state <> 'active' ORDER BY user_id, day, hotspot`

// ToEnd returns the held days of months through one, of users between two, both included,
// whose holds are over and which no statement lists yet, by user, day and hotspot.
func (db HoldTable) ToEnd(ctx context.Context, month beacon.Month, from, to beacon.UserID) ([]ledger.HeldDay, error) {
	return list(ctx, db, heldDayWithState, toEndSQL, string(from), string(to), int64(month))
}

const usersToEndSQL = `SELECT user_id ` + heldDaysFrom + ` WHERE listed = -1 AND user_id > $1 AND month <= $2 AND state <> 'active'
			AND NOT EXISTS (SELECT 1 FROM user_months WHERE user_months.month = $2 AND user_months.user_id = held.user_id)
		GROUP BY user_id ORDER BY user_id LIMIT $3`

// UsersToEnd returns up to limit users after one who have such held days, but no sum of
// the month.
func (db HoldTable) UsersToEnd(ctx context.Context, month beacon.Month, after beacon.UserID, limit int) ([]beacon.UserID, error) {
	return list(ctx, db, label[beacon.UserID], usersToEndSQL, string(after), int64(month), int64(limit))
}

func (b *books) Hold(ctx context.Context, id beacon.HoldID) (beacon.Hold, bool, error) {
	return first(ctx, b, holdRow, holdSQL, string(id))
}

func (b *books) HoldsOf(ctx context.Context, user beacon.UserID) ([]beacon.Hold, error) {
	return list(ctx, b, holdRow, holdsOfSQL, string(user))
}

const heldDaysSQL = `SELECT ` + heldDayColumns + `, state ` + heldDaysFrom + ` WHERE user_id = $1 AND (day, hotspot) > ($2, $3) ORDER BY day, hotspot LIMIT $4`

func (b *books) HeldDays(ctx context.Context, user beacon.UserID, fn func(ledger.HeldDay) error) error {
	for after, more := (ledger.HeldDay{Day: firstNumber}), true; more; {
		page, err := list(ctx, b, heldDayWithState, heldDaysSQL, string(user), int64(after.Day), string(after.Hotspot), int64(pageSize))
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

const heldDaySQL = `SELECT ` + heldDayColumns + `, state ` + heldDaysFrom + ` WHERE user_id = $1 AND day = $2 AND hotspot = $3`

func (b *books) HeldDay(ctx context.Context, day beacon.Day, of beacon.Owned) (ledger.HeldDay, bool, error) {
	return first(ctx, b, heldDayWithState, heldDaySQL, string(of.User), int64(day), string(of.Hotspot))
}

const endedSQL = `SELECT ` + heldDayColumns + `, state ` + heldDaysFrom + ` WHERE user_id = $1 AND listed = $2 ORDER BY day, hotspot`

func (b *books) Ended(ctx context.Context, user beacon.UserID, month beacon.Month) ([]ledger.HeldDay, error) {
	return list(ctx, b, heldDayWithState, endedSQL, string(user), int64(month))
}

func heldDayContent(d *ledger.HeldDay) *content {
	c := &content{version: unchanging}
	c.text(string(d.User), string(d.Hotspot), string(d.Hold), string(d.Hash[:]))
	c.integer(int64(d.Day), int64(d.Amount), int64(d.Listed))
	return c
}

// heldDayRow has the fields of heldDayColumns.
func heldDayRow(d *ledger.HeldDay) []any {
	return []any{
		(*string)(&d.User), (*int64)(&d.Day), (*string)(&d.Hotspot), (*string)(&d.Hold), hash(&d.Hash), (*int64)(&d.Amount), (*int64)(&d.Listed),
		sealOf(func() *content { return heldDayContent(d) }),
		named{"held day of", (*string)(&d.Hotspot)},
	}
}

func heldDayWithState(d *ledger.HeldDay) []any { return append(heldDayRow(d), (*string)(&d.State)) }

func heldDayWithMonth(d *ledger.HeldDay) []any {
	month := int64(d.Day.Month())
	return append(heldDayRow(d), &month)
}
