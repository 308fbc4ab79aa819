package store

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// UserPage returns up to limit sums of a month, of users after one, in order.
func (db *DB) UserPage(ctx context.Context, month beacon.Month, after beacon.UserID, limit int) ([]ledger.UserMonth, error) {
	end := func(after beacon.Owned) (to beacon.Owned, any bool, err error) {
		user, any, err := firstAgain(ctx, db, rewardText.accountEnd, textRow, string(after.User), int64(limit-1))
		return beacon.Owned{User: beacon.UserID(user)}, any, err
	}
	return readPage(beacon.Owned{User: after}, limit, end, func(after, to beacon.Owned, limit int64) ([]ledger.UserMonth, error) {
		return listAgain(ctx, db, rewardText.userMonthPage, userMonthRow, int64(month), string(after.User), string(to.User), limit)
	})
}

// HotspotPage returns up to limit sums of a month, of hotspots after one, ordered by
// user and then hotspot.
func (db *DB) HotspotPage(ctx context.Context, month beacon.Month, after beacon.Owned, limit int) ([]ledger.HotspotMonth, error) {
	end := func(after beacon.Owned) (to beacon.Owned, any bool, err error) {
		return firstAgain(ctx, db, rewardText.ownedEnd, ownedRow, string(after.User), string(after.Hotspot), int64(limit-1))
	}
	return readPage(after, limit, end, func(after, to beacon.Owned, limit int64) ([]ledger.HotspotMonth, error) {
		return listAgain(ctx, db, rewardText.hotspotMonthPage, hotspotMonthRow,
			int64(month), string(after.User), string(after.Hotspot), string(to.User), string(to.Hotspot), limit)
	})
}

// readPage reads up to limit rows of a month, from one bound to the next. The bounds
// come from a table without months. When PostgreSQL has few statistics about a table,
// it expects a month to have few rows, and would read and sort the whole rest of it for
// every page (250 ms where 85,000 were left). Between two bounds a bad plan costs
// little. No row is missed, because the bounds cover the whole key range.
func readPage[T any](
	after beacon.Owned, limit int,
	end func(after beacon.Owned) (to beacon.Owned, any bool, err error),
	read func(after, to beacon.Owned, limit int64) ([]T, error),
) (page []T, err error) {
	for more := true; more && len(page) < limit; {
		var to beacon.Owned
		if to, more, err = end(after); err != nil {
			return nil, err
		}
		if !more {
			to = beacon.Owned{User: lastKey, Hotspot: lastKey}
		}
		some, err := read(after, to, int64(limit-len(page)))
		if err != nil {
			return nil, err
		}
		page = append(page, some...)
		after = to
	}
	return page, nil
}
