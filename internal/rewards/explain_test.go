package rewards_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/store"
)

// TestExplain: closed days as they are in the books, open ones as of now, and
// days on which the hotspot was not there.
func TestExplain(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 2)
	hotspot := w.register(t, w.users[0])
	w.pass(t, 1, beacon.Facts{Served: 700, Expected: 1400, Closed: 30, Excused: 10, Bytes: 60e9, Tier: beacon.Enhanced})
	w.did(hotspot, beacon.Facts{Served: 5, Expected: 10})
	explain := func(p beacon.Principal, of beacon.HotspotID, day string) (earnings.Explanation, error) {
		q := earnings.ExplainQuery{Hotspot: of}
		if day != "" {
			d, err := beacon.ParseDay(day)
			if err != nil {
				t.Fatal(err)
			}
			q.Day = &d
		}
		return w.rewards(w.db.Rewards()).Explain(t.Context(), p, q)
	}
	for _, test := range []struct {
		day    string
		open   bool
		earned beacon.Earned
	}{
		{"2026-11-10", false, beacon.Earned{Availability: 500_000, Performance: 125_000, Utilization: 1_000_000}},
		{"2026-11-11", true, beacon.Earned{Availability: 500_000}},
		{"", true, beacon.Earned{Availability: 500_000}},
	} {
		e, err := explain(beacon.Principal{User: w.users[0]}, hotspot, test.day)
		if err != nil {
			t.Fatal(err)
		}
		left := e.Potential
		for _, loss := range e.Losses {
			left = left.Plus(beacon.Earned{
				Availability: -loss.Amount.Availability, Performance: -loss.Amount.Performance, Utilization: -loss.Amount.Utilization,
			})
		}
		if e.Open != test.open || e.Earned != test.earned || left != e.Earned || e.Status != rewards.InProgress {
			t.Errorf("%s: %+v, left %+v; want open %v, %+v", test.day, e, left, test.open, test.earned)
		}
	}
	w.remove(t, hotspot)
	if _, err := explain(beacon.Principal{User: w.users[0]}, hotspot, "2026-11-10"); err != nil {
		t.Errorf("of a hotspot that is deleted: %v", err)
	}
	for _, test := range []struct {
		name string
		by   beacon.Principal
		of   beacon.HotspotID
		day  string
		want beacon.Kind
	}{
		{"future", anyone, hotspot, "2026-11-12", beacon.InvalidRequest},
		{"before it was registered", anyone, hotspot, "2026-11-09", beacon.InvalidRequest},
		{"before a stranger's was registered", beacon.Principal{User: w.users[1]}, hotspot, "2026-11-09", beacon.Forbidden},
		{"a stranger", beacon.Principal{User: w.users[1]}, hotspot, "", beacon.Forbidden},
		{"nobody", beacon.Principal{}, hotspot, "", beacon.Forbidden},
		{"unknown", anyone, beacon.HotspotID(id.New(beacon.HotspotPrefix, w.now)), "", beacon.NotFound},
		{"no id", anyone, "hs_\x00", "", beacon.NotFound},
	} {
		_, err := explain(test.by, test.of, test.day)
		if e, ok := errors.AsType[*beacon.Error](err); !ok || e.Kind != test.want {
			t.Errorf("%s: %v; want %v", test.name, err, test.want)
		}
	}
}

// TestWhose: nobody sees what another earns, and nobody learns who there is.
func TestWhose(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 2)
	w.register(t, w.users[0])
	w.pass(t, 1, whole)
	r := w.rewards(w.db.Rewards())
	own := beacon.Principal{User: w.users[0]}
	for _, user := range []beacon.UserID{beacon.Me, w.users[0]} {
		if s, err := r.Summary(t.Context(), own, earnings.SummaryQuery{User: user, Period: earnings.Current}); err != nil || s.User != w.users[0] || s.Total.Total() != wholeEarns {
			t.Errorf("%s: %+v, %v", user, s, err)
		}
	}
	var answers []string
	for _, user := range []beacon.UserID{w.users[1], "usr_nobody", "ME", "", "usr_\x00", beacon.UserID(id.New(beacon.UserPrefix, w.now))} {
		_, summary := r.Summary(t.Context(), own, earnings.SummaryQuery{User: user, Period: earnings.All})
		_, history := r.History(t.Context(), own, earnings.HistoryQuery{User: user, Page: beacon.Page{Number: 1, Size: 20}})
		_, statement := r.Statement(t.Context(), own, earnings.StatementQuery{User: user})
		_, days := r.Days(t.Context(), own, earnings.DaysQuery{User: user})
		for _, err := range []error{summary, history, statement, days} {
			e, ok := errors.AsType[*beacon.Error](err)
			if !ok || e.Kind != beacon.Forbidden {
				t.Fatalf("%q: %v", user, err)
			}
			answers = append(answers, e.Error())
		}
		// Staff may ask for anyone, and gets nothing for nobody.
		s, err := r.Summary(t.Context(), anyone, earnings.SummaryQuery{User: user, Period: earnings.All})
		if err != nil || s.Total.Total() != 0 || len(s.Hotspots) != 0 {
			t.Errorf("%q for staff: %+v, %v", user, s, err)
		}
	}
	for _, answer := range answers {
		if answer != answers[0] {
			t.Errorf("%q and %q", answer, answers[0])
		}
	}
}

// Where homes are hidden, what is explained to one that no exact visit has found does
// not depend on its neighbours: on open days and on closed ones, with and without an outage.
func TestExplain_NotFound(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		for _, minutesFrom := range [][]beacon.Day{nil, {1}} {
			var alone []earnings.Explanation
			for _, neighbours := range []int{0, 1} {
				b := newBlock(t, open, neighbours, slices.Clone(minutesFrom)...)
				b.hides = true
				b.users = append(b.users, "usr_01k8a0000000000000000000zz")
				asks := b.register(t, b.users[neighbours])
				b.visit(t, asks, 0, false) // its operator
				b.all = append(b.all, asks)
				for day := range 10 {
					down := 300 * (day % 2)
					b.pass(t, down, [][2]int{{0, 700}, {0, 1100}}[1-neighbours:]...)
				}
				b.holds = true
				b.pass(t, 200, [][2]int{{0, 700}, {0, 1100}}[1-neighbours:]...)
				r := b.world.rewards(b.db.Rewards())
				if err := r.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				for n := range 11 {
					day := beacon.DayOf(b.began) + beacon.Day(n)
					e, err := r.Explain(t.Context(), anyone, earnings.ExplainQuery{Hotspot: asks, Day: &day})
					if err != nil || e.Open != (n == 10) || e.Facts.Served != 1100 {
						t.Fatalf("day %d: %+v, %v", n, e, err)
					}
					e.Hotspot, e.Facts.Bytes, e.Approximate = "", 0, false
					if neighbours == 0 {
						alone = append(alone, e)
					} else if diff := cmp.Diff(alone[n], e); diff != "" {
						t.Errorf("minutes %v, day %d: with a neighbour one is told (-alone +now)\n%s", len(minutesFrom), n, diff)
					}
				}
			}
		}
	})
}
