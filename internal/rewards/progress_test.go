package rewards_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/lease"
)

// TestProgress: a process that closes nothing itself, as after a restart or beside
// the keeper, still shows how far the books have come, and what is overdue.
func TestProgress(t *testing.T) {
	w := aMonth(t, openSQLite(t, at("2026-10-30T00:00:00Z")), 2, 3) // closed through October, 4 November now
	other := w.rewards(w.db.Rewards())
	other.Lease = func() (held lease.Lease, is bool) { return held, false }
	want := func(unclosed, unsettled int) {
		t.Helper()
		if err := other.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		p := other.Progress()
		if p.Unclosed != unclosed || p.Unsettled != unsettled || !p.Through.Equal(at("2026-11-01T00:00:00Z")) {
			t.Errorf("at %s: %+v; want %d days, %d months", w.now, p, unclosed, unsettled)
		}
	}
	if p := other.Progress(); p.Unclosed != 0 || p.Unsettled != 0 || !p.Through.IsZero() {
		t.Errorf("before it has looked: %+v", p)
	}
	w.now = at("2026-11-01T00:02:00Z")
	want(0, 0)
	w.now = at("2026-11-02T00:02:00Z")
	want(1, 0)
	w.now = at("2026-11-03T23:59:00Z")
	want(2, 0)
	w.now = at("2026-11-04T00:00:00Z") // 72 hours after October
	want(3, 1)
	if _, err := w.rewards(w.db.Rewards()).Settle(t.Context(), staff, october, false, ignore); err != nil {
		t.Fatal(err)
	}
	want(3, 0)
	w.now = at("2027-01-05T00:00:00Z")
	want(65, 2)
}
