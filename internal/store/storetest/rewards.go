package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

// The month and day of the rewards in these tests.
var (
	rewardMonth = beacon.MonthOf(Now)
	rewardDay   = rewardMonth.First() + 13
)

func owned(user string, n int) beacon.Owned {
	return beacon.Owned{User: beacon.UserID(user), Hotspot: Hotspot(n).ID}
}

func earned(n int) beacon.Earned {
	return beacon.Earned{Availability: beacon.Amount(n), Performance: beacon.Amount(10 * n), Utilization: beacon.Amount(100 * n)}
}

func sum(n int) ledger.Sum {
	return ledger.Sum{Served: int64(n), Expected: int64(2 * n), Earned: earned(n)}
}

func ledgerRow(day beacon.Day, of beacon.Owned, n int) ledger.Row {
	row := ledger.Row{
		Day: day, Owned: of, Policy: 1, Earned: earned(n),
		Facts: beacon.Facts{Served: n, Expected: 2 * n, Closed: 3, Excused: 4, Outside: 5, Bytes: uint64(n), Tier: beacon.Enhanced},
	}
	if n%2 == 0 { // under a policy that pays places
		row.Ground = beacon.Ground{Counts: beacon.InDays, Standing: 8, Own: int64(n), Recent: 7, Proof: 500000, Lat: -900000000, Lng: 1799999999, Shared: 1, Older: 2}
	}
	if n%4 == 0 { // and counts minutes
		row.Counts, row.Due, row.Spare, row.Proof = beacon.InMinutes, int64(n+1), 3, 0
	}
	return row
}

func hotspotMonth(month beacon.Month, of beacon.Owned, n int) ledger.HotspotMonth {
	return ledger.HotspotMonth{Month: month, Owned: of, Through: month.First(), Tier: beacon.Enhanced, Sum: sum(n)}
}

func userMonth(month beacon.Month, user beacon.UserID, n int) ledger.UserMonth {
	return ledger.UserMonth{Month: month, User: user, Hotspots: n, Rows: 2 * n, Chain: hash(n), Sum: sum(n)}
}

// hash contains zeros and high bits, as real hashes do.
func hash(n int) ledger.Hash { return ledger.Hash{0, byte(n), 0xff, byte(n >> 8), 31: 1} }

// page returns a page of a day: what each hotspot earned, and the sums and accounts.
func page(day beacon.Day, from beacon.Owned, all ...beacon.Owned) ledger.Page {
	p := ledger.Page{Day: day, From: from}
	users := map[beacon.UserID]bool{}
	for n, of := range all {
		p.Rows = append(p.Rows, ledgerRow(day, of, n+1))
		p.Hotspots = append(p.Hotspots, hotspotMonth(day.Month(), of, n+1))
		if p.Upto = of; !users[of.User] {
			users[of.User] = true
			p.Users = append(p.Users, userMonth(day.Month(), of.User, n+1))
			p.Accounts = append(p.Accounts, ledger.Account{User: of.User, FirstDay: day})
		}
	}
	return p
}

// last makes a page the last of its day.
func last(p ledger.Page) ledger.Page {
	p.Done = Now
	return p
}

// based sets the basis of a page to the stored sums.
func based(t testing.TB, db *store.DB, p ledger.Page) ledger.Page {
	t.Helper()
	if len(p.Rows) > 0 {
		first, last := p.Rows[0].Owned, p.Rows[len(p.Rows)-1].Owned
		p.Basis = ledger.BasisOf(must(db.Ledger.HotspotMonths(t.Context(), p.Day.Month(), first, last)),
			must(db.Ledger.UserMonths(t.Context(), p.Day.Month(), first.User, last.User)))
	}
	return p
}

func putPage(t testing.TB, db *store.DB, l lease.Lease, pages ...ledger.Page) {
	t.Helper()
	for _, p := range pages {
		if err := db.Ledger.PutPage(t.Context(), l, based(t, db, p)); err != nil {
			t.Fatalf("PutPage of %s from %v: %v", p.Day, p.From, err)
		}
	}
}

// inBooks reads something in a separate snapshot.
func inBooks[T any](t testing.TB, db *store.DB, read func(context.Context, ledger.Books) (T, error)) (answer T) {
	t.Helper()
	err := db.Ledger.Books(t.Context(), func(b ledger.Books) (err error) {
		answer, err = read(t.Context(), b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// found is an optional result.
type found[T any] struct {
	Value T
	Any   bool
}

func closing(t testing.TB, db *store.DB) found[ledger.Closing] {
	t.Helper()
	return inBooks(t, db, func(ctx context.Context, b ledger.Books) (f found[ledger.Closing], err error) {
		f.Value, f.Any, err = b.Closing(ctx)
		return f, err
	})
}

func account(t testing.TB, db *store.DB, user beacon.UserID) found[ledger.Account] {
	t.Helper()
	return inBooks(t, db, func(ctx context.Context, b ledger.Books) (f found[ledger.Account], err error) {
		f.Value, f.Any, err = b.Account(ctx, user)
		return f, err
	})
}

func rowsOf(t testing.TB, db *store.DB, user beacon.UserID, day beacon.Day) []ledger.Row {
	t.Helper()
	return inBooks(t, db, func(ctx context.Context, b ledger.Books) (all []ledger.Row, err error) {
		err = b.Rows(ctx, user, day, func(r ledger.Row) error {
			all = append(all, r)
			return nil
		})
		return all, err
	})
}

// manyUsers returns users whose ids are neighbors and prefixes of each other.
func manyUsers(n int) (all []beacon.UserID) {
	for i := range n {
		all = append(all, beacon.UserID(fmt.Sprintf("usr_%04d", i/2)))
		if i%2 == 1 {
			all[i] += "a"
		}
	}
	return all
}
