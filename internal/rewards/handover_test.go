package rewards_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestHandOver_TakesAndAddsNothing compares a network in which hotspots are handed over with
// one in which the same hotspots do the same and are not: what all users together earned is
// the same, to the millionth, and so is each row, of which there is one for each day. Days are
// closed late, by processes that die, and are opened again.
func TestHandOver_TakesAndAddsNothing(t *testing.T) {
	level.Repeats(t)
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		for seed := range uint64(2) {
			began := at("2026-10-20T00:00:00Z")
			random := rand.New(rand.NewPCG(seed, 81))
			places, minutes := beacon.DayOf(began)+beacon.Day(random.IntN(4)), beacon.DayOf(began)+beacon.Day(4+random.IntN(4))
			s := newStreet(t, newWorld(t, open(t, began), began, 4), places, minutes)
			still := newStreet(t, newWorld(t, open(t, began), began, 0), places, minutes)
			still.users, still.facts, still.late = s.users, s.facts, s.late
			both := func(do func(*street)) { do(s); do(still) }
			for n := range 9 {
				id := s.register(t, s.users[n%3])
				still.copyOf(t, s.world, id)
				both(func(s *street) { s.visit(t, id, n%2, true) })
			}
			handedOver := 0
			for day := range 22 {
				s.outageDay(t, random, day)
				for range random.IntN(4) {
					if s.handOver(t, s.live()[random.IntN(9)], s.users[random.IntN(4)]) {
						handedOver++
					}
				}
				if day == 12 {
					id := s.live()[random.IntN(9)]
					both(func(s *street) { s.visit(t, id, 2, true) })
				}
				now := s.now
				both(func(s *street) { s.now = now; s.midnight(t) })
				s.sameInAll(t, still)
				switch random.IntN(3) {
				case 0: // an outage: nothing is closed
				case 1:
					r := s.world.rewards(&mortal{tables: s.db.Rewards(), left: random.IntN(8), after: random.IntN(2) == 0})
					r.inPagesOf(2)
					_ = r.Start(t.Context())
					_ = r.Step(t.Context())
				case 2:
					both(func(s *street) { s.step(t) })
				}
				if day == 9 || day == 17 {
					both(func(s *street) { s.step(t) })
					s.world.reopen(t, s.today()-beacon.Day(1+random.IntN(4)))
				}
				s.holds = true // only standing is counted: without it nothing is said of open days
				s.step(t)
				s.holds = false
			}
			both(func(s *street) { s.step(t) })
			s.sameInAll(t, still)
			s.sameRows(t, still)
			s.checkReplay(t, random, beacon.DayOf(began))
			s.checkStatements(t, began)
			if handedOver < 15 {
				t.Errorf("only %d were handed over", handedOver)
			}
		}
	})
}

// copyOf registers a hotspot of another world in this one.
func (w *world) copyOf(t *testing.T, from *world, id beacon.HotspotID) {
	t.Helper()
	h, err := from.db.Hotspots.Hotspot(t.Context(), id)
	if err == nil {
		err = w.db.Hotspots.InsertHotspot(t.Context(), h, beacon.Actor{}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.owners[id], w.names[id], w.whose[id] = h.Operator, h.Name, []tenure{{0, h.Operator}}
}

// outageDay lets all hotspots do something for a day, on many of which we were down.
func (s *street) outageDay(t *testing.T, random *rand.Rand, day int) {
	t.Helper()
	for _, id := range s.live() {
		if random.IntN(8) == 0 {
			continue
		}
		f := beacon.Facts{Expected: 1440, Bytes: random.Uint64N(30e9), Tier: beacon.Tier(random.IntN(3))}
		if day%4 > 1 {
			f.Excused = 1 + random.IntN(1200)
		}
		f.Expected -= f.Excused
		f.Served = [...]int{f.Expected, random.IntN(f.Expected + 1), 0}[random.IntN(3)]
		s.acts(id, random.IntN(1440-f.Served+1), f)
	}
}

// sameInAll checks that all users together have earned the same in both, by the summaries of
// this month and by the days of it, closed and open ones: whatever is closed in which.
func (s *street) sameInAll(t *testing.T, other *street) {
	t.Helper()
	var totals [2]beacon.Amount
	for i, of := range []*street{s, other} {
		r := of.world.rewards(of.db.Rewards())
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, user := range of.users {
			sum, err := r.Summary(t.Context(), anyone, earnings.SummaryQuery{User: user, Period: earnings.Current})
			if err != nil {
				t.Fatal(err)
			}
			days, err := r.Days(t.Context(), anyone, earnings.DaysQuery{User: user})
			if err != nil {
				t.Fatal(err)
			}
			var all beacon.Amount
			for _, d := range days.Days {
				all += d.Total()
			}
			if all != sum.Total.Total() {
				t.Fatalf("%s: the days of %s have %s, the summary %s", s.now, user, all, sum.Total.Total())
			}
			totals[i] += all
		}
	}
	if totals[0] != totals[1] {
		t.Fatalf("%s: all have earned %s, and without hand-overs %s", s.now, totals[0], totals[1])
	}
}

// sameRows checks that each hotspot has one row for each day, of who had it when the day began,
// which says the same in both.
func (s *street) sameRows(t *testing.T, other *street) {
	t.Helper()
	rows := func(of *street, day beacon.Day) map[beacon.HotspotID]ledger.Row {
		found := map[beacon.HotspotID]ledger.Row{}
		var reopened ledger.Reopenings
		err := of.db.Ledger.Books(t.Context(), func(b ledger.Books) (err error) {
			reopened, err = b.Reopenings(t.Context())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		all, err := of.db.Ledger.ValidRows(t.Context(), day, beacon.Owned{}, beacon.Owned{User: "~"}, reopened)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range all {
			if _, twice := found[row.Hotspot]; twice {
				t.Errorf("%s has two rows of %s", row.Hotspot, day)
			}
			if row.User != of.ownerOn(row.Hotspot, day) {
				t.Errorf("the row of %s on %s is of %s", row.Hotspot, day, row.User)
			}
			row.User, row.Revision = "", 0
			found[row.Hotspot] = row
		}
		return found
	}
	n := 0
	for day := beacon.DayOf(s.began); day < s.today(); day++ {
		is, want := rows(s, day), rows(other, day)
		if len(is) != len(want) {
			t.Errorf("%d rows of %s; want %d", len(is), day, len(want))
		}
		for id, row := range want {
			if is[id] != row {
				t.Errorf("%s on %s is\n%+v; want\n%+v", id, day, is[id], row)
			}
		}
		n += len(want)
	}
	if n < 100 {
		t.Errorf("only %d rows", n)
	}
}
