package rewards_test

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/holds"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// heldModel is what a test knows about holds: which rows were closed under which, and which
// months had a statement when each was over.
type heldModel struct {
	rows  map[heldKey]beacon.HoldID
	ended map[beacon.HoldID]map[string]bool // months of the operator that were settled before
}

func newHeldModel() *heldModel {
	return &heldModel{map[heldKey]beacon.HoldID{}, map[beacon.HoldID]map[string]bool{}}
}

type heldKey struct {
	day     string
	hotspot beacon.HotspotID
}

func dayText(day beacon.Day) string { return day.Time().Format("2006-01-02") }

// divided is how what was earned is divided.
type divided struct{ settled, held, voided int64 }

func (d divided) plus(other divided) divided {
	return divided{d.settled + other.settled, d.held + other.held, d.voided + other.voided}
}

func dividedAs(p earnings.Payment) divided {
	return divided{int64(p.Settled), int64(p.Held), int64(p.Voided)}
}

// divide divides what a user earned on the days that match, by hotspot: of what is in a
// settled month, all is paid that is not under a hold, or that a later statement lists.
func (o oracle) divide(t *testing.T, user beacon.UserID, match func(string) bool) (all divided, by map[beacon.HotspotID]divided) {
	t.Helper()
	by = map[beacon.HotspotID]divided{}
	settled := o.settledMonths(t, user)
	for hotspot, e := range o.earned(user, func(day string) bool { return match(day) && settled[day[:7]] }) {
		by[hotspot] = divided{settled: e.total()}
	}
	o.held.divide(t, o, user, match, settled, by)
	for _, d := range by {
		all = all.plus(d)
	}
	return all, by
}

