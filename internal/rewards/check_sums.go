package rewards

import (
	"context"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// Earnings are stored more than once: in rows, in sums of hotspots and of users, in
// statements under a hash, and in accounts. A response reads two of them and fails if
// they differ: a disk that loses a bit silently must not decide what someone is paid,
// at startup or later.

// errMismatch returns the error for sums that do not add up.
func errMismatch(user beacon.UserID, where string) error {
	return &beacon.Error{
		Kind: beacon.Internal, Message: "internal error",
		Err: fmt.Errorf("the rewards of %s do not add up in %s: the database is damaged; run beacon doctor", user, where),
	}
}

// readSums reads the sums of a user's hotspots in a month, and the user's own sum if there
// is one, and checks them.
func readSums(ctx context.Context, b ledger.Books, user beacon.UserID, month beacon.Month) (
	hotspots []ledger.HotspotMonth, users []ledger.UserMonth, err error,
) {
	if hotspots, err = b.HotspotMonths(ctx, user, month); err != nil {
		return nil, nil, err
	}
	if users, err = b.UserMonths(ctx, user, month, month); err != nil {
		return nil, nil, err
	}
	return hotspots, users, checkSums(user, month, hotspots, users)
}

// checkSums checks the sums of a user's hotspots in a month against the user's own sum, if
// there is one.
func checkSums(user beacon.UserID, month beacon.Month, hotspots []ledger.HotspotMonth, users []ledger.UserMonth) error {
	var sum ledger.Sum
	for i := range hotspots {
		sum = sum.Plus(hotspots[i].Sum)
	}
	var own ledger.UserMonth
	if len(users) > 0 {
		own = users[0]
	}
	if own.Sum != sum || own.Hotspots != len(hotspots) {
		return errMismatch(user, month.String())
	}
	return nil
}

// checkHash checks a statement against its hash. If they differ it reloads the policies
// once: another process may have added one since.
func (r *Rewards) checkHash(ctx context.Context, s *ledger.Statement) error {
	for again := range 2 {
		if again > 0 {
			if err := r.Reload(ctx); err != nil {
				return err
			}
		}
		policies := r.policySet().LinesIn(s.Month)
		if ledger.Seal(s.Previous, &s.UserMonth, policies) == s.Hash {
			return nil
		}
	}
	return errMismatch(s.User, "the statement of "+s.Month.String())
}

// checkMonths checks the months of a history against their statements or, where there
// is none yet, against the sums of the hotspots.
func (r *Rewards) checkMonths(ctx context.Context, user beacon.UserID, months []ledger.UserMonth, b ledger.Books) error {
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
			if err := checkSums(user, months[i].Month, hotspots, months[i:i+1]); err != nil {
				return err
			}
			continue
		}
		if s.UserMonth != months[i] {
			return errMismatch(user, months[i].Month.String())
		}
		if err := r.checkHash(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// checkDays checks at startup that the closed days have no gap: the last of them
// decides which days are open.
func (r *Rewards) checkDays(ctx context.Context) error {
	return r.Store.Books(ctx, func(b ledger.Books) error {
		days, err := b.Closings(ctx)
		for i := 1; i < len(days); i++ {
			if days[i].Day != days[i-1].Day+1 || days[i-1].ClosedAt.IsZero() {
				return fmt.Errorf("closed days jump from %s to %s: the database is damaged; run beacon doctor, and restore a backup",
					days[i-1].Day, days[i].Day)
			}
		}
		return err
	})
}
