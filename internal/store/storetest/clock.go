package storetest

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
)

// clocks: each server's mark, what is certain, which grows by itself, and what staff
// say, which replaces it.
func clocks(t *testing.T, database Database) {
	db, other := database.open(t), database.open(t)
	state := func() clock.State {
		t.Helper()
		s := must(other.Clocks.ClockState(t.Context()))
		s.Database = time.Time{} // some have one
		return s
	}
	equal(t, "nothing is known", state(), clock.State{})
	mark := func(certain time.Time, confirmed int64) {
		t.Helper()
		if err := db.Clocks.MarkClock(t.Context(), Now, certain, confirmed); err != nil {
			t.Fatal(err)
		}
	}
	at := func(hours int) time.Time { return Now.Add(time.Duration(hours) * time.Hour) }
	mark(time.Time{}, 0)
	equal(t, "a mark", state(), clock.State{Marks: []clock.Mark{{Node: db.Node(), Said: Now, Marks: 1}}})
	mark(at(1), 0)
	mark(at(0), 0)
	marks := []clock.Mark{{Node: db.Node(), Said: Now, Marks: 3}}
	equal(t, "certain", state(), clock.State{Certain: at(1), Marks: marks})
	if err := db.Clocks.ExtendSpan(t.Context(), 10, 20); err != nil {
		t.Fatal(err)
	}
	equal(t, "up", state().Up, time.Unix(20*60, 0).UTC())
	equal(t, "our own span does not count", must(db.Clocks.ClockState(t.Context())).Up, time.Time{})

	if err := other.Clocks.ConfirmClock(t.Context(), at(-5), Actor, at(2)); err != nil {
		t.Fatal(err)
	}
	equal(t, "what staff say", state().Certain, at(-5))
	mark(at(3), 0) // found before
	equal(t, "what was certain before", state().Certain, at(-5))
	mark(at(-4), 1)
	equal(t, "it goes on from there", state().Certain, at(-4))
	equal(t, "the change", must(other.Changes.Changes(t.Context(), other.Node(), 0, 10)), []beacon.Change{{
		Node: other.Node(), Seq: 1, Kind: beacon.ClockConfirmed, Target: at(-5).Format(time.DateOnly), Actor: Actor, At: at(2),
	}})

	marks[0].Marks = 4
	for _, left := range []int{1, 0} { // the mark has changed, then it is as given
		if err := other.Clocks.ForgetClocks(t.Context(), marks); err != nil {
			t.Fatal(err)
		}
		equal(t, "marks", len(state().Marks), left)
		marks[0].Marks = 5
	}
}
