package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

// ownedRecords: ordered by user and then hotspot, deleted ones included, for any page
// size; only those with a record of the day.
func ownedRecords(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "keeper")
	users := manyUsers(9)
	var want []beacon.OwnedRecord
	var rows []beacon.RecordRow
	for n := range 120 {
		h := Hotspot(n)
		h.Operator = users[n*7%len(users)]
		insert(t, db, h)
		if n%5 == 0 {
			remove(t, db, h.ID)
		}
		rows = append(rows, record(n, 99, "before"))
		if n%4 != 1 {
			r := record(n, 100, "of "+string(h.ID))
			rows = append(rows, r)
			want = append(want, beacon.OwnedRecord{Owned: beacon.Owned{User: h.Operator, Hotspot: h.ID}, Data: r.Data})
		}
	}
	put(t, db, l, rows...)
	slices.SortFunc(want, func(a, b beacon.OwnedRecord) int {
		return strings.Compare(string(a.User)+" "+string(a.Hotspot), string(b.User)+" "+string(b.Hotspot))
	})
	for _, limit := range []int{1, 7, 119, 120, 121, 1000} {
		var got []beacon.OwnedRecord
		var after beacon.Owned
		pages := 0
		for more := true; more; pages++ {
			var some []beacon.OwnedRecord
			var err error
			some, after, more, err = db.Records.OwnedRecords(t.Context(), 100, after, limit)
			if err != nil || pages > 120 {
				t.Fatalf("page %d of %d: %v", pages, limit, err)
			}
			got = append(got, some...)
		}
		equal(t, "the records", got, want)
		equal(t, "pages, none of them empty", pages, (120+limit-1)/limit)
	}
	rest, next, more, err := db.Records.OwnedRecords(t.Context(), 100, owned("usr_z", 1), 10)
	if len(rest) != 0 || next != owned("usr_z", 1) || more || err != nil {
		t.Errorf("after the last: %v, %v, %v, %v", rest, next, more, err)
	}
	rest, next, more, err = db.Records.OwnedRecords(t.Context(), 101, beacon.Owned{}, 10)
	if len(rest) != 0 || next != (beacon.Owned{}) || more || err != nil {
		t.Errorf("of a day without any: %v, %v, %v, %v", rest, next, more, err)
	}
}

// recordPage: the records of one day by hotspot, for any page size.
func recordPage(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "keeper")
	var rows, want []beacon.RecordRow
	for n := range 50 {
		rows = append(rows, record(n, 99, "before"), record(n, 101, "after"))
		if n%3 != 1 {
			want = append(want, record(n, 100, fmt.Sprint(n)))
		}
	}
	put(t, db, l, append(rows, want...)...)
	for i := range want {
		want[i].Day = 0
	}
	slices.SortFunc(want, func(a, b beacon.RecordRow) int { return strings.Compare(string(a.Hotspot), string(b.Hotspot)) })
	for _, limit := range []int{1, 7, len(want), 1000} {
		var got []beacon.RecordRow
		for after := beacon.HotspotID(""); ; after = got[len(got)-1].Hotspot {
			some := must(db.Records.RecordPage(t.Context(), 100, after, limit))
			if len(some) == 0 {
				break
			}
			got = append(got, some...)
		}
		equal(t, "the records", got, want)
	}
}

// standings: they are written once for each place, and read for any hotspots.
func standings(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "keeper")
	var all []ledger.Standing
	for n := range 300 {
		for place := range 1 + n%3 {
			all = append(all, ledger.Standing{Hotspot: Hotspot(n).ID, Since: beacon.Day(place), Through: 100, Before: n, Is: n + 1})
		}
	}
	if err := db.Ledger.PutStandings(t.Context(), l, reversed(all)); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].Through, all[i].Before, all[i].Is = 101, all[i].Is, all[i].Is+1
	}
	if err := db.Ledger.PutStandings(t.Context(), l, all); err != nil {
		t.Fatal(err)
	}
	for _, step := range []int{1, 2, 3, 7, 50, 299} {
		var ids []beacon.HotspotID
		want := map[ledger.Standing]bool{}
		for n := 0; n < 300; n += step {
			ids = append(ids, Hotspot(n).ID)
		}
		for _, s := range all {
			if slices.Contains(ids, s.Hotspot) {
				want[s] = true
			}
		}
		got := map[ledger.Standing]bool{}
		for _, s := range must(db.Ledger.Standings(t.Context(), append(ids, "hs_unknown"))) {
			got[s] = true
		}
		equal(t, fmt.Sprintf("the standings of every %dth", step), got, want)
	}
	stale := l
	stale.Token--
	wantKind(t, "without the lease", db.Ledger.PutStandings(t.Context(), stale, all[:1]), beacon.Conflict)
}

