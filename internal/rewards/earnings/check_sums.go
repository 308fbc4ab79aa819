package earnings

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

// Earnings are stored more than once: in rows, in sums of hotspots and of users, in
// statements under a hash, and in accounts. A response reads two of them and fails if
// they differ: a disk that loses a bit silently must not decide what someone is paid,
// at startup or later.

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
		return rewards.Mismatch(user, month.String())
	}
	return nil
}

// checkHash checks a statement against its hash. If they differ it reloads the policies
// once: another process may have added one since.
func (r *Earnings) checkHash(ctx context.Context, s *ledger.Statement) error {
	for again := range 2 {
		if again > 0 {
			if err := r.Reload(ctx); err != nil {
				return err
			}
		}
		policies := r.Known().LinesIn(s.Month)
		if ledger.Seal(s.Previous, &s.UserMonth, policies) == s.Hash {
			return nil
		}
	}
	return rewards.Mismatch(s.User, "the statement of "+s.Month.String())
}

// checkMonths checks the months of a history, which are all that there are in a range,
// against their statements or, where there is none yet, against the sums of the hotspots.
func (r *Earnings) checkMonths(ctx context.Context, user beacon.UserID, from, to beacon.Month, months []ledger.UserMonth, b ledger.Books) error {
	statements, err := b.Statements(ctx, user, from, to)
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
			return rewards.Mismatch(user, months[i].Month.String())
		}
		if err := r.checkHash(ctx, s); err != nil {
			return err
		}
		delete(settled, s.Month)
	}
	for month := range settled {
		return rewards.Mismatch(user, month.String()) // a statement of a month that is not there
	}
	return nil
}
