package rewards_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func (w *world) reopen(t *testing.T, from beacon.Day) closing.ReopenReport {
	t.Helper()
	before := w.closedThrough(t)
	plan, err := w.rewards(w.db.Rewards()).Reopen(t.Context(), staff, from, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if through := w.closedThrough(t); through != before {
		t.Errorf("looking at it changed what is closed, from %s to %s", before, through)
	}
	done, err := w.rewards(w.db.Rewards()).Reopen(t.Context(), staff, from, &before, true)
	if err != nil {
		t.Fatal(err)
	}
	if done.Rows != plan.Rows || done.Earned != plan.Earned || len(done.Users) != len(plan.Users) {
		t.Errorf("it said %+v, and did %+v", plan, done)
	}
	return done
}

// aheadFor lets the clock be days ahead while days are closed. Hotspots did something on
// the days after today, by that clock.
func (w *world) aheadFor(t *testing.T, days int, did ...beacon.Facts) {
	t.Helper()
	right, facts := w.now, w.facts
	w.facts = map[beacon.Day]map[beacon.HotspotID]beacon.Facts{beacon.DayOf(right): facts[beacon.DayOf(right)]}
	for range days {
		w.midnight(t)
		for _, f := range did {
			for _, hotspot := range w.live() {
				w.did(hotspot, f)
			}
		}
	}
	w.step(t)
	w.now, w.facts = right, facts
}

// A clock that is days ahead closes days that have not come. Once it is set right, those
// days are opened again, and everyone earns what is due, to the millionth.
func TestReopen(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		start := at("2026-11-10T00:00:00Z")
		w := newWorld(t, open(t, start), start, 2)
		for i := range 5 {
			w.register(t, w.users[i%2])
		}
		o := oracleOf(w)
		w.pass(t, 3, whole)
		for _, hotspot := range w.live()[:3] {
			w.did(hotspot, beacon.Facts{Served: 100, Expected: 200})
		}
		w.aheadFor(t, 3, beacon.Facts{Served: 1, Expected: 4})
		if through := w.closedThrough(t).String(); through != "2026-11-15" {
			t.Fatalf("closed through %s", through)
		}
		rows := w.allRows(t)
		report := w.reopen(t, w.today())
		if report.Rows != 3+2*5 || report.Total() != 3*500_000+2*5*250_000 || report.From.String() != "2026-11-13" || report.Through.String() != "2026-11-15" {
			t.Errorf("it did %+v", report)
		}
		if got := w.changes(t, beacon.RewardsReopened); len(got) != 1 || !strings.Contains(got[0], "2026-11-13") {
			t.Errorf("the audit has %q", got)
		}
		if now := w.allRows(t); now != rows {
			t.Errorf("rows were changed:\n%s\n%s", rows, now)
		}
		check := func() {
			t.Helper()
			for _, user := range w.users {
				o.check(t, w.rewards(w.db.Rewards()), user)
			}
		}
		check()
		for w.today() < beacon.DayOf(at("2026-12-04T00:00:00Z")) {
			w.pass(t, 1, whole)
			check()
		}
		w.step(t)
		w.checkStatements(t, "2026-11")
	})
}

// Days are opened again at random, rightly or not, and while a server closes and
// settles. Every answer is right at any time.
func TestReopen_AtRandom(t *testing.T) {
	level.Repeats(t)
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		for seed := range uint64(4) {
			random := rand.New(rand.NewPCG(seed, 17))
			start := at("2026-10-25T00:00:00Z")
			w := newWorld(t, open(t, start), start, 3)
			o := oracleOf(w)
			reopened := 0
			for range 24 {
				aDay(t, random, w)
				if random.IntN(4) == 0 {
					w.aheadFor(t, 1+random.IntN(5))
					if w.closedThrough(t) >= w.today() { // someone did something today
						w.reopen(t, w.today())
						reopened++
					}
				}
				w.midnight(t)
				w.step(t)
				if through := w.closedThrough(t); random.IntN(5) == 0 && through.Month() == w.today().Month() {
					w.reopen(t, max(through-beacon.Day(random.IntN(9)), w.today().Month().First(), beacon.DayOf(start)))
					reopened++
				}
				for _, user := range w.users {
					o.check(t, w.rewards(w.db.Rewards()), user)
				}
			}
			w.now = at("2026-12-04T00:00:00Z")
			w.step(t)
			w.checkStatements(t, "2026-11")
			if reopened < 3 {
				t.Errorf("seed %d: days were opened again only %d times", seed, reopened)
			}
		}
	})
}

// What is settled, or not closed, is not opened.
func TestReopen_Refuses(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		w := aMonth(t, open(t, at("2026-10-30T00:00:00Z")), 2, 3)
		refused := func(day, through, why string) {
			t.Helper()
			from, _ := beacon.ParseDay(day)
			to, _ := beacon.ParseDay(through)
			if _, err := w.rewards(w.db.Rewards()).Reopen(t.Context(), staff, from, &to, true); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v; want it to say %q", day, err, why)
			}
		}
		refused("2026-11-20", "2026-11-20", "is not closed")
		refused("2026-10-30", "2026-10-30", "in order")
		if _, err := w.rewards(w.db.Rewards()).Settle(t.Context(), staff, october, false, ignore); err != nil {
			t.Fatal(err)
		}
		refused("2026-10-31", "2026-10-31", "2026-10 is settled")
		w.step(t)
		refused("2026-10-31", "2026-11-03", "2026-11-01 is the first day that can be opened")
	})
}

