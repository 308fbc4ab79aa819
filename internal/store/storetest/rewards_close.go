package storetest

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// putPages: a day is written page by page, adds up, and the next begins once it is
// closed.
func putPages(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "keeper")
	equal(t, "the closing before all", closing(t, db), found[ledger.Closing]{})
	one, two, three := owned("usr_a", 2), owned("usr_a", 3), owned("usr_b", 1)
	putPage(t, db, l, page(rewardDay, beacon.Owned{}, one, two))
	want := ledger.Closing{Day: rewardDay, Upto: two, Hotspots: 2, Earned: earned(1 + 2)}
	equal(t, "the closing after a page", closing(t, db), found[ledger.Closing]{want, true})

	putPage(t, db, l, last(page(rewardDay, two, three)))
	want.Upto, want.Hotspots, want.Earned, want.ClosedAt = three, 3, earned(1+2+1), Now
	equal(t, "the closing after the last page", closing(t, db), found[ledger.Closing]{want, true})

	empty := ledger.Page{Day: rewardDay + 1, Done: Now.Add(time.Hour)} // nobody was in service
	putPage(t, db, l, empty, last(page(rewardDay+2, beacon.Owned{}, one)))
	equal(t, "the closing of the third day", closing(t, db),
		found[ledger.Closing]{ledger.Closing{Day: rewardDay + 2, Upto: one, Hotspots: 1, Earned: earned(1), ClosedAt: Now}, true})

	equal(t, "the rows of a", rowsOf(t, db, "usr_a", rewardDay), []ledger.Row{ledgerRow(rewardDay, one, 1), ledgerRow(rewardDay, two, 2)})
	equal(t, "the rows of b", rowsOf(t, db, "usr_b", rewardDay), []ledger.Row{ledgerRow(rewardDay, three, 1)})
	equal(t, "no rows", len(rowsOf(t, db, "usr_a", rewardDay+1)), 0)
	sum := func(user beacon.UserID) (n beacon.Amount) {
		for _, m := range must(db.Ledger.UserMonths(t.Context(), rewardMonth, user, user)) {
			n += m.Earned.Total()
		}
		return n
	}
	users := []beacon.UserID{"usr_a", "usr_b", "usr_none"}
	for span, want := range map[[2]beacon.Month]map[beacon.UserID]beacon.Amount{
		{rewardMonth - 1, rewardMonth}:     {"usr_a": sum("usr_a"), "usr_b": sum("usr_b")},
		{rewardMonth - 2, rewardMonth - 1}: {},
	} {
		equal(t, "what users earned", must(db.Ledger.Earned(t.Context(), users, span[0], span[1])), want)
	}
	equal(t, "the account", account(t, db, "usr_a"),
		found[ledger.Account]{ledger.Account{User: "usr_a", FirstDay: rewardDay, Settled: ledger.NoMonth}, true})
	wantHead(t, db, 0)
}

