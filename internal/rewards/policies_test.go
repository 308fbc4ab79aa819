package rewards_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
)

// TestPoliciesMustFit: what days were closed by is never changed, and a new
// policy never begins on a day that has begun.
func TestPoliciesMustFit(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
	w.register(t, w.users[0])
	w.pass(t, 2, whole) // the 10th and 11th are closed; it is the 12th
	start := func() error { return w.rewards(w.db.Rewards()).Start(t.Context()) }
	refused := func(why string) {
		t.Helper()
		if err := start(); err == nil || !strings.Contains(err.Error(), why) {
			t.Fatalf("start: %v; want it to say %q", err, why)
		}
	}
	one := w.policies
	for _, day := range []string{"2026-11-11", "2026-11-12"} {
		from, err := beacon.ParseDay(day)
		if err != nil {
			t.Fatal(err)
		}
		o := oracleOf(w)
		changePolicy(&o, from)
		refused("can start on 2026-11-13")
	}
	o := oracleOf(w)
	changePolicy(&o, beacon.DayOf(at("2026-11-13T00:00:00Z")))
	w.policies[0].Cap++
	refused("policy 1 differs from the one")
	w.policies[0].Cap--
	if err := start(); err != nil {
		t.Fatal(err)
	}
	w.policies = one // who does not bring it takes it over
	if err := start(); err != nil {
		t.Fatal(err)
	}
	w.pass(t, 2, whole)
	o.check(t, w.rewards(w.db.Rewards()), w.users[0])
	if s := w.summary(t, w.users[0], earnings.Current); s.Total.Total() == 4*wholeEarns {
		t.Error("the 13th is paid by policy 1")
	}
}

// between lets someone else be faster right before policies are written.
type between struct {
	tables
	do func()
}

func (b *between) KeepPolicies(ctx context.Context, policies []ledger.Policy) ([]ledger.Policy, error) {
	if do := b.do; len(policies) > 0 && do != nil {
		b.do = nil
		do()
	}
	return b.tables.KeepPolicies(ctx, policies)
}

func (b *between) FoundPolicies(ctx context.Context, policies []ledger.Policy) ([]ledger.Policy, error) {
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
	return b.tables.FoundPolicies(ctx, policies)
}

// TestPolicyRace: of two servers that start at once with another policy 2 each,
// one does not.
func TestPolicyRace(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
	o := oracleOf(w)
	changePolicy(&o, beacon.DayOf(at("2026-11-20T00:00:00Z")))
	second := w.rewards(w.db.Rewards())
	changePolicy(&o, beacon.DayOf(at("2026-11-21T00:00:00Z")))
	racing := &between{tables: w.db.Rewards(), do: func() {
		if err := second.Start(t.Context()); err != nil {
			t.Error(err)
		}
	}}
	if err := w.rewards(racing).Start(t.Context()); err == nil {
		t.Error("a server started with a policy 2 that is not the database's")
	}
}

// TestStart_NewNetwork: a new network pays places from its first day on. One that began
// with devices goes on with them, and so does one whose first server was faster.
func TestStart_NewNetwork(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		began := at("2026-11-10T00:00:00Z")
		start := func(w *world, db tables, founding policy.Set) *policy.Policy {
			t.Helper()
			r := w.rewards(db)
			r.Ledger.Founding = founding
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			hotspot := w.live()[0]
			e, err := r.Explain(t.Context(), anyone, earnings.ExplainQuery{Hotspot: hotspot})
			if err != nil {
				t.Fatal(err)
			}
			return e.Policy
		}
		fresh := func() *world {
			w := newWorld(t, open(t, began), began, 1)
			w.register(t, w.users[0])
			return w
		}
		w := fresh()
		for range 2 {
			if p := start(w, w.db.Rewards(), policy.BuiltIn()); p.Version != 3 || !p.PaysPlaces() {
				t.Errorf("a new network has policy %+v", p)
			}
		}
		w = fresh()
		for _, founding := range []policy.Set{nil, policy.BuiltIn()} {
			if p := start(w, w.db.Rewards(), founding); p.Version != 1 {
				t.Errorf("with %d policies, a network that began with devices has policy %+v", len(founding), p)
			}
		}
		w = fresh()
		faster := &between{tables: w.db.Rewards(), do: func() { start(w, w.db.Rewards(), nil) }}
		if p := start(w, faster, policy.BuiltIn()); p.Version != 1 {
			t.Errorf("beside a server that was faster, there is policy %+v", p)
		}
	})
}

// TestAdopt: staff put a policy into force from a day on that has not begun, once, and
// servers that run take it.
func TestAdopt(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		began := at("2026-11-10T00:00:00Z")
		w := newWorld(t, open(t, began), began, 1)
		places := policy.BuiltIn()[1]
		w.register(t, w.users[0])
		staff := beacon.Actor{Request: "cli"}
		adopt := func(from string, confirmed bool) (rewards.Adoption, error) {
			day, err := beacon.ParseDay(from)
			if err != nil {
				t.Fatal(err)
			}
			r := rewards.New(rewards.Config{Store: w.db.Rewards(), Clock: clock.Of(func() time.Time { return w.now })})
			return r.Adopt(t.Context(), staff, places, day, confirmed)
		}
		refused := func(from, why string) {
			t.Helper()
			_, err := adopt(from, true)
			if e, ok := errors.AsType[*beacon.Error](err); !ok || e.Kind != beacon.Conflict || !strings.Contains(e.Message, why) {
				t.Errorf("from %s: %v; want it to say %q", from, err, why)
			}
		}
		refused("2026-11-20", "no server has been started")
		w.pass(t, 2, whole) // it is the 12th
		refused("2026-11-12", "can start on 2026-11-13")
		w.now = began // a clock that is behind
		refused("2026-11-12", "can start on 2026-11-13")
		w.now = at("2026-11-12T00:10:00Z")
		if a, err := adopt("2026-11-14", false); err != nil || a.Policy.Version != 2 || a.Before.Version != 1 || a.ProvenBefore.String() != "2026-12-14" {
			t.Errorf("%+v, %v", a, err)
		}
		if n := len(w.changes(t, beacon.PolicyAdopted)); n != 0 {
			t.Errorf("without being confirmed it is in the audit %d times", n)
		}
		running := w.rewards(w.db.Rewards())
		if err := running.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := adopt("2026-11-14", true); err != nil {
			t.Fatal(err)
		}
		refused("2026-11-20", "policy 2 has the same terms, and is in force from 2026-11-14 on")
		if got := w.changes(t, beacon.PolicyAdopted); len(got) != 1 || !strings.Contains(got[0], "2026-11-14") {
			t.Errorf("the audit has %v", got)
		}
		if err := running.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		places.Cap++
		refused("2026-11-14", "can start on 2026-11-15")
		for _, day := range []string{"2026-11-12", "2026-11-13", "2026-11-14"} {
			w.did(w.live()[0], whole)
			w.midnight(t)
			if err := running.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			d, err := beacon.ParseDay(day)
			if err != nil {
				t.Fatal(err)
			}
			e, err := running.Explain(t.Context(), anyone, earnings.ExplainQuery{Hotspot: w.live()[0], Day: &d})
			if err != nil || e.Open || e.Policy.PaysPlaces() != (day == "2026-11-14") {
				t.Errorf("%s: %+v, %v", day, e, err)
			}
		}
	})
}