// A settlement that has begun and a reopening exclude each other.
func TestReopen_WhileSettling(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		w := aMonth(t, open(t, at("2026-10-30T00:00:00Z")), 2, 3)
		day, _ := beacon.ParseDay("2026-10-31")
		s := &settling{tables: w.db.Rewards()}
		s.before = func() {
			s.before = nil
			if _, err := w.rewards(w.db.Rewards()).Reopen(t.Context(), staff, day, nil, true); err != nil {
				t.Error(err)
			}
		}
		if _, err := w.rewards(s).Settle(t.Context(), staff, october, false, ignore); err == nil {
			t.Error("a month was settled by sums that are void")
		}
		asked := 0
		s.after = func() {
			asked++
			if _, err := w.rewards(w.db.Rewards()).Reopen(t.Context(), staff, day, nil, true); err == nil || !strings.Contains(err.Error(), "settled") {
				t.Errorf("a day was opened while its month was being settled: %v", err)
			}
		}
		if err := w.rewards(s).Step(t.Context()); err != nil || asked == 0 { // it is closed again, and settled
			t.Fatalf("after %d attempts to open a day: %v", asked, err)
		}
		w.checkStatements(t, "2026-10")
	})
}

// A reopening that was refused because days were closed meanwhile changes nothing: days are
// closed as before, and can be opened.
func TestReopen_WhileClosing(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		began := at("2026-11-10T00:00:00Z")
		w := newWorld(t, open(t, began), began, 1)
		w.register(t, w.users[0])
		w.pass(t, 2, whole)
		from := beacon.DayOf(began)
		_, err := w.rewards(&reopening{w.db.Rewards(), func() { w.pass(t, 1, whole) }}).Reopen(t.Context(), staff, from, nil, true)
		if err == nil || !strings.Contains(err.Error(), "try again") {
			t.Fatalf("days were closed meanwhile, and it says %v", err)
		}
		w.pass(t, 1, whole)
		if through := w.closedThrough(t); through != from+3 {
			t.Errorf("%s is closed; want %s", through, from+3)
		}
		w.reopen(t, from)
	})
}

// reopening is a store in which something happens before days are opened again.
type reopening struct {
	store.RewardTables
	before func()
}

func (s *reopening) Reopen(ctx context.Context, r ledger.Reopening, by beacon.Actor) error {
	s.before()
	return s.RewardTables.Reopen(ctx, r, by)
}

// checkStatements verifies every user's statement as its owner would: by the document,
// and by the lines of its CSV and nothing else.
func (w *world) checkStatements(t *testing.T, month string) {
	t.Helper()
	m, _ := beacon.ParseMonth(month)
	checked := 0
	for _, user := range w.users {
		s, err := w.rewards(w.db.Rewards()).Statement(t.Context(), anyone, earnings.StatementQuery{User: user, Month: m})
		if err != nil {
			continue // nothing was earned
		}
		rows := func(fn func(ledger.Row, ledger.Hash) error) error { return s.Each(t.Context(), fn) }
		var document, csv bytes.Buffer
		if err := statement.WriteJSON(&document, &s.Statement, s.Policies, rows); err != nil {
			t.Fatal(err)
		}
		if _, err := statement.Verify(&document, w.policies); err != nil {
			t.Errorf("the statement of %s for %s: %v", user, month, err)
		}
		if err := statement.WriteCSV(&csv, &s.Statement, s.Policies, rows); err != nil {
			t.Fatal(err)
		}
		chain, total := chainOf(t, string(user), month, csv.String())
		if chain != s.Chain.String() || total != int64(s.Total()) {
			t.Errorf("the lines of %s add up to %d and end in %s; the statement says %d and %s", user, total, chain, s.Total(), s.Chain)
		}
		checked++
	}
	if checked == 0 {
		t.Error("there are no statements")
	}
}

// chainOf recomputes the hashes of a CSV file, and adds up its amounts.
func chainOf(t *testing.T, user, month, csv string) (chain string, total int64) {
	t.Helper()
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	chain = hash("beacon rewards\n" + user + "\n" + month + "\n")
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	for _, line := range lines[1:] {
		cut := strings.LastIndex(line, ",")
		if chain = hash(chain + "\n" + line[:cut] + "\n"); chain != line[cut+1:] {
			t.Fatalf("this line does not hold: %s", line)
		}
		fields := strings.Split(line, ",")
		want := strings.Count(strings.Replace(lines[0], ",hold_id", "", 1), ",") + 1
		switch {
		case fields[9] == "released", fields[9] == "voided":
			want += 2
		case strings.Contains(line, ",hld_"):
			want++
		}
		if len(fields) != want {
			t.Fatalf("this line has %d fields: %s", len(fields), line)
		}
		var parts [3]int64
		if _, err := fmt.Sscan(strings.Join(fields[10:13], " "), &parts[0], &parts[1], &parts[2]); err != nil {
			t.Fatal(err)
		}
		total += parts[0] + parts[1] + parts[2]
	}
	return chain, total
}

// allRows are the rows that the days had when they were first closed.
func (w *world) allRows(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := w.db.Ledger.Books(t.Context(), func(b ledger.Books) error {
		all.Reset()
		for _, user := range w.users {
			for day := beacon.DayOf(w.began); day < w.today()+30; day++ {
				if err := b.Rows(t.Context(), user, day, func(r ledger.Row) error {
					_, err := fmt.Fprintf(&all, "%+v\n", r)
					return err
				}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