// putPageRefused: a page that does not follow, or whose writer lost the lease, writes
// nothing at all.
func putPageRefused(t *testing.T, database Database) {
	db, other := database.open(t), database.open(t)
	l := lead(t, db, "keeper")
	one, two := owned("usr_a", 1), owned("usr_a", 2)
	putPage(t, db, l, last(page(rewardDay, beacon.Owned{}, one)), page(rewardDay+1, beacon.Owned{}, one))
	before := closing(t, db)
	lost := l
	taken, _, err := other.Leases.TakeLease(t.Context(), "keeper", "other", Now.Add(24*time.Hour), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for what, p := range map[string]ledger.Page{
		"the first page again":       page(rewardDay+1, beacon.Owned{}, two),
		"a page from somewhere else": page(rewardDay+1, two, two),
		"another user's hotspot":     page(rewardDay+1, owned("usr_b", 1), two),
		"a day that is closed":       page(rewardDay, one, two),
		"a closed day from scratch":  page(rewardDay, beacon.Owned{}, two),
		"the day after an open one":  page(rewardDay+2, beacon.Owned{}, two),
		"an earlier day":             page(rewardDay-1, beacon.Owned{}, two),
	} {
		p.Accounts = append(p.Accounts, ledger.Account{User: "usr_new"})
		wantKind(t, what, db.Ledger.PutPage(t.Context(), taken, based(t, db, p)), beacon.Conflict)
	}
	wantKind(t, "without the lease", db.Ledger.PutPage(t.Context(), lost, based(t, db, page(rewardDay+1, one, two))), beacon.Conflict)
	equal(t, "the closing", closing(t, db), before)
	equal(t, "the rows", rowsOf(t, db, "usr_a", rewardDay+1), []ledger.Row{ledgerRow(rewardDay+1, one, 1)})
	equal(t, "no account", account(t, db, "usr_new").Any, false)
	months := must(db.Ledger.HotspotMonths(t.Context(), rewardMonth, beacon.Owned{}, owned("usr_z", 0)))
	equal(t, "the sums", months, []ledger.HotspotMonth{hotspotMonth(rewardMonth, one, 1)})

	putPage(t, db, taken, last(page(rewardDay+1, one, two)))
	wantKind(t, "the middle of a day", db.Ledger.PutPage(t.Context(), taken, based(t, db, page(rewardDay+2, one, two))), beacon.Conflict)
	wantKind(t, "a day too far", db.Ledger.PutPage(t.Context(), taken, based(t, db, page(rewardDay+3, beacon.Owned{}, one))), beacon.Conflict)
	// An existing row is never overwritten.
	doubled := page(rewardDay+2, beacon.Owned{}, one, two)
	doubled.Rows[1] = doubled.Rows[0]
	wantKind(t, "a row twice", db.Ledger.PutPage(t.Context(), taken, based(t, db, doubled)), beacon.Internal)
	equal(t, "the closing", closing(t, db).Value.Day, rewardDay+1)
}

// stalePages: a page is refused if any of the sums it was added to has changed since.
func stalePages(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "keeper")
	one, two := owned("usr_a", 1), owned("usr_b", 2)
	putPage(t, db, l, last(page(rewardDay, beacon.Owned{}, one, two)))
	before := closing(t, db)
	fresh := based(t, db, last(page(rewardDay+1, beacon.Owned{}, one, two)))
	for what, change := range map[string]func(*ledger.Basis){
		"nothing was there":     func(b *ledger.Basis) { *b = ledger.Basis{} },
		"a hotspot less":        func(b *ledger.Basis) { b.Hotspots-- },
		"a hotspot a day ago":   func(b *ledger.Basis) { b.Through-- },
		"a user less":           func(b *ledger.Basis) { b.Users-- },
		"a user with less rows": func(b *ledger.Basis) { b.Rows-- },
	} {
		stale := fresh
		change(&stale.Basis)
		wantKind(t, what, db.Ledger.PutPage(t.Context(), l, stale), beacon.Conflict)
		equal(t, what+": the closing", closing(t, db), before)
		equal(t, what+": the rows", len(rowsOf(t, db, "usr_a", rewardDay+1)), 0)
	}
	if err := db.Ledger.PutPage(t.Context(), l, fresh); err != nil {
		t.Error(err)
	}
}

// rowExtremes: what is read equals what was written, at the limits of each number.
func rowExtremes(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "keeper")
	p := ledger.Page{Day: rewardDay}
	for n, bytes := range []uint64{0, 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64 - 1, math.MaxUint64} {
		row := ledgerRow(rewardDay, owned("usr_a", n), n)
		row.Bytes, row.Tier = bytes, beacon.Tier(n%3)
		row.Availability, row.Performance, row.Utilization = math.MaxInt64>>8, -math.MaxInt64>>8, beacon.Amount(n)
		p.Rows = append(p.Rows, row)
		p.Upto = row.Owned
	}
	most := ledger.Sum{
		Served: math.MaxInt64, Expected: math.MaxInt64,
		Earned: beacon.Earned{Availability: math.MaxInt64, Performance: math.MinInt64, Utilization: math.MaxInt64},
	}
	p.Hotspots = []ledger.HotspotMonth{{Month: rewardMonth, Owned: p.Upto, Through: rewardDay, Tier: beacon.Premium, Sum: most}}
	p.Users = []ledger.UserMonth{{Month: rewardMonth, User: "usr_a", Hotspots: math.MaxInt32, Rows: math.MaxInt32, Chain: hash(0xffff), Sum: most}}
	putPage(t, db, l, p)
	equal(t, "the rows", rowsOf(t, db, "usr_a", rewardDay), p.Rows)
	type sums struct {
		Hotspots []ledger.HotspotMonth
		Users    []ledger.UserMonth
	}
	read := inBooks(t, db, func(ctx context.Context, b ledger.Books) (s sums, err error) {
		if s.Hotspots, err = b.HotspotMonths(ctx, "usr_a", rewardMonth); err == nil {
			s.Users, err = b.UserMonths(ctx, "usr_a", rewardMonth, rewardMonth)
		}
		return s, err
	})
	equal(t, "the sums", read, sums{p.Hotspots, p.Users})
	for _, row := range p.Rows {
		got := inBooks(t, db, func(ctx context.Context, b ledger.Books) (f found[ledger.Row], err error) {
			f.Value, f.Any, err = b.Row(ctx, row.Day, row.Owned)
			return f, err
		})
		equal(t, "the row of a hotspot", got, found[ledger.Row]{row, true})
	}
}
