package rewards

import (
	"cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// addRows adds the rows of a page to the existing sums of its month. All lists are
// ordered by user and then by hotspot.
func addRows(page *ledger.Page, hotspots []ledger.HotspotMonth, users []ledger.UserMonth) {
	page.Hotspots = make([]ledger.HotspotMonth, 0, len(page.Rows))
	for i := range page.Rows {
		row := &page.Rows[i]
		for len(users) > 0 && users[0].User < row.User {
			users = users[1:]
		}
		for len(hotspots) > 0 && compare(hotspots[0].Owned, row.Owned) < 0 {
			hotspots = hotspots[1:]
		}
		user := userOf(page, row, users)
		hotspot := ledger.HotspotMonth{Month: user.Month, Owned: row.Owned}
		if len(hotspots) > 0 && hotspots[0].Owned == row.Owned {
			hotspot = hotspots[0]
		} else {
			user.Hotspots++
		}
		sum := sumOf(row.Facts, row.Earned)
		hotspot.Through, hotspot.Tier, hotspot.Sum = row.Day, row.Tier, hotspot.Plus(sum)
		user.Rows, user.Chain, user.Sum = user.Rows+1, user.Chain.Next(row), user.Plus(sum)
		page.Hotspots = append(page.Hotspots, hotspot)
	}
}

// userOf returns the sum of the row's user, which is the last one in the page. It
// takes it from the page, from what an earlier page wrote, or makes a new one.
func userOf(page *ledger.Page, row *ledger.Row, written []ledger.UserMonth) *ledger.UserMonth {
	month := row.Day.Month()
	if n := len(page.Users); n > 0 && page.Users[n-1].User == row.User {
		return &page.Users[n-1]
	}
	if len(written) > 0 && written[0].User == row.User {
		page.Users = append(page.Users, written[0])
	} else {
		page.Users = append(page.Users, ledger.UserMonth{Month: month, User: row.User, Chain: ledger.Seed(row.User, month)})
		page.Accounts = append(page.Accounts, ledger.Account{User: row.User, FirstDay: row.Day})
	}
	return &page.Users[len(page.Users)-1]
}

func compare(a, b beacon.Owned) int {
	return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Hotspot, b.Hotspot))
}
