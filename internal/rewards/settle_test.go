package rewards_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func ignore(int, int) {}

var staff = beacon.Actor{Request: "cli"}

// aMonth is a world with a month that can be settled: October 2026.
func aMonth(t *testing.T, db *store.DB, users, hotspots int) *world {
	t.Helper()
	w := newWorld(t, db, at("2026-10-30T00:00:00Z"), users)
	for i := range hotspots {
		w.register(t, w.users[i%users])
	}
	for range 2 {
		for _, hotspot := range w.live() {
			w.did(hotspot, whole)
		}
		w.midnight(t)
	}
	r := w.rewards(w.db.Rewards())
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.step(t)
	w.now = at("2026-11-04T00:00:00Z")
	return w
}

var october, _ = beacon.ParseMonth("2026-10")

// TestSettleRefuses what is not ripe.
func TestSettleRefuses(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-10-30T00:00:00Z")), at("2026-10-30T00:00:00Z"), 1)
	refused := func(month string, force bool, why string) {
		t.Helper()
		m, err := beacon.ParseMonth(month)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = w.rewards(w.db.Rewards()).Settle(t.Context(), staff, m, force, ignore); err == nil || !strings.Contains(err.Error(), why) {
			t.Fatalf("%s at %s: %v; want it to say %q", month, w.now, err, why)
		}
	}
	refused("2026-10", true, "nothing to settle")
	w.register(t, w.users[0])
	w.pass(t, 1, whole)
	refused("2026-10", true, "not over")
	refused("2026-11", true, "2026-10 is not settled yet")
	refused("2026-09", true, "nothing to settle")
	for _, hotspot := range w.live() {
		w.did(hotspot, whole)
	}
	w.midnight(t)
	refused("2026-10", true, "2026-10-31 is still open")
	w.step(t)
	refused("2026-10", false, "2026-11-04T00:00:00.000Z")
	var progress []int
	report, err := w.rewards(w.db.Rewards()).Settle(t.Context(), staff, october, true, func(done, total int) { progress = append(progress, done, total) })
	if err != nil || report != (closing.SettleReport{Month: october, Statements: 1, Written: 1, Total: 2 * wholeEarns}) {
		t.Fatalf("by force: %+v, %v", report, err)
	}
	if !slices.Equal(progress, []int{1, 2, 2, 2}) { // a sum, and then a statement
		t.Errorf("its progress was %v", progress)
	}
	report, err = w.rewards(w.db.Rewards()).Settle(t.Context(), staff, october, false, ignore)
	if err != nil || report != (closing.SettleReport{Month: october, Statements: 1, Total: 2 * wholeEarns, Already: true}) {
		t.Fatalf("once more: %+v, %v", report, err)
	}
}

// TestSettleRace: many settle the same month at once, and the result is that of
// one.
func TestSettleRace(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		for round := range 5 {
			w := aMonth(t, open(t, at("2026-10-30T00:00:00Z")), 7, 20)
			const racers = 8
			reports := make([]closing.SettleReport, racers)
			start := make(chan struct{})
			var all sync.WaitGroup
			for i := range racers {
				all.Go(func() {
					<-start
					r := w.rewards(w.db.Rewards())
					r.inPagesOf(1 + (i+round)%4)
					var err error
					if reports[i], err = r.Settle(t.Context(), staff, october, false, ignore); err != nil {
						t.Error(err)
					}
				})
			}
			close(start)
			all.Wait()
			written := 0
			for _, report := range reports {
				written += report.Written
			}
			if written != 7 {
				t.Errorf("%d statements were written; want 7", written)
			}
			w.checkSettled(t)
		}
	})
}

// TestSettleDies at each of its writes, right before and right after it; someone
// else goes on.
func TestSettleDies(t *testing.T) {
	level.Repeats(t)
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		for n := range 14 {
			for _, after := range []bool{false, true} {
				w := aMonth(t, open(t, at("2026-10-30T00:00:00Z")), 5, 12)
				m := &mortal{tables: w.db.Rewards(), left: n, after: after}
				r := w.rewards(m)
				r.inPagesOf(2)
				_, err := r.Settle(t.Context(), staff, october, false, ignore)
				if (err != nil) != m.dead {
					t.Fatalf("write %d: dead %v, %v", n, m.dead, err)
				}
				o := oracleOf(w)
				for _, user := range w.users {
					o.check(t, w.rewards(w.db.Rewards()), user)
				}
				w.step(t)
				w.checkSettled(t)
				for _, user := range w.users {
					o.check(t, w.rewards(w.db.Rewards()), user)
				}
			}
		}
	})
}

