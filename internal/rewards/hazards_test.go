package rewards_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
)

// stale answers sums and accounts as they were a moment ago, like a standby that
// the pool of readers was led to.
type stale struct {
	tables
	sums     bool
	accounts []ledger.Account
}

func (s *stale) UserMonths(ctx context.Context, m beacon.Month, from, to beacon.UserID) ([]ledger.UserMonth, error) {
	if s.sums {
		return nil, nil
	}
	return s.tables.UserMonths(ctx, m, from, to)
}

func (s *stale) HotspotMonths(ctx context.Context, m beacon.Month, from, to beacon.Owned) ([]ledger.HotspotMonth, error) {
	if s.sums {
		return nil, nil
	}
	return s.tables.HotspotMonths(ctx, m, from, to)
}

func (s *stale) Accounts(ctx context.Context, from, to beacon.UserID) ([]ledger.Account, error) {
	if s.accounts != nil {
		return s.accounts, nil
	}
	return s.tables.Accounts(ctx, from, to)
}

// TestStaleSums: a sum that is a page old is never written over a newer one.
func TestStaleSums(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
	w.register(t, w.users[0])
	w.pass(t, 2, whole)
	w.did(w.live()[0], whole)
	w.midnight(t)
	if err := w.rewards(&stale{tables: w.db.Rewards(), sums: true}).Step(t.Context()); err == nil {
		t.Error("a page that was added to old sums was written")
	}
	w.step(t)
	if s := w.summary(t, w.users[0], earnings.Current); s.Total.Total() != 3*wholeEarns {
		t.Errorf("three closed days: the books say %s", s.Total.Total())
	}
}

// TestStaleAccounts: a month is not finished while someone has no statement of
// it.
func TestStaleAccounts(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-09-29T00:00:00Z")), at("2026-09-29T00:00:00Z"), 1)
	w.register(t, w.users[0])
	w.pass(t, 1, whole)
	old, err := w.db.Ledger.Accounts(t.Context(), w.users[0], w.users[0])
	if err != nil {
		t.Fatal(err)
	}
	w.pass(t, 34, whole) // up to November 2: September is settled, October is closed
	w.now = at("2026-11-04T00:00:00Z")
	if report, err := w.rewards(&stale{tables: w.db.Rewards(), accounts: old}).Settle(t.Context(), staff, october, false, ignore); err == nil {
		t.Errorf("settled by old accounts: %+v", report)
	}
	w.step(t)
	if s := w.summary(t, w.users[0], earnings.Last); s.Status != rewards.Settled || s.Pending() != 0 {
		t.Errorf("October is %s, and %s of it are pending", s.Status, s.Pending())
	}
}

// after does something after each page.
type after struct {
	tables
	do func()
}

func (a after) PutPage(ctx context.Context, l lease.Lease, page ledger.Page) error {
	err := a.tables.PutPage(ctx, l, page)
	a.do()
	return err
}

// TestClockIsSetRight while days are being closed by one that was a year ahead:
// no further day is.
func TestClockIsSetRight(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
	w.register(t, w.users[0])
	w.pass(t, 2, whole)
	right := w.now
	w.now = right.AddDate(1, 0, 0)
	pages := 0
	r := w.rewards(after{w.db.Rewards(), func() {
		if pages++; pages == 3 {
			w.now = right
		}
	}})
	if err := r.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if through := w.closedThrough(t); through > beacon.DayOf(right)+2 {
		t.Errorf("at %s, days up to %s are closed", right, through)
	}
}

// TestLeaseIsLost while days are being closed: no further page is tried.
func TestLeaseIsLost(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
	for range 4 {
		w.register(t, w.users[0])
	}
	w.pass(t, 1, whole)
	for _, hotspot := range w.live() {
		w.did(hotspot, whole)
	}
	w.midnight(t)
	keeper, pages := true, 0
	r := w.rewards(after{w.db.Rewards(), func() { pages, keeper = pages+1, false }})
	r.Lease = func() (lease.Lease, bool) { return w.held, keeper }
	r.inPagesOf(1)
	if err := r.Step(t.Context()); err != nil || pages != 1 {
		t.Errorf("%d pages were tried; %v", pages, err)
	}
}

