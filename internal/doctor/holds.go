package doctor

import (
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// appendHeld appends a row if it is held.
func appendHeld(held []ledger.HeldDay, r *ledger.Row, hash ledger.Hash) []ledger.HeldDay {
	if !r.IsHeld() {
		return held
	}
	return append(held, ledger.HeldDay{Day: r.Day, Owned: r.Owned, Hold: r.Hold, Hash: hash, Amount: r.Total()})
}

// ended adds what became of held rows to the chain of a month.
func (b *bookkeeper) ended(is *ledger.UserMonth) {
	if !b.holds {
		return
	}
	days, err := b.s.Ended(b.ctx, is.User, is.Month)
	if err != nil {
		b.wrong(fmt.Sprintf("%s in %s", is.User, is.Month), "what became of held days cannot be read: %v", err)
	}
	for i := range days {
		row := days[i].Ending()
		is.Rows, is.Chain = is.Rows+1, is.Chain.Next(&row)
	}
}

// held compares the held days of a user's month with the rows, and adds them up.
func (b *bookkeeper) held(is *ledger.UserMonth, rows []ledger.HeldDay) {
	want := map[ledger.HeldDay]bool{}
	for _, d := range rows {
		is.Held += d.Amount
		want[d] = true
	}
	if !b.holds && len(rows) == 0 {
		return
	}
	err := b.s.HeldDays(b.ctx, is.User, func(d ledger.HeldDay) error {
		if d.Day.Month() != is.Month {
			return nil
		}
		id := fmt.Sprintf("%s on %s", d.Hotspot, d.Day)
		if d.Listed != ledger.NoMonth && (d.State == beacon.HoldIsActive || d.Listed < is.Month) {
			b.wrong(id, "its hold is %s, but the statement of %s says what became of it", d.State, d.Listed)
		}
		d.State, d.Listed = "", 0
		if !want[d] {
			b.wrong(id, "is held by %s with %s, but its row says otherwise", d.Hold, d.Amount)
		}
		delete(want, d)
		return nil
	})
	if err != nil {
		b.wrong(fmt.Sprintf("%s in %s", is.User, is.Month), "its held days cannot be read: %v", err)
	}
	for d := range want {
		b.wrong(fmt.Sprintf("%s on %s", d.Hotspot, d.Day), "its row is held by %s, but it is not listed as held", d.Hold)
	}
}
