package rewards_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
)

// replay replays days, and its sums must add up.
func (w *world) replay(t *testing.T, q closing.ReplayQuery) *closing.Replay {
	t.Helper()
	r := w.rewards(w.db.Rewards())
	r.inPagesOf(3)
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	days, sum := 0, closing.Replay{}
	got, err := r.Replay(t.Context(), q, func(d closing.ReplayedDay) error {
		if d.Done {
			days++
			sum.Rows, sum.Was, sum.Is = sum.Rows+d.Rows, sum.Was.Plus(d.Was), sum.Is.Plus(d.Is)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var was, is beacon.Earned
	for i := range got.Operators {
		o := &got.Operators[i]
		was, is = was.Plus(o.Was), is.Plus(o.Is)
		if i > 0 && o.User <= got.Operators[i-1].User || o.Hotspots == 0 || o.Change() != o.Is.Total()-o.Was.Total() {
			t.Errorf("%+v after %+v", o, got.Operators[max(i-1, 0)])
		}
	}
	if was != got.Was || is != got.Is || days != int(q.To-q.From)+1 {
		t.Errorf("%d days: %+v and %+v, but the operators have %+v and %+v", days, got.Was, got.Is, was, is)
	}
	if sum.Rows != got.Rows || sum.Was != got.Was || sum.Is != got.Is {
		t.Errorf("the days have %+v; want %+v", sum, got)
	}
	return got
}

// checkReplay replays what was closed: the policies in force give what the ledger has, and
// another policy what it would have given.
func (s *street) checkReplay(t *testing.T, random *rand.Rand, began beacon.Day) {
	t.Helper()
	last := s.today() - 1
	same := func(q closing.ReplayQuery) {
		t.Helper()
		if got := s.replay(t, q); got.Differ != 0 || got.Was != got.Is || got.Rows == 0 {
			t.Fatalf("%d of %d rows differ: %s", got.Differ, got.Rows, got.First)
		}
	}
	same(closing.ReplayQuery{From: began, To: last})
	inDays := s.minutes.From - 1
	middle := s.places.From + beacon.Day(random.IntN(int(inDays-s.places.From)+1))
	same(closing.ReplayQuery{From: middle, To: last})
	same(closing.ReplayQuery{From: s.places.From, To: inDays, Policy: &s.places})
	same(closing.ReplayQuery{From: middle, To: inDays, Policy: &s.places})
	same(closing.ReplayQuery{From: s.minutes.From + 1, To: last, Policy: &s.minutes})

	devices := policy.Devices()[0]
	lots := map[beacon.UserID]beacon.Earned{}
	for _, version := range []int{0, 3} {
		sooner := *s // a street that paid places from its first day on, and maybe counted minutes
		sooner.places.From, sooner.wanted = began, map[beacon.Day]map[beacon.HotspotID]ledger.Row{}
		sooner.minutes.Version, sooner.minutes.From = version, began
		rules := map[int]*policy.Policy{0: &s.places, 3: &s.minutes}[version]
		places := map[beacon.UserID]beacon.Earned{}
		clear(lots)
		for day := began; day <= last; day++ {
			for id, row := range sooner.want(day) {
				user := s.ownerOn(id, day)
				places[user] = places[user].Plus(row.Earned)
				lots[user] = lots[user].Plus(devices.Reward(s.facts[day][id]))
			}
		}
		for _, o := range s.replay(t, closing.ReplayQuery{From: began, To: last, Policy: rules}).Operators {
			if o.Is != places[o.User] {
				t.Errorf("paid by place, policy %d, %s would have got %+v; want %+v", version, o.User, o.Is, places[o.User])
			}
		}
	}
	for _, o := range s.replay(t, closing.ReplayQuery{From: began, To: last, Policy: &devices}).Operators {
		if o.Is != lots[o.User] {
			t.Errorf("paid by device, %s would have got %+v; want %+v", o.User, o.Is, lots[o.User])
		}
	}
}

// TestReplay_Refused: only closed days can be replayed.
func TestReplay_Refused(t *testing.T) {
	began := at("2026-11-10T00:00:00Z")
	w := newWorld(t, openSQLite(t, began), began, 1)
	day := beacon.DayOf(began)
	most := 0
	refused := func(from, to beacon.Day, why string) {
		t.Helper()
		_, err := w.rewards(w.db.Rewards()).Replay(t.Context(), closing.ReplayQuery{From: from, To: to, MaxRows: most}, func(closing.ReplayedDay) error { return errGone })
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("from %s to %s: %v; want %q", from, to, err, why)
		}
	}
	refused(day, day, "no day is closed")
	w.register(t, w.users[0])
	w.pass(t, 2, whole)
	refused(day+1, day, "2026-11-11 is after 2026-11-10")
	refused(day-1, day, "the first closed day is 2026-11-10")
	refused(day, day+2, "the last closed day is 2026-11-11")
	most = 1
	refused(day, day+1, "these days have 2 rows, more than the 1 ")
	refused(day, day, errGone.Error()) // of whom it is for
}

var errGone = errors.New("the reader is gone")

// TestReplay_Damaged: a row that is not what its records give is found.
func TestReplay_Damaged(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		began := at("2026-11-10T00:00:00Z")
		w := newWorld(t, open(t, began), began, 1)
		hotspot := w.register(t, w.users[0])
		w.pass(t, 2, whole)
		day := beacon.DayOf(began)
		if err := w.db.Records.PutRecords(t.Context(), w.held, []beacon.RecordRow{{Hotspot: hotspot, Day: day, Data: []byte("damaged")}}); err != nil {
			t.Fatal(err)
		}
		got := w.replay(t, closing.ReplayQuery{From: day, To: day + 1})
		if want := string(hotspot) + " on 2026-11-10: has a row but no record"; got.Differ != 1 || got.First != want {
			t.Errorf("%d rows differ: %s; want %s", got.Differ, got.First, want)
		}
	})
}

// TestReplay_NoRecords: the rows of a day that has lost all its records are found too.
func TestReplay_NoRecords(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		began := at("2026-11-10T00:00:00Z")
		day := beacon.DayOf(began)
		for name, places := range map[string]beacon.Day{"devices": day + 100, "places": day} {
			w := newWorld(t, open(t, began), began, 1)
			newStreet(t, w, places)
			hotspot := w.register(t, w.users[0])
			w.pass(t, 2, whole)
			if err := w.db.Records.ForgetRecords(t.Context(), w.held, day); err != nil {
				t.Fatal(err)
			}
			got := w.replay(t, closing.ReplayQuery{From: day, To: day + 1})
			if want := string(hotspot) + " on 2026-11-11: has a row but no record"; got.Differ != 1 || got.First != want {
				t.Errorf("%s: %d of %d rows differ: %s; want %s", name, got.Differ, got.Rows, got.First, want)
			}
		}
	})
}
