package rewards_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// Days are closed by place, and each hotspot gets what it should, even if a process dies
// meanwhile or days are opened again.
func TestPlaces(t *testing.T) {
	level.Repeats(t)
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		for seed := range uint64(3) {
			began := at("2026-10-25T00:00:00Z")
			random := rand.New(rand.NewPCG(seed, 20))
			minutesFrom := beacon.DayOf(began) + []beacon.Day{9, 6, 12}[seed]
			s := newStreet(t, newWorld(t, open(t, began), began, 3), beacon.DayOf(began)+5, minutesFrom)
			for n := range 7 {
				s.visit(t, s.register(t, s.users[n%3]), random.IntN(2), true)
			}
			wanderer := s.live()[0]
			home, _, _ := s.where(wanderer, s.today())
			for day := range 16 {
				if day == 3 || day == 8 { // away, and back
					s.visit(t, wanderer, []int{home, 2}[day%2], true)
				}
				s.someDay(t, random, day)
				s.checkOpen(t, s.today()-1, 1, 200, 777, 1400, 1440)
				if day > 0 && random.IntN(3) == 0 {
					r := s.world.rewards(&mortal{tables: s.db.Rewards(), left: random.IntN(6), after: random.IntN(2) == 0})
					r.inPagesOf(2)
					_ = r.Start(t.Context())
					_ = r.Step(t.Context())
				}
				s.step(t)
				if day == 9 || day == 13 {
					s.world.reopen(t, s.today()-beacon.Day(3))
					s.holds = true
					s.step(t) // counts
					// What is counted is what the first open day counts.
					for open := s.today() - 3; open < s.today() && s.inMinutes(open) == s.inMinutes(s.today()-3); open++ {
						s.checkOpen(t, open, 1440)
					}
					s.holds = false
					s.step(t)
				}
			}
			if rows := s.check(t); rows < 60 {
				t.Errorf("only %d rows", rows)
			}
			s.checkReplay(t, random, beacon.DayOf(began))
			s.checkStatements(t, began)
		}
	})
}

// checkOpen compares what is said of a day that is over and not closed with the row that
// closing should write. The minutes of the day come in steps: what is earned never falls.
func (s *street) checkOpen(t *testing.T, day beacon.Day, steps ...int) {
	t.Helper()
	if day < s.places.From {
		return
	}
	earned := map[beacon.HotspotID]beacon.Earned{}
	rows := s.want(day)
	for _, minute := range steps {
		s.decided = map[beacon.Day]int{day: minute}
		r := s.world.rewards(s.db.Rewards())
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		totals := map[beacon.UserID]beacon.Amount{}
		for id, want := range rows {
			e, err := r.Explain(t.Context(), anyone, earnings.ExplainQuery{Hotspot: id, Day: &day})
			if err != nil {
				t.Fatal(err)
			}
			was := earned[id]
			if !e.Open || e.Earned.Availability < was.Availability || e.Earned.Performance < was.Performance || e.Earned.Utilization < was.Utilization {
				t.Fatalf("%s had earned %+v on %s, and %d minutes after it began %+v", id, was, day, minute, e)
			}
			if minute == 1440 && (e.Facts != want.Facts || e.Earned != want.Earned) {
				t.Fatalf("%s on %s is said to be\n%+v, %+v; want\n%+v, %+v", id, day, e.Facts, e.Earned, want.Facts, want.Earned)
			}
			earned[id] = e.Earned
			totals[s.ownerOn(id, day)] += e.Earned.Total()
		}
		for user, total := range totals {
			if day == s.today()-1 && !s.holds {
				s.checkTotal(t, r, user, day, total)
			}
		}
	}
	s.decided = nil
}