// divide corrects a division by what a user earned under holds on the days that match and
// are closed.
func (m *heldModel) divide(t *testing.T, o oracle, user beacon.UserID, match func(string) bool, settled map[string]bool, by map[beacon.HotspotID]divided) {
	t.Helper()
	if m == nil {
		return
	}
	all, _, err := o.db.Holds.Holds(t.Context(), user, "", 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	states := map[beacon.HoldID]beacon.HoldState{}
	for _, h := range all {
		states[h.ID] = h.State
	}
	through := o.closedThrough(t)
	for day, hotspots := range o.facts {
		text := dayText(day)
		for hotspot, f := range hotspots {
			id := m.rows[heldKey{text, hotspot}]
			if id == "" || o.ownerOn(hotspot, day) != user || !match(text) || day > through && !o.isClosed(t, day, hotspot) {
				continue
			}
			amount := o.on(text).reward(f).total()
			paid, d := false, divided{}
			switch states[id] {
			case "active":
				d.held = amount
			case "voided":
				d.voided = amount
			default:
				for month := range settled {
					paid = paid || month >= text[:7] && !m.ended[id][month]
				}
			}
			if !paid && settled[text[:7]] {
				d.settled = -amount
			}
			by[hotspot] = by[hotspot].plus(d)
		}
	}
}

func (o oracle) isClosed(t testing.TB, day beacon.Day, hotspot beacon.HotspotID) (closed bool) {
	t.Helper()
	err := o.db.Ledger.Books(t.Context(), func(b ledger.Books) (err error) {
		_, closed, err = b.Row(t.Context(), day, beacon.Owned{User: o.ownerOn(hotspot, day), Hotspot: hotspot})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return closed
}

// close notes which rows of the days from one on are about to be closed under a hold, and
// which holds are over by then.
func (m *heldModel) close(t testing.TB, o oracle, from beacon.Day) {
	t.Helper()
	active, err := o.db.Holds.ActiveHolds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for day := from; day < o.today(); day++ {
		for hotspot := range o.facts[day] {
			key := heldKey{dayText(day), hotspot}
			delete(m.rows, key)
			for _, h := range active {
				covers := h.User == o.ownerOn(hotspot, day) && (h.Hotspot == hotspot || h.Hotspot == "" && m.rows[key] == "")
				if covers && h.Until.After(o.now) && h.Placed.At.Format("2006-01-02") <= key.day {
					m.rows[key] = h.ID
				}
			}
		}
	}
	for _, h := range active {
		if !h.Until.After(o.now) {
			m.over(t, o, h)
		}
	}
}

// over notes that a hold is over, or is about to be.
func (m *heldModel) over(t testing.TB, o oracle, h beacon.Hold) {
	t.Helper()
	m.ended[h.ID] = o.settledMonths(t, h.User)
}

func newStaff(w *world, n int) (all []beacon.Principal) {
	for range n {
		all = append(all, beacon.Principal{User: beacon.UserID(id.New(beacon.UserPrefix, w.now)), Scopes: []beacon.Scope{beacon.HotspotsVerify}})
	}
	return all
}

func (w *world) place(t testing.TB, by beacon.Principal, in holds.Request) beacon.Hold {
	t.Helper()
	if in.Reason == "" {
		in.Reason, in.Evidence = "no radio was found", "photo 7"
	}
	if in.Until.IsZero() {
		in.Until = w.now.Add(30 * 24 * time.Hour)
	}
	h, err := w.rewards(w.db.Rewards()).Place(t.Context(), by, in)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (w *world) decide(t testing.TB, by beacon.Principal, in holds.Decision) beacon.Hold {
	t.Helper()
	if in.Reason == "" {
		in.Reason = "because"
	}
	h, err := w.rewards(w.db.Rewards()).Decide(t.Context(), by, in)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Held days close with their amounts, and are paid with the statement after the release:
// earned in the month of the day, paid in that of the release. Void days never are.
func TestHolds(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		start := at("2026-10-20T00:00:00Z")
		w := newWorld(t, open(t, start), start, 2)
		o := oracleOf(w)
		o.held = newHeldModel()
		const credits = 1_520_000 // of a whole day
		staff := newStaff(w, 3)
		mine, other := w.register(t, w.users[0]), w.register(t, w.users[0])
		w.register(t, w.users[1])
		pass := func(days int) {
			t.Helper()
			for range days {
				for _, hotspot := range w.live() {
					w.did(hotspot, whole)
				}
				w.midnight(t)
				o.held.close(t, o, w.today()-1)
				w.step(t)
				for _, user := range w.users {
					o.check(t, w.rewards(w.db.Rewards()), user)
				}
			}
		}
		summary := func(period earnings.Period) earnings.Summary {
			t.Helper()
			s, err := w.rewards(w.db.Rewards()).Summary(t.Context(), anyone, earnings.SummaryQuery{User: w.users[0], Period: period})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		pass(2)
		first := w.place(t, staff[0], holds.Request{Hotspot: mine})
		pass(3)
		if s := summary(earnings.Current); s.Held != 3*credits || s.Pending() != 7*credits || s.Settled != 0 {
			t.Errorf("held %s, pending %s, settled %s", s.Held, s.Pending(), s.Settled)
		}
		if got := w.replay(t, closing.ReplayQuery{From: beacon.DayOf(start), To: w.today() - 1}); got.Differ != 0 {
			t.Errorf("%d rows differ when replayed: %s", got.Differ, got.First)
		}
		e, err := w.rewards(w.db.Rewards()).Explain(t.Context(), anyone, earnings.ExplainQuery{Hotspot: mine, Day: ptr(w.today() - 1)})
		if err != nil || e.Hold == nil || e.Hold.ID != first.ID || e.Earned.Total() != credits {
			t.Errorf("explained as %+v, %v", e, err)
		}
		if e, err = w.rewards(w.db.Rewards()).Explain(t.Context(), anyone, earnings.ExplainQuery{Hotspot: other}); err != nil || e.Hold != nil {
			t.Errorf("explained as %+v, %v", e, err)
		}
		if e.Payment != earnings.IsPending {
			t.Errorf("today is %s", e.Payment)
		}
		held := w.today() - 1
		is := func(hotspot beacon.HotspotID, day beacon.Day, want earnings.PaymentState) {
			t.Helper()
			e, err := w.rewards(w.db.Rewards()).Explain(t.Context(), anyone, earnings.ExplainQuery{Hotspot: hotspot, Day: &day})
			if err != nil || e.Payment != want {
				t.Errorf("%s on %s is %s, %v; want %s", hotspot, day, e.Payment, err, want)
			}
		}
		is(mine, held, earnings.IsHeld)
		is(other, held, earnings.IsPending)
		pass(11) // October is settled
		if s := summary(earnings.Last); s.Total.Total() != 24*credits || s.Held != 10*credits || s.Settled != 14*credits || s.Pending() != 0 {
			t.Errorf("of %s, held %s, settled %s, pending %s", s.Total.Total(), s.Held, s.Settled, s.Pending())
		}
		o.held.over(t, o, first)
		w.decide(t, staff[1], holds.Decision{Hold: first.ID, Action: holds.Release})
		is(mine, held, earnings.IsPending)
		is(other, held, earnings.IsSettled)
		second := w.place(t, staff[1], holds.Request{Hotspot: other})
		pass(4)
		if s := summary(earnings.All); s.Held != 4*credits || s.Settled != 14*credits {
			t.Errorf("held %s, settled %s", s.Held, s.Settled)
		}
		w.decide(t, staff[0], holds.Decision{Hold: second.ID, Action: holds.Void})
		pass(1)
		o.held.over(t, o, second)
		if h := w.decide(t, staff[2], holds.Decision{Hold: second.ID, Action: holds.Void}); h.State != beacon.HoldIsVoided {
			t.Errorf("after two people: %+v", h)
		}
		is(other, w.today()-1, earnings.IsVoided)
		is(mine, held, earnings.IsPending)
		w.remove(t, mine)
		w.remove(t, other)
		w.pass(t, 30, beacon.Facts{}) // November is settled
		if s := summary(earnings.All); s.Held != 0 || s.Voided != 5*credits || s.Pending() != 0 || s.Settled != s.Total.Total()-5*credits {
			t.Errorf("of %s, held %s, void %s, settled %s", s.Total.Total(), s.Held, s.Voided, s.Settled)
		}
		is(mine, held, earnings.IsSettled)
		w.checkStatements(t, "2026-10")
		w.checkStatements(t, "2026-11")
		october, november := w.document(t, w.users[0], "2026-10"), w.document(t, w.users[0], "2026-11")
		if err := statement.Follows(october, november); err != nil {
			t.Error(err)
		}
		if october.Held != 10*credits || november.Released != 14*credits || november.Voided != 5*credits ||
			october.Paid()+november.Paid() != summary(earnings.All).Settled {
			t.Errorf("the statements say %+v and %+v", october, november)
		}
		for kind, want := range map[beacon.ChangeKind]int{beacon.HoldPlaced: 2, beacon.HoldReleased: 1, beacon.HoldVisitFailed: 1, beacon.HoldVoided: 1} {
			if got := w.changes(t, kind); len(got) != want {
				t.Errorf("%s is in the audit %d times", kind, len(got))
			}
		}
	})
}

// document is a user's statement as its owner verifies it.
func (w *world) document(t testing.TB, user beacon.UserID, month string) statement.Report {
	t.Helper()
	m, _ := beacon.ParseMonth(month)
	s, err := w.rewards(w.db.Rewards()).Statement(t.Context(), anyone, earnings.StatementQuery{User: user, Month: m})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := statement.WriteJSON(&text, &s.Statement, s.Policies, func(fn func(ledger.Row, ledger.Hash) error) error { return s.Each(t.Context(), fn) }); err != nil {
		t.Fatal(err)
	}
	report, err := statement.Verify(&text, w.policies)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func ptr[T any](v T) *T { return &v }

// Holds come and go at random, while processes die as they close, settle and release.
// Every answer is right at any time, and all statements hold.
func TestHolds_AtRandom(t *testing.T) {
	level.Repeats(t)
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		acts := map[string]int{}
		for seed := range uint64(2) {
			random := rand.New(rand.NewPCG(seed, 20))
			start := at("2026-09-21T00:00:00Z").AddDate(0, 0, random.IntN(9))
			w := newWorld(t, open(t, start), start, 4)
			o := oracleOf(w)
			o.held = newHeldModel()
			staff := newStaff(w, 3)
			for range 45 {
				aDay(t, random, w)
				o.someHolds(t, random, staff, acts)
				if through := w.closedThrough(t); random.IntN(12) == 0 && through.Month() == w.today().Month() && through >= beacon.DayOf(start) {
					from := max(through-beacon.Day(random.IntN(5)), w.today().Month().First(), beacon.DayOf(start))
					w.reopen(t, from)
					acts["reopen"]++
				}
				w.midnight(t)
				first := beacon.DayOf(start)
				if through := w.closedThrough(t); through > 0 {
					first = through + 1
				}
				o.held.close(t, o, first)
				for tries := 0; o.tryStep(t, random) != nil; tries++ {
					if tries > 300 {
						t.Fatal("it is never done")
					}
				}
				for _, user := range w.users {
					o.check(t, w.rewards(w.db.Rewards()), user)
				}
			}
			for _, user := range w.users {
				o.checkChain(t, user)
			}
		}
		for _, what := range []string{"place", "release", "voided", "extend", "reopen"} {
			if acts[what] == 0 {
				t.Errorf("nobody did %s", what)
			}
		}
	})
}

// someHolds lets staff and operators do something about holds, or not.
func (o oracle) someHolds(t *testing.T, random *rand.Rand, staff []beacon.Principal, acts map[string]int) {
	t.Helper()
	r, by := o.rewards(o.db.Rewards()), staff[random.IntN(len(staff))]
	until := o.now.Add(time.Hour + time.Duration(random.IntN(29*24))*time.Hour)
	active, err := o.db.Holds.ActiveHolds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if live := o.live(); len(live) > 0 && random.IntN(3) == 0 {
		in := holds.Request{Hotspot: live[random.IntN(len(live))], Reason: "r", Evidence: "e", Until: until}
		if random.IntN(3) == 0 {
			in.User, in.Hotspot = o.owners[in.Hotspot], ""
		}
		_, err = r.Place(t.Context(), by, in)
		tally(t, acts, "place", err)
	}
	if len(active) == 0 || random.IntN(2) > 0 {
		return
	}
	h := active[random.IntN(len(active))]
	action := []holds.Action{holds.Extend, holds.Release, holds.Void, holds.Void}[random.IntN(4)]
	o.held.over(t, o, h)
	after, err := r.Decide(t.Context(), by, holds.Decision{Hold: h.ID, Action: action, Reason: "r", Until: until})
	if tally(t, acts, string(action), err); err == nil && after.State == beacon.HoldIsVoided {
		acts["voided"]++
	}
}

// tally counts what was done, unless it was refused.
func tally(t *testing.T, acts map[string]int, what string, err error) {
	t.Helper()
	if e, ok := errors.AsType[*beacon.Error](err); ok && (e.Kind == beacon.Conflict || e.Kind == beacon.InvalidRequest) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	acts[what]++
}

// checkChain verifies all statements of a user: each follows the one before, and together
// they pay what the user is told.
func (o oracle) checkChain(t *testing.T, user beacon.UserID) {
	t.Helper()
	var paid beacon.Amount
	var last *statement.Report
	for _, month := range slices.Sorted(maps.Keys(o.settledMonths(t, user))) {
		report := o.document(t, user, month)
		if last != nil {
			if err := statement.Follows(*last, report); err != nil {
				t.Errorf("%s of %s: %v", month, user, err)
			}
		}
		paid, last = paid+report.Paid(), &report
	}
	s, err := o.rewards(o.db.Rewards()).Summary(t.Context(), anyone, earnings.SummaryQuery{User: user, Period: earnings.All})
	if err != nil || s.Settled != paid {
		t.Errorf("%s was paid %s, and is told %s, %v", user, paid, s.Settled, err)
	}
}