// sumRanges: ranges begin and end at their bounds, even within a user, and contain
// nothing of the next month.
func sumRanges(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "keeper")
	users := manyUsers(8)
	var all []beacon.Owned
	for _, user := range users {
		for n := range 3 {
			all = append(all, owned(string(user), n))
		}
	}
	day := rewardMonth.Last()
	want := last(page(day, beacon.Owned{}, all...))
	shuffled := want
	shuffled.Rows, shuffled.Hotspots, shuffled.Users = reversed(want.Rows), reversed(want.Hotspots), reversed(want.Users)
	putPage(t, db, l, shuffled, last(page(day+1, beacon.Owned{}, slices.Concat(all, strangers(t, db))...)))

	for from := range all {
		for to := range all {
			got := must(db.Ledger.HotspotMonths(t.Context(), rewardMonth, all[from], all[to]))
			equal(t, "hotspots from one to another", whole(got), whole(want.Hotspots[from:max(to+1, from)]))
		}
		got := must(db.Ledger.HotspotPage(t.Context(), rewardMonth, all[from], 5))
		equal(t, "hotspots after one", whole(got), whole(want.Hotspots[from+1:min(from+6, len(all))]))
	}
	for from := range users {
		for to := range users {
			got := must(db.Ledger.UserMonths(t.Context(), rewardMonth, users[from], users[to]))
			equal(t, "users from one to another", whole(got), whole(want.Users[from:max(to+1, from)]))
			accounts := slices.DeleteFunc(must(db.Ledger.Accounts(t.Context(), users[from], users[to])),
				func(a ledger.Account) bool { return a.FirstDay != day })
			equal(t, "accounts from one to another", len(accounts), max(to+1-from, 0))
			for i, a := range accounts {
				equal(t, "an account", a, ledger.Account{User: users[from+i], FirstDay: day, Settled: ledger.NoMonth})
			}
		}
		got := must(db.Ledger.UserPage(t.Context(), rewardMonth, users[from], 3))
		equal(t, "users after one", whole(got), whole(want.Users[from+1:min(from+4, len(users))]))
	}
	equal(t, "from the first on", must(db.Ledger.HotspotPage(t.Context(), rewardMonth, beacon.Owned{}, 100)), want.Hotspots)
	equal(t, "from the first on", must(db.Ledger.UserPage(t.Context(), rewardMonth, "", 100)), want.Users)
	equal(t, "no month", len(must(db.Ledger.UserPage(t.Context(), rewardMonth+2, "", 100))), 0)
	sumsOfAUser(t, db, users[2], want)
}

// strangers returns hotspots and users that sort in between and have nothing in the
// month. Those that do are not even registered: pages do not depend on that.
func strangers(t *testing.T, db *store.DB) (all []beacon.Owned) {
	t.Helper()
	for n := range 20 {
		h := Hotspot(100 + n)
		h.Operator = beacon.UserID(fmt.Sprintf("usr_%04dab%02d", n/10, n))
		insert(t, db, h)
		all = append(all, beacon.Owned{User: h.Operator, Hotspot: h.ID})
	}
	return all
}

// sumsOfAUser reads what one user has, and nothing of the neighbors.
func sumsOfAUser(t *testing.T, db *store.DB, user beacon.UserID, want ledger.Page) {
	t.Helper()
	err := db.Ledger.Books(t.Context(), func(b ledger.Books) error {
		own := must(b.HotspotMonths(t.Context(), user, rewardMonth))
		equal(t, "the hotspots of a user", own, slices.DeleteFunc(slices.Clone(want.Hotspots),
			func(m ledger.HotspotMonth) bool { return m.User != user }))
		// Months long before and after, in more than one query.
		months := must(b.UserMonths(t.Context(), user, rewardMonth-40, rewardMonth+40))
		if len(months) != 2 || months[0].Month != rewardMonth || months[1].Month != rewardMonth+1 || months[1].User != user {
			t.Errorf("the months of a user: %v", months)
		}
		for _, part := range []struct{ from, to, n int }{{0, 0, 1}, {0, 1, 2}, {1, 1, 1}, {2, 9, 0}, {-9, -1, 0}, {1, 0, 0}} {
			some := must(b.UserMonths(t.Context(), user, rewardMonth+beacon.Month(part.from), rewardMonth+beacon.Month(part.to)))
			if len(some) != part.n {
				t.Errorf("months from %d to %d: %v; want %d", part.from, part.to, some, part.n)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func reversed[T any](all []T) []T {
	all = slices.Clone(all)
	slices.Reverse(all)
	return all
}

// whole turns nil into an empty slice.
func whole[T any](all []T) []T { return append([]T{}, all...) }
