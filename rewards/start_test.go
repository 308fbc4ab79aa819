package rewards_test

import (
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/beacon"
)

// TestPoliciesMustFit: what days were closed by is never changed, and never
// begins on a day that is closed.
func TestPoliciesMustFit(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
	w.register(t, w.users[0])
	w.pass(t, 2, whole) // the 10th and 11th are closed
	refused := func(why string) {
		t.Helper()
		err := w.rewards(w.db).Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Fatalf("start: %v; want it to say %q", err, why)
		}
	}
	one := w.policies
	o := oracleOf(w)
	changePolicy(&o, beacon.DayOf(at("2026-11-11T00:00:00Z")))
	refused("days up to 2026-11-11 are closed")
	changePolicy(&o, beacon.DayOf(at("2026-11-12T00:00:00Z")))
	w.policies[0].Cap++
	refused("policy 1 is not the one")
	w.policies[0].Cap--
	if err := w.rewards(w.db).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.policies = one
	refused("has reward policy 2, and this program does not")
	// A server that was running all the while must not close by the old one.
	w.midnight(t)
	if err := w.rewards(w.db).Step(t.Context()); err == nil {
		t.Fatal("a server that does not know policy 2 closed a day")
	}
}
