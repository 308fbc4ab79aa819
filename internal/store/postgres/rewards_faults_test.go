package postgres_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

const (
	closedDay = beacon.Day(20_772)
	user      = beacon.UserID("usr_a")
)

var (
	month  = closedDay.Month()
	earned = ledger.Sum{Served: 1, Expected: 2, Earned: beacon.Earned{Availability: 3, Performance: 4, Utilization: 5}}
)

// rewardPage is a page of one hotspot.
func rewardPage(from, of beacon.Owned) ledger.Page {
	return ledger.Page{
		Day: closedDay, From: from, Upto: of,
		Rows:     []ledger.Row{{Day: closedDay, Owned: of, Policy: 1, Earned: earned.Earned}},
		Hotspots: []ledger.HotspotMonth{{Month: month, Owned: of, Through: closedDay, Sum: earned}},
		Users:    []ledger.UserMonth{{Month: month, User: user, Hotspots: 1, Rows: 1, Sum: earned}},
		Accounts: []ledger.Account{{User: user, FirstDay: closedDay}},
	}
}

func closing(t *testing.T, db *store.DB) (c ledger.Closing) {
	t.Helper()
	err := db.Ledger.Books(t.Context(), func(b ledger.Books) (err error) {
		c, _, err = b.Closing(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPutPage_AnswerLost: the page is written and nobody knows. It cannot be
// written again, and the closing tells from where to go on.
func TestPutPage_AnswerLost(t *testing.T) {
	proxy, behind := throughProxy(t, storetest.Postgres(t))
	db := open(t, behind)
	l, _, err := db.Leases.TakeLease(t.Context(), "keeper", "one", storetest.Now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	one, two := beacon.Owned{User: user, Hotspot: "hs_1"}, beacon.Owned{User: user, Hotspot: "hs_2"}
	pages := []ledger.Page{rewardPage(beacon.Owned{}, one), rewardPage(one, two)}
	for i, page := range pages {
		users, err := db.Ledger.UserMonths(t.Context(), page.Day.Month(), user, user)
		if err != nil {
			t.Fatal(err)
		}
		page.Basis = ledger.BasisOf(nil, users)
		proxy.loseAnswer("COMMIT\x00")
		wantKind(t, "the answer to COMMIT is lost", db.Ledger.PutPage(t.Context(), l, page), beacon.Internal)
		wantKind(t, "the page again", db.Ledger.PutPage(t.Context(), l, page), beacon.Conflict)
		if c := closing(t, db); c.Upto != page.Upto || c.Hotspots != i+1 || c.Total() != beacon.Amount((i+1)*12) {
			t.Errorf("after page %d the closing is %+v", i, c)
		}
	}
}

// TestSettle_AnswerLost: the statement is written and nobody knows. To settle
// again writes nothing, and the stream has one change.
func TestSettle_AnswerLost(t *testing.T) {
	proxy, behind := throughProxy(t, storetest.Postgres(t))
	db := open(t, behind)
	l, _, err := db.Leases.TakeLease(t.Context(), "keeper", "one", storetest.Now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	page := rewardPage(beacon.Owned{}, beacon.Owned{User: user, Hotspot: "hs_1"})
	if err := db.Ledger.PutPage(t.Context(), l, page); err != nil {
		t.Fatal(err)
	}
	statements := []ledger.Statement{{UserMonth: page.Users[0], Hash: ledger.Hash{1}, SettledAt: storetest.Now}}
	proxy.loseAnswer("COMMIT\x00")
	_, err = db.Ledger.Settle(t.Context(), storetest.Actor, 0, statements)
	wantKind(t, "the answer to COMMIT is lost", err, beacon.Internal)
	if n, err := db.Ledger.Settle(t.Context(), storetest.Actor, 0, statements); n != 0 || err != nil {
		t.Errorf("settled again: %d, %v; want 0", n, err)
	}
	proxy.loseAnswer("COMMIT\x00")
	wantKind(t, "totals", db.Ledger.AddTotals(t.Context(), 0, page.Hotspots), beacon.Internal)
	if err := db.Ledger.AddTotals(t.Context(), 0, page.Hotspots); err != nil {
		t.Errorf("added again: %v", err)
	}
	err = db.Ledger.Books(t.Context(), func(b ledger.Books) error {
		account, _, err := b.Account(t.Context(), user)
		totals, errTotals := b.Totals(t.Context(), user)
		if account.Sum != earned || err != nil || len(totals) != 1 || totals[0].Sum != earned || errTotals != nil {
			t.Errorf("account %+v, %v; totals %+v, %v", account, err, totals, errTotals)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if changes, err := db.Changes.Changes(t.Context(), db.Node(), 0, 10); len(changes) != 1 || err != nil {
		t.Errorf("changes %v, %v; want one", changes, err)
	}
}

// TestBooks_ConnectionLost: it dies while someone reads, who is asked to begin
// again; and when there is none to be had, is told so.
func TestBooks_ConnectionLost(t *testing.T) {
	proxy, behind := throughProxy(t, storetest.Postgres(t))
	db := open(t, behind)
	if err := register(db, 1); err != nil {
		t.Fatal(err)
	}
	calls, names := 0, 0
	err := db.Ledger.Books(t.Context(), func(b ledger.Books) error {
		if calls++; calls == 1 {
			proxy.setDown(true)
			proxy.setDown(false)
		}
		all, err := b.Names(t.Context(), storetest.Hotspot(1).Operator, time.Time{})
		names = len(all)
		return err
	})
	if err != nil || calls != 2 || names != 1 {
		t.Errorf("Books = %v after %d calls, with %d names; want nil after 2, with 1", err, calls, names)
	}
	proxy.setDown(true)
	err = db.Ledger.Books(t.Context(), func(ledger.Books) error { return nil })
	wantKind(t, "Books", err, beacon.Overloaded)
	proxy.setDown(false)
	closing(t, db)
}
