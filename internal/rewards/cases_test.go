package rewards_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/store"
)

// whole is a day without a fault: 1 + 0.5 + 0.02 credits.
var whole = beacon.Facts{Served: 1440, Expected: 1440, Bytes: 1_000_000_000, Tier: beacon.Premium}

const wholeEarns = 1_520_000

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func (w *world) summary(t *testing.T, user beacon.UserID, period earnings.Period) earnings.Summary {
	t.Helper()
	s, err := w.rewards(w.db.Rewards()).Summary(t.Context(), anyone, earnings.SummaryQuery{User: user, Period: period})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pass lets days pass on which every live hotspot did the same.
func (w *world) pass(t *testing.T, days int, f beacon.Facts) {
	t.Helper()
	for range days {
		for _, hotspot := range w.live() {
			w.did(hotspot, f)
		}
		w.midnight(t)
		w.step(t)
	}
}

// TestMonthEnds: which month is the last one, and how long it is, on the days on
// which counting goes wrong.
func TestMonthEnds(t *testing.T) {
	for _, test := range []struct {
		now, start, end string // of the month before now's
		days            int
	}{
		{"2027-03-31T12:00:00Z", "2027-02-01T00:00:00Z", "2027-03-01T00:00:00Z", 28},
		{"2028-03-29T00:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z", 29},
		{"2028-03-30T23:59:59Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z", 29},
		{"2027-05-31T23:59:59.999999999Z", "2027-04-01T00:00:00Z", "2027-05-01T00:00:00Z", 30},
		{"2027-01-01T00:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z", 31},
		{"2026-12-31T23:59:59.999999999Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", 30},
		// What New York calls the 31st is the 1st already.
		{"2026-10-31T21:00:00-04:00", "2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z", 31},
		{"2026-12-01T05:00:00+05:45", "2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z", 31},
	} {
		t.Run(test.now, func(t *testing.T) {
			t.Parallel()
			start := at(test.start)
			w := newWorld(t, openSQLite(t, start), start.Add(-24*time.Hour), 1)
			w.register(t, w.users[0])
			w.pass(t, 1+test.days+3, whole) // the day before, the month, and some after
			w.now = at(test.now)
			s := w.summary(t, w.users[0], earnings.Last)
			if !s.Start.Equal(start) || !s.End.Equal(at(test.end)) || s.Start.Location() != time.UTC {
				t.Errorf("last is from %s to %s; want %s to %s", s.Start, s.End, test.start, test.end)
			}
			if want := beacon.Amount(test.days) * wholeEarns; s.Total.Total() != want {
				t.Errorf("earned %s; want %s", s.Total.Total(), want)
			}
		})
	}
}

// TestStates follows a month from its first day until it is settled.
func TestStates(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		w := newWorld(t, open(t, at("2026-09-29T09:00:00Z")), at("2026-09-29T09:00:00Z"), 2)
		user := w.users[0]
		hotspot := w.register(t, user)
		w.did(hotspot, beacon.Facts{Served: 30, Expected: 60, Bytes: 5e9})
		s := w.summary(t, user, earnings.Current)
		if s.Status != rewards.InProgress || s.Total.Total() != 600_000 || s.Pending() != 600_000 || s.Settled != 0 {
			t.Errorf("an open day: %+v", s)
		}
		w.pass(t, 2, whole)
		if s := w.summary(t, user, earnings.Last); s.Status != rewards.Finalizing || s.Settled != 0 || s.Pending() != 2*wholeEarns {
			t.Errorf("a month that is over: %+v", s)
		}
		w.now = at("2026-10-03T23:59:59Z")
		w.step(t)
		if s := w.summary(t, user, earnings.Last); s.Status != rewards.Finalizing {
			t.Errorf("after 71 h: %s", s.Status)
		}
		w.now = at("2026-10-04T00:00:00Z")
		w.step(t)
		for range 2 { // once more changes nothing
			s = w.summary(t, user, earnings.Last)
			if s.Status != rewards.Settled || s.Pending() != 0 || s.Settled != 2*wholeEarns {
				t.Errorf("after 72 h: %+v", s)
			}
			w.step(t)
		}
		if s := w.summary(t, w.users[1], earnings.Last); s.Status != rewards.Settled || s.Total.Total() != 0 || s.Hotspots == nil || len(s.Hotspots) != 0 {
			t.Errorf("of a user without hotspots: %+v", s)
		}
		if s := w.summary(t, w.users[1], earnings.All); !s.Start.Equal(s.End) || s.Status != rewards.InProgress {
			t.Errorf("all of a user without hotspots: %+v", s)
		}
	})
}

// TestSilentHotspot: in service and never heard, it earns nothing, and is listed.
func TestSilentHotspot(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
	w.register(t, w.users[0])
	w.register(t, w.users[0])
	w.pass(t, 1, beacon.Facts{Expected: 1440})
	w.did(w.live()[0], beacon.Facts{Closed: 10}) // nothing expected so far: no division by zero
	s := w.summary(t, w.users[0], earnings.Current)
	if len(s.Hotspots) != 2 || s.Total.Total() != 0 || s.Total.Expected != 2880 {
		t.Errorf("%+v", s)
	}
}

// TestDeletedHotspot keeps what it earned, also on the day on which it went.
func TestDeletedHotspot(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		w := newWorld(t, open(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
		hotspot := w.register(t, w.users[0])
		w.pass(t, 2, whole)
		w.did(hotspot, whole)
		w.remove(t, hotspot)
		o := oracleOf(w)
		for range 3 {
			o.check(t, w.rewards(w.db.Rewards()), w.users[0])
			if s := w.summary(t, w.users[0], earnings.All); s.Total.Total() != 3*wholeEarns {
				t.Fatalf("%s: %s", w.now, s.Total.Total())
			}
			w.midnight(t)
			w.step(t)
		}
	})
}

// TestPolicyChange in the middle of a month: each day by the policy in force.
func TestPolicyChange(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
	o := oracleOf(w)
	changePolicy(&o, beacon.DayOf(at("2026-11-12T00:00:00Z")))
	hotspot := w.register(t, w.users[0])
	w.pass(t, 3, whole)
	o.check(t, w.rewards(w.db.Rewards()), w.users[0])
	want := beacon.Amount(2*wholeEarns + 2_333_333 + 1_796_666 + 70_001)
	if s := w.summary(t, w.users[0], earnings.Current); s.Total.Total() != want {
		t.Errorf("earned %s; want %s", s.Total.Total(), want)
	}
	for day, version := range map[string]int{"2026-11-11": 1, "2026-11-12": 2} {
		d, _ := beacon.ParseDay(day)
		e, err := w.rewards(w.db.Rewards()).Explain(t.Context(), anyone, earnings.ExplainQuery{Hotspot: hotspot, Day: &d})
		if err != nil || e.Policy.Version != version || e.Open {
			t.Errorf("%s: policy %v, open %v, %v; want %d", day, e.Policy, e.Open, err, version)
		}
	}
}
