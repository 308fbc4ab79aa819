package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

func someHold(n int) beacon.Hold {
	return beacon.Hold{
		ID: beacon.HoldID("hld_" + string(rune('a'+n))), User: "usr_a", Number: n, Version: 1, State: beacon.HoldIsActive,
		Hotspot: Hotspot(1).ID, Reason: "no radio", Evidence: "photo \"7\"", Until: Now.Add(time.Hour),
		Placed: beacon.HoldAct{By: "usr_staff", At: Now},
	}
}

func putHold(t testing.TB, db *store.DB, h beacon.Hold) beacon.Hold {
	t.Helper()
	return must(db.Holds.EditHolds(t.Context(), h.User, Actor, Now, func([]beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
		return h, beacon.HoldPlaced, nil
	}))
}

// editHolds: what was written is read, each version once, with a change in the audit; and
// what edit refuses leaves nothing.
func editHolds(t *testing.T, database Database) {
	db := database.open(t)
	first := putHold(t, db, someHold(1))
	equal(t, "a hold", must2(db.Holds.Hold(t.Context(), first.ID)), someHold(1))
	second := someHold(2)
	second.Hotspot = ""
	putHold(t, db, second)
	_, err := db.Holds.EditHolds(t.Context(), "usr_a", Actor, Now, func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
		equal(t, "the holds", all, []beacon.Hold{first, second})
		return all[0], beacon.HoldReleased, errVerdict
	})
	if err != errVerdict { //nolint:errorlint // unchanged
		t.Errorf("EditHolds = %v; want the verdict as it is", err)
	}
	full := first
	full.State, full.Until = beacon.HoldIsVoided, Now.Add(2*time.Hour)
	full.Extended = []beacon.HoldAct{{By: "usr_b", At: Now, Note: "longer"}, {By: "usr_c", At: Now}}
	full.Answer, full.Visit = beacon.HoldAct{By: "usr_a", At: Now, Note: "no"}, beacon.HoldAct{By: "usr_b", At: Now, Note: "nobody"}
	full.Ended = beacon.HoldAct{At: Now.Add(time.Minute), Note: "so"}
	written := must(db.Holds.EditHolds(t.Context(), "usr_a", Actor, Now, func([]beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
		return full, beacon.HoldVoided, nil
	}))
	full.Version++
	equal(t, "what was written", written, full)
	equal(t, "what is read", must2(db.Holds.Hold(t.Context(), full.ID)), full)
	equal(t, "the active ones", must(db.Holds.ActiveHolds(t.Context())), []beacon.Hold{second})
	page, total, err := db.Holds.Holds(t.Context(), "", "", 0, 1)
	equal(t, "the newest", page, []beacon.Hold{second})
	if total != 2 || err != nil {
		t.Errorf("Holds = %d, %v", total, err)
	}
	page, _, _ = db.Holds.Holds(t.Context(), "usr_a", second.ID, 0, 9)
	equal(t, "those after it", page, []beacon.Hold{full})
	if page, total, err = db.Holds.Holds(t.Context(), "usr_b", "", 0, 9); len(page) != 0 || total != 0 || err != nil {
		t.Errorf("Holds of another = %v, %d, %v", page, total, err)
	}
	if _, found, err := db.Holds.Hold(t.Context(), "hld_none"); found || err != nil {
		t.Errorf("Hold of none = %v, %v", found, err)
	}
	var kinds []beacon.ChangeKind
	for _, c := range must(db.Changes.Changes(t.Context(), db.Node(), 0, 10)) {
		kinds = append(kinds, c.Kind)
	}
	equal(t, "the changes", kinds, []beacon.ChangeKind{beacon.HoldPlaced, beacon.HoldPlaced, beacon.HoldVoided})
}

// holdsRace: of many who place the next hold, or end one, on two nodes, one does.
func holdsRace(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	race := func(what string, do func(db *store.DB) (done bool, err error)) {
		t.Helper()
		var all sync.WaitGroup
		var won atomic.Int64
		for racer := range 8 {
			all.Go(func() {
				err := insist(func() error {
					done, err := do(nodes[racer%2])
					if done && err == nil {
						won.Add(1)
					}
					return err
				})
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("%s was done %d times", what, won.Load())
		}
	}
	var tries atomic.Int64
	race("placing", func(db *store.DB) (done bool, err error) {
		_, err = db.Holds.EditHolds(t.Context(), "usr_a", Actor, Now, func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
			if done = len(all) == 0; !done {
				return beacon.Hold{}, "", nil
			}
			h := someHold(1)
			h.ID = beacon.HoldID(fmt.Sprintf("hld_%d", tries.Add(1))) // no two have the same
			return h, beacon.HoldPlaced, nil
		})
		return done, err
	})
	race("ending", func(db *store.DB) (done bool, err error) {
		_, err = db.Holds.EditHolds(t.Context(), "usr_a", Actor, Now, func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
			h := all[0]
			if done = h.State == beacon.HoldIsActive; !done {
				return h, "", nil
			}
			h.State = beacon.HoldIsReleased
			return h, beacon.HoldReleased, nil
		})
		return done, err
	})
	equal(t, "the changes", len(must(nodes[0].Changes.Changes(t.Context(), nodes[0].Node(), 0, 99)))+len(must(nodes[1].Changes.Changes(t.Context(), nodes[1].Node(), 0, 99))), 2)
}