func (w *world) closedThrough(t *testing.T) (through beacon.Day) {
	t.Helper()
	err := w.db.Ledger.Books(t.Context(), func(b ledger.Books) error {
		c, _, err := b.Closing(t.Context())
		through = c.Through()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return through
}

// TestManyDaysBehind: when many days seem to be over, the clock must have run
// evenly for an hour, not for minutes; it may be far ahead.
func TestManyDaysBehind(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
	w.register(t, w.users[0])
	w.pass(t, 1, whole)
	began := time.Now()
	w.now = at("2026-12-20T00:10:00Z")
	r := w.rewards(w.db.Rewards())
	const rate = 1e4 // so that an hour of the clock passes within the test
	start := w.now
	now := func() time.Time { w.now = start.Add(time.Duration(float64(time.Since(began)) * rate)); return w.now }
	r.Clock = clock.New(clock.Config{Store: w.db.Clocks, Lease: r.Lease, Now: now, Rate: rate, Log: r.Log})
	for {
		even := w.now.Sub(start)
		if err := errors.Join(r.Clock.Step(t.Context()), r.Step(t.Context())); err != nil {
			t.Fatal(err)
		}
		through := w.closedThrough(t)
		if through > beacon.DayOf(at("2026-11-10T00:00:00Z")) {
			if w.now.Sub(start) < time.Hour {
				t.Errorf("closed through %s by a clock that was steady for %s", through, w.now.Sub(start))
			}
			break
		}
		if even > 30*24*time.Hour {
			t.Fatal("never closed")
		}
	}
}

// TestUnknownRecord: a record that a newer program wrote is not closed as
// nothing; one that is damaged does not keep others waiting.
func TestUnknownRecord(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-11-10T00:00:00Z")), at("2026-11-10T00:00:00Z"), 1)
	odd, sound := w.register(t, w.users[0]), w.register(t, w.users[0])
	w.did(odd, whole)
	w.did(sound, whole)
	w.midnight(t)
	put := func(data string) {
		t.Helper()
		day := beacon.DayOf(at("2026-11-10T00:00:00Z"))
		if err := w.db.Records.PutRecords(t.Context(), w.held, []beacon.RecordRow{{Hotspot: odd, Day: day, Data: []byte(data)}}); err != nil {
			t.Fatal(err)
		}
	}
	put("of another version")
	if err := w.rewards(w.db.Rewards()).Step(t.Context()); err == nil {
		t.Error("a record that cannot be read was closed")
	}
	put("damaged")
	w.step(t)
	if s := w.summary(t, w.users[0], earnings.Current); s.Total.Total() != wholeEarns || len(s.Hotspots) != 1 {
		t.Errorf("earned %s by %d hotspots; want one day of the sound one", s.Total.Total(), len(s.Hotspots))
	}
}

// TestPolicyOfAnother: a server takes over the policy that another has brought,
// when it settles, explains, or computes a day.
func TestPolicyOfAnother(t *testing.T) {
	w := newWorld(t, openSQLite(t, at("2026-10-30T00:00:00Z")), at("2026-10-30T00:00:00Z"), 1)
	hotspot := w.register(t, w.users[0])
	old := w.rewards(w.db.Rewards()) // is never restarted
	if err := old.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := oracleOf(w)
	changePolicy(&o, beacon.DayOf(at("2026-10-31T00:00:00Z")))
	w.pass(t, 3, whole) // closed by the new server
	day := beacon.DayOf(at("2026-10-31T00:00:00Z"))
	if e, err := old.Explain(t.Context(), anyone, earnings.ExplainQuery{Hotspot: hotspot, Day: &day}); err != nil || e.Policy.Version != 2 {
		t.Errorf("explained by policy %v, %v", e.Policy, err)
	}
	w.now = at("2026-11-04T00:00:00Z")
	if _, err := old.Settle(t.Context(), staff, october, false, ignore); err != nil {
		t.Fatal(err)
	}
	s, err := old.Statement(t.Context(), anyone, earnings.StatementQuery{User: w.users[0], Month: october})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = statement.WriteJSON(&out, &s.Statement, s.Policies, func(fn func(ledger.Row, ledger.Hash) error) error { return s.Each(t.Context(), fn) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := statement.Verify(&out, w.policies); err != nil {
		t.Errorf("the statement does not verify: %v", err)
	}
	o.check(t, old, w.users[0])
}