// checkTotal checks that a summary and a history have what an open day has earned, with
// the closed ones.
func (s *street) checkTotal(t *testing.T, r process, user beacon.UserID, day beacon.Day, total beacon.Amount) {
	t.Helper()
	err := s.db.Ledger.Books(t.Context(), func(b ledger.Books) error {
		months, err := b.UserMonths(t.Context(), user, day.Month(), day.Month())
		for i := range months {
			total += months[i].Total()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := r.History(t.Context(), anyone, earnings.HistoryQuery{User: user, Page: beacon.Page{Number: 1, Size: 20}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range h.Items {
		if m.Month == day.Month() && m.Total() != total {
			t.Fatalf("the history of %s has %s for %s; want %s", user, m.Total(), m.Month, total)
		}
	}
	period := earnings.Current
	if day.Month() != s.today().Month() {
		period = earnings.Last
	}
	sum, err := r.Summary(t.Context(), anyone, earnings.SummaryQuery{User: user, Period: period})
	if err != nil || sum.Total.Total() != total {
		t.Fatalf("the summary of %s has %s; want %s, %v", user, sum.Total.Total(), total, err)
	}
}

// TestPlaces_Kept: what was computed of an open day is kept until the minute is over.
func TestPlaces_Kept(t *testing.T) {
	began := at("2026-10-25T12:00:00Z")
	s := newStreet(t, newWorld(t, openSQLite(t, began), began, 2), beacon.DayOf(began))
	hotspots := []beacon.HotspotID{s.register(t, s.users[0]), s.register(t, s.users[1])}
	for _, hotspot := range hotspots {
		s.visit(t, hotspot, 0, true)
		s.acts(hotspot, 0, beacon.Facts{Served: 600, Expected: 720})
	}
	r := s.world.rewards(s.db.Rewards())
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	total := func(user beacon.UserID) beacon.Amount {
		t.Helper()
		sum, err := r.Summary(t.Context(), anyone, earnings.SummaryQuery{User: user, Period: earnings.Current})
		if err != nil {
			t.Fatal(err)
		}
		return sum.Total.Total()
	}
	// Of two with the same standing, the lower id comes first.
	older, younger := 0, 1
	if hotspots[1] < hotspots[0] {
		older, younger = 1, 0
	}
	before, none := total(s.users[older]), total(s.users[younger])
	asked := s.asked
	s.now = s.now.Add(59 * time.Second)
	s.acts(hotspots[older], 0, beacon.Facts{Served: 700, Expected: 721})
	if again := total(s.users[older]); again != before || s.asked != asked || before == 0 || none > 1 {
		t.Errorf("%s, and %s later in the minute; asked %d times after %d; the younger has %s", before, again, s.asked, asked, none)
	}
	s.now = s.now.Add(time.Second)
	if later := total(s.users[older]); later <= before {
		t.Errorf("%s, and %s a minute later", before, later)
	}
	s.now = s.now.Add(-time.Hour) // the clock is set back
	total(s.users[older])
	asked = s.asked
	if total(s.users[older]); s.asked != asked {
		t.Error("nothing is kept after the clock was set back")
	}
}

// someDay lets hotspots do something for a day, move, and come.
func (s *street) someDay(t *testing.T, random *rand.Rand, day int) {
	t.Helper()
	live := s.live()
	if random.IntN(3) == 0 {
		s.visit(t, live[random.IntN(len(live))], random.IntN(len(spots)), random.IntN(3) > 0)
	}
	if day > 5 && random.IntN(3) == 0 && len(live) < 12 {
		s.visit(t, s.register(t, s.users[random.IntN(3)]), random.IntN(2), random.IntN(2) == 0)
	}
	for _, id := range s.live() {
		if random.IntN(6) == 0 {
			continue // dark
		}
		f := beacon.Facts{Expected: 1440, Bytes: random.Uint64N(30e9), Tier: beacon.Tier(random.IntN(3))}
		if day%5 == 4 {
			f.Excused = 1 + random.IntN(600)
		}
		if random.IntN(4) == 0 {
			f.Closed = random.IntN(600)
		}
		f.Expected -= f.Excused + f.Closed
		f.Served = [...]int{f.Expected, random.IntN(f.Expected + 1), random.IntN(100)}[random.IntN(3)]
		f.Served = min(f.Served, f.Expected)
		s.acts(id, random.IntN(1440-f.Served+1), f)
	}
	for range random.IntN(3) {
		s.handOver(t, live[random.IntN(len(live))], s.users[random.IntN(3)])
	}
	s.midnight(t)
}

// checkStatements settles the months and verifies their statements without a database.
func (s *street) checkStatements(t *testing.T, began time.Time) {
	t.Helper()
	s.now = at("2026-12-05T00:00:00Z")
	s.step(t)
	book := append(policy.Devices(), s.places, s.minutes)
	for _, user := range s.users {
		for month := beacon.MonthOf(began); month <= beacon.MonthOf(began)+1; month++ {
			r := s.world.rewards(s.db.Rewards())
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			st, err := r.Statement(t.Context(), anyone, earnings.StatementQuery{User: user, Month: month})
			if err != nil {
				t.Fatal(err)
			}
			var document bytes.Buffer
			err = statement.WriteJSON(&document, &st.Statement, st.Policies, func(fn func(ledger.Row, ledger.Hash) error) error { return st.Each(t.Context(), fn) })
			if err != nil {
				t.Fatal(err)
			}
			if _, err := statement.Verify(&document, book); err != nil {
				t.Errorf("%s for %s: %v", user, month, err)
			}
		}
	}
}