// checkSettled: everyone has one statement of October, an account and a change
// that say the same, and the chain of rows holds.
func (w *world) checkSettled(t *testing.T) {
	t.Helper()
	for _, user := range w.users {
		want := beacon.Amount(0)
		for _, owner := range w.owners {
			if owner == user {
				want += 2 * wholeEarns
			}
		}
		s, err := w.rewards(w.db.Rewards()).Statement(t.Context(), anyone, earnings.StatementQuery{User: user, Month: october})
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		if err := s.Each(t.Context(), func(ledger.Row, ledger.Hash) error { rows++; return nil }); err != nil {
			t.Error(err)
		}
		if s.Total() != want || rows != s.Rows || !s.Previous.IsZero() || s.Hash.IsZero() {
			t.Errorf("%s: %s in %d rows; want %s in %d", user, s.Total(), rows, want, s.Rows)
		}
		err = w.db.Ledger.Books(t.Context(), func(b ledger.Books) error {
			a, any, err := b.Account(t.Context(), user)
			if !any || a.Total() != want || a.Settled != october || a.Hash != s.Hash {
				t.Errorf("account %+v, %v; want %s", a, any, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := w.changes(t, beacon.RewardsSettled); len(got) != len(w.users) {
		t.Errorf("%d changes say that something was settled: %v; want %d", len(got), got, len(w.users))
	}
}

// changes are the targets and notes of all changes of a kind.
func (w *world) changes(t *testing.T, kind beacon.ChangeKind) (all []string) {
	t.Helper()
	heads, err := w.db.Changes.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for node := range heads {
		changes, err := w.db.Changes.Changes(t.Context(), node, 0, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if c.Kind == kind {
				all = append(all, fmt.Sprintf("%s %s", c.Target, c.Actor.Note))
			}
		}
	}
	return all
}

// TestStatementsFollow each other: each names the one before it.
func TestStatementsFollow(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-01-15T00:00:00Z")), at("2026-01-15T00:00:00Z"), 2)
	w.register(t, w.users[0])
	w.pass(t, 110, whole)
	var before ledger.Hash
	for month := beacon.MonthOf(w.began); month < beacon.MonthOf(w.now); month++ {
		s, err := w.rewards(w.db.Rewards()).Statement(t.Context(), anyone, earnings.StatementQuery{User: w.users[0], Month: month})
		if err != nil {
			t.Fatal(err)
		}
		if s.Previous != before || s.Hash == before {
			t.Errorf("%s follows %s; want %s", month, s.Previous, before)
		}
		before = s.Hash
	}
	for month, why := range map[string]string{"2026-05": "not settled yet", "2025-12": "nothing was earned"} {
		m, _ := beacon.ParseMonth(month)
		_, err := w.rewards(w.db.Rewards()).Statement(t.Context(), anyone, earnings.StatementQuery{User: w.users[0], Month: m})
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v; want it to say %q", month, err, why)
		}
	}
}

// A month is not settled by a clock that is ahead of what is certain: its days were
// closed, but its grace period is not over; by force, it must at least be over.
func TestSettle_ClockAhead(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		w := aMonth(t, open(t, at("2026-10-30T00:00:00Z")), 1, 1)
		settle := func(certain string, force bool) error {
			t.Helper()
			if err := w.db.Clocks.MarkClock(t.Context(), w.now, at(certain), 0); err != nil {
				t.Fatal(err)
			}
			_, err := w.rewards(w.db.Rewards()).Settle(t.Context(), staff, october, force, ignore)
			return err
		}
		for _, force := range []bool{false, true} {
			if err := settle("2026-10-31T23:59:00Z", force); err == nil || !strings.Contains(err.Error(), "by what is on disk it is only 2026-10-31T23:59:00.000Z") {
				t.Errorf("by force %v: %v", force, err)
			}
		}
		if err := settle("2026-11-03T23:59:00Z", false); err == nil || !strings.Contains(err.Error(), "from 2026-11-04T00:00:00.000Z on") {
			t.Errorf("before 72 hours have passed: %v", err)
		}
		if err := settle("2026-11-04T00:00:00Z", false); err != nil {
			t.Errorf("after them: %v", err)
		}
	})
}
