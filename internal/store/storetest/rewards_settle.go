package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

func statement(month beacon.Month, user beacon.UserID, n int, previous ledger.Hash) ledger.Statement {
	return ledger.Statement{UserMonth: userMonth(month, user, n), Previous: previous, Hash: hash(1000*int(month) + n), SettledAt: Now}
}

// openAccounts closes a day, so that users have an account.
func openAccounts(t *testing.T, db *store.DB, users ...beacon.UserID) {
	t.Helper()
	var all []beacon.Owned
	for n, user := range users {
		all = append(all, owned(string(user), n))
	}
	putPage(t, db, lead(t, db, "keeper"), last(page(rewardDay, beacon.Owned{}, all...)))
}

func statementOf(t testing.TB, db *store.DB, user beacon.UserID, month beacon.Month) found[ledger.Statement] {
	t.Helper()
	return inBooks(t, db, func(ctx context.Context, b ledger.Books) (f found[ledger.Statement], err error) {
		f.Value, f.Any, err = b.Statement(ctx, user, month)
		return f, err
	})
}

// settleMonths: statements follow each other; one that does not is skipped without a
// trace, and the others are written.
func settleMonths(t *testing.T, database Database) {
	db := database.open(t)
	openAccounts(t, db, "usr_a", "usr_b", "usr_c")
	settle := func(want int, all ...ledger.Statement) {
		t.Helper()
		if n, err := db.Ledger.Settle(t.Context(), Actor, 0, all); n != want || err != nil {
			t.Fatalf("Settle = %d, %v; want %d", n, err, want)
		}
	}
	var none ledger.Hash
	firstA, firstB := statement(rewardMonth, "usr_a", 1, none), statement(rewardMonth, "usr_b", 2, none)
	settle(2, firstB, firstA, statement(rewardMonth, "usr_c", 3, hash(9)), statement(rewardMonth, "usr_nobody", 4, none))
	settle(0, firstA, firstB)
	other := firstA
	other.Sum, other.Hash, other.SettledAt = sum(77), hash(77), Now.AddDate(1, 0, 0)
	settle(0, other)                                             // a settled month never changes
	settle(0, statement(rewardMonth-1, "usr_a", 5, firstA.Hash)) // and none is inserted before it
	settle(0, statement(rewardMonth+1, "usr_a", 6, none))        // the wrong previous hash
	secondA := statement(rewardMonth+1, "usr_a", 7, firstA.Hash)
	thirdA := statement(rewardMonth+3, "usr_a", 8, secondA.Hash) // a month without rows has none
	settle(2, thirdA, secondA, secondA)

	for _, s := range []ledger.Statement{firstA, firstB, secondA, thirdA} {
		equal(t, "a statement", statementOf(t, db, s.User, s.Month), found[ledger.Statement]{s, true})
	}
	equal(t, "no statement", statementOf(t, db, "usr_c", rewardMonth).Any, false)
	equal(t, "no account", account(t, db, "usr_nobody").Any, false)
	want := ledger.Account{User: "usr_a", FirstDay: rewardDay, Settled: rewardMonth + 3, Hash: thirdA.Hash, Sum: sum(1 + 7 + 8)}
	equal(t, "the account", account(t, db, "usr_a"), found[ledger.Account]{want, true})
	equal(t, "an account without one", account(t, db, "usr_c").Value.Sum, ledger.Sum{})

	var changes []beacon.Change
	for i, s := range []ledger.Statement{firstA, firstB, secondA, thirdA} {
		by := Actor
		by.Note = s.Month.String()
		changes = append(changes, beacon.Change{
			Node: db.Node(), Seq: int64(i + 1), Kind: beacon.RewardsSettled, Target: string(s.User), Actor: by, At: Now,
		})
	}
	equal(t, "the changes", must(db.Changes.Changes(t.Context(), db.Node(), 0, 100)), changes)
}

// settleMany: 300 statements at once, each with its change.
func settleMany(t *testing.T, database Database) {
	db := database.open(t)
	users := manyUsers(300)
	openAccounts(t, db, users...)
	var all []ledger.Statement
	for n, user := range users {
		all = append(all, statement(rewardMonth, user, n, ledger.Hash{}))
	}
	if n, err := db.Ledger.Settle(t.Context(), Actor, 0, reversed(all)); n != len(all) || err != nil {
		t.Fatalf("Settle = %d, %v; want %d", n, err, len(all))
	}
	wantHead(t, db, int64(len(all)))
	for i, c := range must(db.Changes.Changes(t.Context(), db.Node(), 0, len(all)+1)) {
		if c.Target != string(users[i]) || c.Seq != int64(i+1) {
			t.Fatalf("change %d is %+v; want of %s", i+1, c, users[i])
		}
	}
	for i, a := range must(db.Ledger.Accounts(t.Context(), users[0], users[len(users)-1])) {
		if a.User != users[i] || a.Settled != rewardMonth || a.Hash != all[i].Hash || a.Sum != sum(i) {
			t.Fatalf("account %d is %+v", i, a)
		}
	}
	insert(t, db, Hotspot(1)) // the numbers continue
	wantHead(t, db, int64(len(all))+1)
}

// settleRace: many settle the same months at once, on two nodes, each with its own
// sums. Every statement equals one of them as a whole, and was written once.
func settleRace(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	users := manyUsers(60)
	openAccounts(t, nodes[0], users...)
	const racers, months = 8, 3
	var written atomic.Int64
	for month := rewardMonth; month < rewardMonth+months; month++ {
		accounts := must(nodes[0].Ledger.Accounts(t.Context(), users[0], users[len(users)-1]))
		var all sync.WaitGroup
		for racer := range racers {
			all.Go(func() {
				var some []ledger.Statement
				for i, a := range accounts {
					s := statement(month, a.User, i, a.Hash)
					s.Hash[20] = byte(racer)
					some = append(some, s)
				}
				err := insist(func() error {
					n, err := nodes[racer%2].Ledger.Settle(t.Context(), Actor, 0, reversed(some[racer:]))
					written.Add(int64(n))
					return err
				})
				if err != nil {
					t.Errorf("racer %d: %v", racer, err)
				}
			})
		}
		all.Wait()
		wantSettled(t, nodes[1], users, month)
	}
	heads := must(nodes[0].Changes.Heads(t.Context()))
	if total := heads[nodes[0].Node()] + heads[nodes[1].Node()]; written.Load() != int64(months*len(users)) || total != written.Load() {
		t.Errorf("%d statements written, %d changes; want %d", written.Load(), total, months*len(users))
	}
}

func wantSettled(t *testing.T, db *store.DB, users []beacon.UserID, month beacon.Month) {
	t.Helper()
	for i, user := range users {
		a, s := account(t, db, user).Value, statementOf(t, db, user, month).Value
		if want := sum(i * int(month-rewardMonth+1)); a.Settled != month || a.Hash != s.Hash || a.Sum != want || s.Sum != sum(i) {
			t.Errorf("%s after %s: account %+v; want %+v, and hash %s", user, month, a, want, s.Hash)
		}
	}
}
