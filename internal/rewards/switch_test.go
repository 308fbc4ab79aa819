package rewards_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
)

// While rewards are off, days are closed with what hotspots did, and earn nothing. What was earned
// before stays and is settled. They are on again by the terms of before.
func TestSwitch(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		now := at("2026-11-10T00:00:00Z")
		w := newWorld(t, open(t, now), now, 1)
		hotspot := w.register(t, w.users[0])
		adopt := func(from beacon.Day) error {
			r := w.rewards(w.db.Rewards())
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err := r.Adopt(t.Context(), beacon.Actor{Request: "test"}, policy.Policy{}, from, false)
			return err
		}
		if err := adopt(w.today()); err != nil {
			t.Errorf("on the day on which the network begins: %v", err)
		}
		turn := func(terms policy.Policy, from string) {
			t.Helper()
			day, err := beacon.ParseDay(from)
			if err != nil {
				t.Fatal(err)
			}
			r := w.rewards(w.db.Rewards())
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Adopt(t.Context(), beacon.Actor{Request: "test"}, terms, day, true); err != nil {
				t.Fatal(err)
			}
			w.policies = r.Known() // of processes that have been told
		}
		want := func(paid, served int) {
			t.Helper()
			if got := w.summary(t, w.users[0], earnings.All).Total; got.Total() != beacon.Amount(paid)*wholeEarns || got.Served != int64(served)*beacon.MinutesADay {
				t.Errorf("on %s the user has %v for %d minutes; want that of %d days for %d", w.today(), got.Total(), got.Served, paid, served)
			}
		}
		w.did(hotspot, whole)
		w.midnight(t)
		if err := adopt(w.today()); err == nil {
			t.Error("on a day that has begun, after a record, and none is closed")
		}
		w.step(t)
		w.pass(t, 1, whole) // the 11th
		if err := adopt(w.today()); err == nil {
			t.Error("on a day that has begun, after others were closed")
		}
		turn(policy.Policy{}, "2026-11-13")
		w.pass(t, 1, whole)
		want(3, 3)
		w.did(hotspot, whole)
		want(3, 4) // an open day earns nothing either
		w.pass(t, 2, whole)
		want(3, 5)
		r := w.rewards(w.db.Rewards())
		if e, err := r.Explain(t.Context(), beacon.Principal{User: w.users[0]}, earnings.ExplainQuery{Hotspot: hotspot, Day: new(w.today() - 1)}); err != nil ||
			!e.Policy.Off() || e.Open || e.Facts.Served != beacon.MinutesADay || e.Account.Potential != (beacon.Earned{}) || len(e.Account.Losses) != 0 {
			t.Errorf("a day without rewards is explained by %+v, %v", e, err)
		}
		terms, err := r.Resumed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		turn(terms, "2026-11-17")
		w.pass(t, 2, whole) // the 15th and 16th
		want(3, 7)
		w.pass(t, 1, whole)
		want(4, 8)
		from := beacon.DayOf(now)
		if got := w.replay(t, closing.ReplayQuery{From: from, To: w.today() - 1}); got.Differ != 0 || got.Rows != 8 {
			t.Errorf("a replay has %d rows, and %d differ: %s", got.Rows, got.Differ, got.First)
		}
		first := policy.Devices()[0]
		if got := w.replay(t, closing.ReplayQuery{From: from, To: w.today() - 1, Policy: &first}); got.Is.Total() != 8*wholeEarns || got.Was.Total() != 4*wholeEarns {
			t.Errorf("with rewards all the time, it would have been %v rather than %v", got.Is.Total(), got.Was.Total())
		}
		w.pass(t, 17, whole) // until November is settled
		if !w.settledMonths(t, w.users[0])["2026-11"] {
			t.Error("November is not settled")
		}
		want(4+17, 8+17)
	})
}
