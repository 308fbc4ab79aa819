package storetest

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

func totals(t testing.TB, db *store.DB, user beacon.UserID) []ledger.HotspotTotal {
	t.Helper()
	return inBooks(t, db, func(ctx context.Context, b ledger.Books) ([]ledger.HotspotTotal, error) { return b.Totals(ctx, user) })
}

// addTotals: a month counts once, no matter how often and by how many it is added.
func addTotals(t *testing.T, database Database) {
	db := database.open(t)
	add := func(sums ...ledger.HotspotMonth) {
		t.Helper()
		if err := db.Ledger.AddTotals(t.Context(), 0, sums); err != nil {
			t.Fatal(err)
		}
	}
	one, two := owned("usr_a", 1), owned("usr_a", 2)
	add()
	add(hotspotMonth(rewardMonth, two, 20), hotspotMonth(rewardMonth, one, 10), hotspotMonth(rewardMonth, one, 10))
	add(hotspotMonth(rewardMonth, one, 10))
	add(hotspotMonth(rewardMonth-1, one, 1000)) // too late
	next := hotspotMonth(rewardMonth+1, one, 3)
	next.Tier = beacon.Premium
	add(hotspotMonth(rewardMonth+3, two, 5), next, hotspotMonth(rewardMonth+1, two, 1)) // two months of one hotspot
	add(hotspotMonth(rewardMonth, owned("usr_aa", 1), 1))
	equal(t, "the totals", totals(t, db, "usr_a"), []ledger.HotspotTotal{
		{Owned: one, Through: rewardMonth + 1, Tier: beacon.Premium, Sum: sum(13)},
		{Owned: two, Through: rewardMonth + 3, Tier: beacon.Enhanced, Sum: sum(26)},
	})
	equal(t, "nobody's totals", len(totals(t, db, "usr_")), 0)
	wantHead(t, db, 0)
}

func addTotalsRace(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	const racers, months, hotspots = 8, 3, 300
	for month := rewardMonth; month < rewardMonth+months; month++ {
		var all sync.WaitGroup
		for racer := range racers {
			all.Go(func() {
				var sums []ledger.HotspotMonth
				for n := racer; n < hotspots; n++ { // all hotspots from its own number on
					sums = append(sums, hotspotMonth(month, owned("usr_a", n), n))
				}
				if err := insist(func() error { return nodes[racer%2].Ledger.AddTotals(t.Context(), 0, reversed(sums)) }); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	got := totals(t, nodes[0], "usr_a")
	equal(t, "how many", len(got), hotspots)
	for n, total := range got {
		if total.Owned != owned("usr_a", n) || total.Sum != sum(months*n) || total.Through != rewardMonth+months-1 {
			t.Errorf("total %d is %+v", n, total)
		}
	}
}

// finishMonth: recorded once, with one change.
func finishMonth(t *testing.T, database Database) {
	db, other := database.open(t), database.open(t)
	finished := func() found[beacon.Month] {
		return inBooks(t, db, func(ctx context.Context, b ledger.Books) (f found[beacon.Month], err error) {
			f.Value, f.Any, err = b.Finished(ctx)
			return f, err
		})
	}
	equal(t, "before all", finished(), found[beacon.Month]{})
	for _, node := range []*store.DB{db, other, db} {
		if err := node.Ledger.FinishMonth(t.Context(), rewardMonth, 0, Actor, Now); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "the newest", finished(), found[beacon.Month]{rewardMonth, true})
	if err := db.Ledger.FinishMonth(t.Context(), rewardMonth+1, 0, Actor, Now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	equal(t, "the newest", finished(), found[beacon.Month]{rewardMonth + 1, true})
	equal(t, "the changes", must(db.Changes.Changes(t.Context(), db.Node(), 0, 10)), []beacon.Change{
		{Node: db.Node(), Seq: 1, Kind: beacon.RewardsFinished, Target: rewardMonth.String(), Actor: Actor, At: Now},
		{Node: db.Node(), Seq: 2, Kind: beacon.RewardsFinished, Target: (rewardMonth + 1).String(), Actor: Actor, At: Now.Add(time.Hour)},
	})
	wantHead(t, other, 0)
}

// keepPolicies: a stored policy is never overwritten.
func keepPolicies(t *testing.T, database Database) {
	db, other := database.open(t), database.open(t)
	one := ledger.Policy{Version: 1, From: 0, Text: "{\"é\": 1}\n"}
	two := ledger.Policy{Version: 2, From: rewardDay, Text: ""}
	three := ledger.Policy{Version: 10, From: rewardDay + 1, Text: "three"}
	equal(t, "none", len(must(db.Ledger.KeepPolicies(t.Context(), nil))), 0)
	equal(t, "those of a new network", must(db.Ledger.FoundPolicies(t.Context(), []ledger.Policy{one})), []ledger.Policy{one})
	equal(t, "those of an old one", must(db.Ledger.FoundPolicies(t.Context(), []ledger.Policy{one, three})), []ledger.Policy{one})
	equal(t, "the first", must(db.Ledger.KeepPolicies(t.Context(), []ledger.Policy{two, one})), []ledger.Policy{one, two})
	changed := one
	changed.Text = "changed"
	equal(t, "all", must(other.Ledger.KeepPolicies(t.Context(), []ledger.Policy{changed, three})), []ledger.Policy{one, two, three})
	equal(t, "all, with nothing new", must(db.Ledger.KeepPolicies(t.Context(), []ledger.Policy{changed})), []ledger.Policy{one, two, three})
	_, err := db.Ledger.KeepPolicies(t.Context(), []ledger.Policy{{Version: 3, Text: "a\x00b"}})
	wantKind(t, "NUL", err, beacon.Internal)
	wantHead(t, db, 0)

	four := ledger.Policy{Version: 11, From: rewardDay + 2, Text: "four"}
	if err := db.Ledger.AdoptPolicy(t.Context(), four, Actor, Now); err != nil {
		t.Fatal(err)
	}
	wantHead(t, db, 1)
	wantKind(t, "a version that was adopted", other.Ledger.AdoptPolicy(t.Context(), four, Actor, Now), beacon.Conflict)
	wantHead(t, other, 0)

	// If many write the same version at once, all get what one of them wrote.
	const racers, from = 8, 20
	answers := make([][]ledger.Policy, racers)
	for version := from; version < from+10; version++ {
		var all sync.WaitGroup
		for racer := range racers {
			all.Go(func() {
				node := []*store.DB{db, other}[racer%2]
				err := insist(func() (err error) {
					answers[racer], err = node.Ledger.KeepPolicies(t.Context(), []ledger.Policy{{Version: version, Text: strconv.Itoa(racer)}})
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, answer := range answers[1:] {
			equal(t, "what another answers", answer, answers[0])
		}
	}
}