// heldDays: rows keep their hold, and the days of a hold that is over are listed with one
// statement and never again.
func heldDays(t *testing.T, database Database) {
	db := database.open(t)
	hold := putHold(t, db, someHold(1))
	one, two := owned("usr_a", 1), owned("usr_a", 2)
	p := last(page(rewardDay, beacon.Owned{}, one, two))
	p.Rows[0].Hold = hold.ID
	p.Users[0].Held = p.Rows[0].Total()
	held := ledger.HeldDay{Day: rewardDay, Owned: one, Hold: hold.ID, Hash: hash(5), Amount: p.Rows[0].Total(), Listed: ledger.NoMonth}
	p.Held = []ledger.HeldDay{held}
	putPage(t, db, lead(t, db, "keeper"), p)
	equal(t, "the rows", rowsOf(t, db, "usr_a", rewardDay), p.Rows)
	equal(t, "the sum", must(db.Ledger.UserMonths(t.Context(), rewardMonth, "usr_a", "usr_a")), p.Users)
	days := func() []ledger.HeldDay {
		t.Helper()
		return inBooks(t, db, func(ctx context.Context, b ledger.Books) (all []ledger.HeldDay, err error) {
			err = b.HeldDays(ctx, "usr_a", func(d ledger.HeldDay) error { all = append(all, d); return nil })
			return all, err
		})
	}
	held.State = beacon.HoldIsActive
	equal(t, "the held days", days(), []ledger.HeldDay{held})
	for of, want := range map[beacon.Owned]ledger.HeldDay{one: held, two: {}} {
		equal(t, "the held day of "+string(of.Hotspot), inBooks(t, db, func(ctx context.Context, b ledger.Books) (ledger.HeldDay, error) {
			d, _, err := b.HeldDay(ctx, rewardDay, of)
			return d, err
		}), want)
	}
	toEnd := func() []ledger.HeldDay {
		t.Helper()
		return must(db.Holds.ToEnd(t.Context(), rewardMonth, "usr_a", "usr_b"))
	}
	equal(t, "to end while it is active", len(toEnd()), 0)
	hold.State = beacon.HoldIsReleased
	putHold(t, db, hold)
	held.State = beacon.HoldIsReleased
	equal(t, "to end", toEnd(), []ledger.HeldDay{held})
	equal(t, "to end before", len(must(db.Holds.ToEnd(t.Context(), rewardMonth-1, "usr_a", "usr_b"))), 0)
	equal(t, "users without a sum", must(db.Holds.UsersToEnd(t.Context(), rewardMonth+1, "", 9)), []beacon.UserID{"usr_a"})
	equal(t, "users with one", len(must(db.Holds.UsersToEnd(t.Context(), rewardMonth, "", 9))), 0)

	s := statement(rewardMonth, "usr_a", 7, ledger.Hash{})
	stranger := statement(rewardMonth, "usr_a", 8, hash(99)) // follows nothing
	if n, err := db.Ledger.Settle(t.Context(), Actor, 0, []ledger.Statement{stranger}, toEnd()...); n != 0 || err != nil {
		t.Errorf("Settle = %d, %v", n, err)
	}
	equal(t, "to end after a settlement that lost", toEnd(), []ledger.HeldDay{held})
	if n, err := db.Ledger.Settle(t.Context(), Actor, 0, []ledger.Statement{s}, toEnd()...); n != 1 || err != nil {
		t.Fatalf("Settle = %d, %v", n, err)
	}
	held.Listed = rewardMonth
	equal(t, "the held days then", days(), []ledger.HeldDay{held})
	equal(t, "to end then", len(toEnd()), 0)
	equal(t, "the sum then", must(db.Ledger.UserMonths(t.Context(), rewardMonth, "usr_a", "usr_a")), []ledger.UserMonth{s.UserMonth})
	equal(t, "listed", inBooks(t, db, func(ctx context.Context, b ledger.Books) ([]ledger.HeldDay, error) {
		return b.Ended(ctx, "usr_a", rewardMonth)
	}), []ledger.HeldDay{held})
}
