package earnings

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

// PaymentState says whether something that was earned is paid.
type PaymentState string

// The states of a payment. What is earned is always in exactly one of them.
const (
	IsPending PaymentState = "pending" // to be paid with a statement
	IsSettled PaymentState = "settled" // paid with a statement
	IsHeld    PaymentState = "held"    // under a hold that is active
	IsVoided  PaymentState = "voided"  // will not be paid
)

// Payment divides what was earned: the rest is pending.
type Payment struct{ Settled, Held, Voided beacon.Amount }

func (p Payment) plus(other Payment) Payment {
	return Payment{p.Settled + other.Settled, p.Held + other.Held, p.Voided + other.Voided}
}

func (p Payment) pending(of ledger.Sum) beacon.Amount {
	return of.Total() - p.Settled - p.Held - p.Voided
}

// heldSums are what a user earned under holds, by whether it is paid.
type heldSums map[heldMonth]heldSum

type heldMonth struct {
	month   beacon.Month
	hotspot beacon.HotspotID
}

type heldSum struct {
	all     beacon.Amount
	Payment // Settled: since a statement listed it
}

func readHeld(ctx context.Context, b ledger.Books, user beacon.UserID) (heldSums, error) {
	sums := heldSums{}
	return sums, b.HeldDays(ctx, user, func(d ledger.HeldDay) error {
		key := heldMonth{d.Day.Month(), d.Hotspot}
		s := sums[key]
		s.all += d.Amount
		switch stateOf(&d) {
		case IsHeld:
			s.Held += d.Amount
		case IsVoided:
			s.Voided += d.Amount
		case IsSettled:
			s.Settled += d.Amount
		}
		sums[key] = s
		return nil
	})
}

// stateOf returns whether a held row is paid.
func stateOf(d *ledger.HeldDay) PaymentState {
	switch {
	case d.State == beacon.HoldIsActive:
		return IsHeld
	case d.State == beacon.HoldIsVoided:
		return IsVoided
	case d.Listed != ledger.NoMonth:
		return IsSettled
	}
	return IsPending
}

// check compares what was earned under holds in a month with the user's own sum.
func (s heldSums) check(user beacon.UserID, month beacon.Month, users []ledger.UserMonth) error {
	var own, all beacon.Amount
	for _, u := range users {
		if u.Month == month {
			own = u.Held
		}
	}
	for key, sum := range s {
		if key.month == month {
			all += sum.all
		}
	}
	if own != all {
		return rewards.Mismatch(user, "the held days of "+month.String())
	}
	return nil
}

// of returns how the payment of a month differs from that of one in which nothing is held:
// a statement pays all that was earned in its month, but for held rows.
func (s heldSum) of(settled bool) Payment {
	p := Payment{Held: s.Held, Voided: s.Voided}
	if settled {
		p.Settled = s.Settled - s.all
	}
	return p
}

// pay counts what was paid to hotspots, and what was held and void: in one month, or in
// any. Settled is the last month with a statement.
func (a *accrual) pay(user beacon.UserID, held heldSums, month, settled beacon.Month) error {
	for key, sum := range held {
		if month != rewards.AnyMonth && key.month != month {
			continue
		}
		if a.sums[key.hotspot] == nil {
			return rewards.Mismatch(user, "the held days of "+key.month.String())
		}
		a.addPaid(key.hotspot, sum.of(key.month <= settled))
	}
	return nil
}

// addPaid adds to what was paid to a hotspot with a sum.
func (a *accrual) addPaid(hotspot beacon.HotspotID, p Payment) {
	a.sums[hotspot].Payment = a.sums[hotspot].plus(p)
}

// holdOf returns the hold of a row and whether the row is paid, or the active hold of a
// hotspot whose day is open. The state is empty for a row that is not held.
func holdOf(ctx context.Context, b ledger.Books, row ledger.Row, day beacon.Day, of beacon.Owned, open bool) (*beacon.Hold, PaymentState, error) {
	id, state := row.Hold, PaymentState("")
	if open {
		all, err := b.HoldsOf(ctx, of.User)
		if err != nil {
			return nil, "", err
		}
		id = beacon.HoldOn(all, day, of)
	} else if id != "" {
		held, found, err := b.HeldDay(ctx, day, of)
		if err == nil && (!found || held.Hold != id || held.Amount != row.Total()) {
			err = rewards.Mismatch(of.User, "what is held on "+day.String())
		}
		if err != nil {
			return nil, "", err
		}
		state = stateOf(&held)
	}
	if id == "" {
		return nil, "", nil
	}
	h, found, err := b.Hold(ctx, id)
	if err == nil && !found {
		err = rewards.Mismatch(of.User, "the hold "+string(id))
	}
	return &h, state, err
}
