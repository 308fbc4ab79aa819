package statement

import (
	"errors"
	"fmt"
	"maps"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// maxHeld limits how many held rows a statement may have.
const maxHeld = 1_000_000

// holds are the held rows of a statement, and what it says became of earlier ones.
type holds struct {
	payment
	open    map[ledger.Hash]heldRow // that are held and of which nothing is said yet
	earlier map[ledger.Hash]heldRow // of earlier months, of which it is said what became of them
	closed  bool                    // no other rows may follow
	first   beacon.Month            // since which all held rows are known
}

type heldRow struct {
	day    beacon.Day
	hold   beacon.HoldID
	amount beacon.Amount
}

// hold counts a held row.
func (h *holds) hold(row *ledger.Row, hash ledger.Hash) error {
	if len(h.open) == maxHeld {
		return fmt.Errorf("a statement of more than %d held rows cannot be verified", maxHeld)
	}
	h.open[hash] = heldRow{row.Day, row.Hold, row.Total()}
	h.held += row.Total()
	return nil
}

// void forgets the held rows from a day on.
func (h *holds) void(from beacon.Day) {
	for hash, row := range h.open {
		if row.day >= from {
			h.held -= row.amount
			delete(h.open, hash)
		}
	}
}

// oneKind checks that a row has no names of different kinds of rows. Seen are the names
// after those of the ground, as bits.
func (v *verifier) oneKind(row *ledger.Row, seen uint) error {
	const corrects, hold, releases, voids, amount = 1, 2, 4, 8, 16
	switch seen {
	case 0, hold, corrects, hold | releases | amount, hold | voids | amount:
	default:
		return errors.New("corrects stands alone, and releases or voids with hold_id and amount")
	}
	if seen&(releases|voids) != 0 && row.Ends.IsZero() {
		return errors.New("releases, voids: must be the hash of a row")
	}
	return nil
}

// ending checks a row that says what became of a held one.
func (v *verifier) ending(row *ledger.Row, hash ledger.Hash) error {
	if *row != (ledger.Row{Day: row.Day, Hold: row.Hold, Ending: row.Ending}) {
		return errors.New("what becomes of a held row has only a date, a hold, a hash and an amount")
	}
	h := v.holds
	of := heldRow{row.Day, row.Hold, row.Amount}
	switch month := row.Day.Month(); {
	case row.Amount < 0:
		return errors.New("amount: must not be negative")
	case month > v.sum.Month:
		return fmt.Errorf("date: is after %s", v.sum.Month)
	case h.closed && row.Day < v.last.Day:
		return errors.New("what became of held rows must be sorted by day")
	case month == v.sum.Month:
		if err := h.take(h.open, row.Ends, of); err != nil {
			return err
		}
	default:
		if _, twice := h.earlier[row.Ends]; twice || len(h.earlier) == maxHeld {
			return errors.New("is said twice, or there are too many such rows")
		}
		h.earlier[row.Ends] = of
	}
	if err := v.follows(row, hash); err != nil {
		return err
	}
	h.add(row)
	h.closed, v.last = true, *row
	return nil
}

// take removes a held row.
func (h *holds) take(from map[ledger.Hash]heldRow, hash ledger.Hash, want heldRow) error {
	if got, any := from[hash]; !any || got != want {
		return fmt.Errorf("%s: no row of %s with this hash was held by %s with %s, or it was paid before",
			hash, want.day, want.hold, want.amount)
	}
	delete(from, hash)
	return nil
}

// conclude says since when all held rows are known. It returns an error for what became of
// a row that should be known, and is not.
func (h *holds) conclude(month beacon.Month, previous ledger.Hash) error {
	if h.first = month; previous.IsZero() {
		h.first = ledger.NoMonth
	}
	for hash, row := range h.earlier {
		if row.day.Month() >= h.first {
			return fmt.Errorf("%s was not held when %s was settled, or was paid before", hash, row.day.Month())
		}
	}
	return nil
}

// follow checks what became of the rows of earlier statements.
func (h *holds) follow(before *holds) error {
	if h == nil || before == nil {
		return nil // nothing was read
	}
	open := maps.Clone(before.open)
	for hash, row := range h.earlier {
		if row.day.Month() >= before.first {
			if err := h.take(open, hash, row); err != nil {
				return err
			}
			delete(h.earlier, hash)
		}
	}
	maps.Copy(h.open, open)
	h.first = before.first
	return nil
}
