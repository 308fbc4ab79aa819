package rewards_test

import (
	"context"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

// TestPoliciesMustFit: what days were closed by is never changed, and a new
// policy never begins on a day that has begun.
func TestPoliciesMustFit(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
	w.register(t, w.users[0])
	w.pass(t, 2, whole) // the 10th and 11th are closed; it is the 12th
	start := func() error { return w.rewards(w.db).Start(t.Context()) }
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
	o.check(t, w.rewards(w.db), w.users[0])
	if s := w.summary(t, w.users[0], rewards.Current); s.Total.Total() == 4*wholeEarns {
		t.Error("the 13th is paid by policy 1")
	}
}

// between lets someone else be faster right before policies are written.
type between struct {
	rewards.Store
	do func()
}

func (b *between) KeepPolicies(ctx context.Context, policies []ledger.Policy) ([]ledger.Policy, error) {
	if do := b.do; len(policies) > 0 && do != nil {
		b.do = nil
		do()
	}
	return b.Store.KeepPolicies(ctx, policies)
}

// TestPolicyRace: of two servers that start at once with another policy 2 each,
// one does not.
func TestPolicyRace(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
	o := oracleOf(w)
	changePolicy(&o, beacon.DayOf(at("2026-11-20T00:00:00Z")))
	second := w.rewards(w.db)
	changePolicy(&o, beacon.DayOf(at("2026-11-21T00:00:00Z")))
	racing := &between{Store: w.db, do: func() {
		if err := second.Start(t.Context()); err != nil {
			t.Error(err)
		}
	}}
	if err := w.rewards(racing).Start(t.Context()); err == nil {
		t.Error("a server started with a policy 2 that is not the database's")
	}
}
