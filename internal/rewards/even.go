package rewards

import (
	"context"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// What is earned is written more than once: in rows, in sums of hotspots and of
// users, in statements under a hash, in accounts. An answer reads two of them, and
// is not given where they differ: a disk that forgets to say that it has lost a bit
// must not decide what someone is paid, at the start or at any time after.

// uneven is the answer instead of a sum that cannot be right.
func uneven(user beacon.UserID, where string) error {
	return &beacon.Error{
		Kind: beacon.Internal, Message: "internal error",
		Err: fmt.Errorf("the books of %s do not add up in %s: the database is damaged; run beacon doctor", user, where),
	}
}

// even holds the sums of a user's hotspots against the user's own.
func even(user beacon.UserID, month beacon.Month, hotspots []ledger.HotspotMonth, users []ledger.UserMonth) error {
	var sum ledger.Sum
	for i := range hotspots {
		sum = sum.Plus(hotspots[i].Sum)
	}
	var own ledger.UserMonth
	for _, u := range users {
		if u.Month == month {
			own = u
		}
	}
	if own.Sum != sum || own.Hotspots != len(hotspots) {
		return uneven(user, month.String())
	}
	return nil
}

// genuine sees that a statement says what its hash is of. Policies that are in
// force in its month may have been brought by another process since we looked.
func (r *Rewards) genuine(ctx context.Context, s *ledger.Statement) error {
	for again := range 2 {
		if again > 0 {
			if err := r.adopt(ctx); err != nil {
				return err
			}
		}
		var policies []ledger.Policy
		for _, p := range r.book().In(s.Month) {
			policies = append(policies, line(p))
		}
		if ledger.Seal(s.Previous, &s.UserMonth, policies) == s.Hash {
			return nil
		}
	}
	return uneven(s.User, "the statement of "+s.Month.String())
}

// earned is what the hotspots of an accrual come to.
func (a *accrual) earned() (sum ledger.Sum) {
	for _, s := range a.sums {
		sum = sum.Plus(s.Sum)
	}
	return sum
}

// evenMonths sees that the months of a history are what their statements say or,
// before they have one, what the hotspots come to.
func (r *Rewards) evenMonths(ctx context.Context, user beacon.UserID, months []ledger.UserMonth, b ledger.Books) error {
	if len(months) == 0 {
		return nil
	}
	statements, err := b.Statements(ctx, user, months[0].Month, months[len(months)-1].Month)
	if err != nil {
		return err
	}
	settled := make(map[beacon.Month]*ledger.Statement, len(statements))
	for i := range statements {
		settled[statements[i].Month] = &statements[i]
	}
	for i := range months {
		s := settled[months[i].Month]
		if s == nil {
			hotspots, err := b.HotspotMonths(ctx, user, months[i].Month)
			if err != nil {
				return err
			}
			if err := even(user, months[i].Month, hotspots, months[i:i+1]); err != nil {
				return err
			}
			continue
		}
		if s.UserMonth != months[i] {
			return uneven(user, months[i].Month.String())
		}
		if err := r.genuine(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// unbroken sees, when a server starts, that the days in the books follow each
// other: which days are open is told by the last of them.
func (r *Rewards) unbroken(ctx context.Context) error {
	return r.Store.Books(ctx, func(b ledger.Books) error {
		days, err := b.Closings(ctx)
		for i := 1; i < len(days); i++ {
			if days[i].Day != days[i-1].Day+1 || days[i-1].ClosedAt.IsZero() {
				return fmt.Errorf("the books go from %s on to %s: the database is damaged; run beacon doctor, and restore a backup",
					days[i-1].Day, days[i].Day)
			}
		}
		return err
	})
}
