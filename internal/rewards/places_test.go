package rewards_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
	"github.com/beacon-wifi/beacon/internal/store"
)

// spots are places a kilometre apart. Hotspots at the same one cover the same ground.
var spots = []geo.Point{{Lat: 40.5, Lng: -74}, {Lat: 40.51, Lng: -74}, {Lat: -33.9, Lng: 151.2}}

// street is a world of hotspots at spots, and knows what each should get. It shares no
// code with what it judges.
type street struct {
	*world
	places policy.Policy
	stand  map[beacon.HotspotID][]stand // oldest first
	wanted map[beacon.Day]map[beacon.HotspotID]ledger.Row
}

// stand is a place of a hotspot from a day on, or a visit that proves it, from a day on.
type stand struct {
	spot   int
	from   beacon.Day
	proves bool
	at     time.Time
	most   beacon.Tier // what it measured, from the next day on
	tested bool
}

func newStreet(t testing.TB, w *world, from beacon.Day) *street {
	t.Helper()
	w.late = map[uint64]int{}
	s := &street{world: w, stand: map[beacon.HotspotID][]stand{}, wanted: map[beacon.Day]map[beacon.HotspotID]ledger.Row{}, places: policy.Policy{
		Version: 2, From: from, Availability: 1_000000, Performance: [3]beacon.Amount{0, 250000, 500000},
		PerGB: 20000, Cap: 250000, Radius: 50, Unproven: 500000,
	}}
	first := policy.Devices()[0]
	_, err := w.db.KeepPolicies(t.Context(), []ledger.Policy{
		{Version: 1, Text: first.Line()}, {Version: 2, From: from, Text: s.places.Line()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// visit lets staff, or the operator, find a hotspot at a spot.
func (s *street) visit(t *testing.T, hotspot beacon.HotspotID, spot int, byStaff bool) {
	t.Helper()
	by := s.owners[hotspot]
	if byStaff {
		by = "usr_staff"
	}
	// Some visits measure a speed. Those of the operator do not count.
	n := len(s.stand[hotspot]) + len(hotspot) + spot + int(s.today())
	found := beacon.Verification{Point: spots[spot], AccuracyM: 5}
	tested, most := n%3 > 0, beacon.Tier(n/3%3)
	if tested {
		found.Test = [...]beacon.SpeedTest{{DownMbps: 10, UpMbps: 1, LatencyMs: 9}, {DownMbps: 70, UpMbps: 7, LatencyMs: 60}, {DownMbps: 100, UpMbps: 10, LatencyMs: 9}}[most]
	}
	_, err := s.db.UpdateHotspot(t.Context(), hotspot, beacon.Actor{}, beacon.HotspotVerified, func(h *beacon.Hotspot) (bool, error) {
		h.RecordVisit(found, by, s.now)
		h.Location.VerifiedAt = s.now
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	from := s.today() + 1
	if len(s.stand[hotspot]) == 0 {
		from--
	}
	s.stand[hotspot] = append(s.stand[hotspot], stand{spot, from, byStaff, s.now, most, tested && byStaff})
}

// where returns the spot of a hotspot on a day, since when it is there, and whether that
// is proven.
func (s *street) where(hotspot beacon.HotspotID, day beacon.Day) (spot int, since beacon.Day, proven bool) {
	spot = -1
	for _, v := range s.stand[hotspot] {
		if v.from > day {
			break
		}
		if v.spot != spot {
			spot, since, proven = v.spot, v.from, false
		}
		proven = proven || v.proves
	}
	return spot, since, proven || since < s.places.From && day < s.places.From+30
}

// most returns the highest tier that visits let a hotspot have on a day.
func (s *street) most(hotspot beacon.HotspotID, day beacon.Day) beacon.Tier {
	most, spot := beacon.Premium, -1
	for _, v := range s.stand[hotspot] {
		if v.from > day {
			break
		}
		if v.spot != spot {
			most, spot = beacon.Premium, v.spot
		}
		if v.tested && beacon.DayOf(v.at) < day {
			most = v.most
		}
	}
	return most
}

// acts lets a hotspot do something today, some minutes after midnight.
func (s *street) acts(hotspot beacon.HotspotID, begin int, f beacon.Facts) {
	for s.late[f.Bytes] != 0 || f.Bytes == 0 {
		f.Bytes++
	}
	s.late[f.Bytes] = begin
	s.did(hotspot, f)
}

// want is what the rows of a day that is over should be.
func (s *street) want(day beacon.Day) map[beacon.HotspotID]ledger.Row {
	if rows := s.wanted[day]; rows != nil {
		return rows
	}
	type party struct {
		id      beacon.HotspotID
		spot    int
		proven  bool
		days    int
		since   beacon.Day
		minutes map[int]bool
		f       beacon.Facts
	}
	var all []party
	for id, f := range s.facts[day] {
		p := party{id: id, f: f, minutes: map[int]bool{}}
		p.spot, p.since, p.proven = s.where(id, day)
		for past := p.since; past < day; past++ {
			if s.facts[past][id].Served >= 60 {
				p.days++
			}
		}
		for m := range f.Served {
			p.minutes[m+s.late[f.Bytes]] = true
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b party) int {
		if a.proven != b.proven {
			return map[bool]int{true: -1, false: 1}[a.proven]
		}
		return cmp.Or(b.days-a.days, compareText(a.id, b.id))
	})
	rows := map[beacon.HotspotID]ledger.Row{}
	for i, p := range all {
		row := ledger.Row{Day: day, Owned: beacon.Owned{User: s.owners[p.id], Hotspot: p.id}, Policy: 2, Facts: p.f}
		row.Ground = beacon.Ground{Proof: 500000, Days: p.days, Lat: int32(spots[p.spot].Lat * 1e7), Lng: int32(spots[p.spot].Lng * 1e7)}
		if p.proven {
			row.Proof = 1_000000
		}
		lost := map[int]bool{}
		for _, senior := range all[:i] {
			met := false
			for m := range p.minutes {
				if senior.spot == p.spot && senior.minutes[m] {
					lost[m], met = true, true
				}
			}
			if met {
				row.Older++
			}
		}
		row.Shared, row.Own = len(lost), 1_000000*int64(p.f.Served-len(lost))
		if p.f.Excused > 0 {
			var own, expected int64
			for past := max(day-7, p.since); past < day; past++ {
				f := s.facts[past][p.id]
				if expected += int64(f.Expected); past < s.places.From {
					own += 1_000000 * int64(f.Served)
				} else if f.Expected > 0 {
					own += s.want(past)[p.id].Own
				}
			}
			if expected > 0 {
				row.Recent = own / expected
			}
		}
		row.Tier = min(s.facts[day-1][p.id].Tier, s.most(p.id, day))
		row.Earned = s.places.Reward(row.Facts) // judged by its own oracle
		rows[p.id] = row
	}
	s.wanted[day] = rows
	return rows
}

// check compares the rows of all days under the policy with what they should be.
func (s *street) check(t *testing.T) (rows int) {
	t.Helper()
	err := s.db.Books(t.Context(), func(b ledger.Books) error {
		closing, _, err := b.Closing(t.Context())
		if err != nil {
			return err
		}
		for day := s.places.From; day <= closing.Through(); day++ {
			for id, want := range s.want(day) {
				got, any, err := b.Row(t.Context(), day, want.Owned)
				if err != nil {
					return err
				}
				got.Revision = 0
				if !any || got != want {
					t.Fatalf("%s on %s is\n%+v; want\n%+v", id, day, got, want)
				}
				rows++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Days are closed by place, and each hotspot gets what it should, even if a process dies
// meanwhile or days are opened again.
func TestPlaces(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		for seed := range uint64(3) {
			began := at("2026-10-25T00:00:00Z")
			random := rand.New(rand.NewPCG(seed, 20))
			s := newStreet(t, newWorld(t, open(t, began), began, 3), beacon.DayOf(began)+5)
			for n := range 7 {
				s.visit(t, s.register(t, s.users[n%3]), random.IntN(2), true)
			}
			for day := range 16 {
				s.someDay(t, random, day)
				s.checkOpen(t, s.today()-1, 1, 200, 777, 1400, 1440)
				if day > 0 && random.IntN(3) == 0 {
					r := s.world.rewards(&mortal{Store: s.db, left: random.IntN(6), after: random.IntN(2) == 0})
					r.InPagesOf(2)
					_ = r.Start(t.Context())
					_ = r.Step(t.Context())
				}
				s.step(t)
				if day == 9 || day == 13 {
					s.world.reopen(t, s.today()-beacon.Day(3))
					s.holds = true
					s.step(t) // counts
					for open := s.today() - 3; open < s.today(); open++ {
						s.checkOpen(t, open, 1440)
					}
					s.holds = false
					s.step(t)
				}
			}
			if rows := s.check(t); rows < 60 {
				t.Errorf("only %d rows", rows)
			}
			s.checkReplay(t, random, beacon.DayOf(began))
			s.checkStatements(t, began)
		}
	})
}

// checkOpen compares what is said of a day that is over and not closed with the row that
// closing should write. The minutes of the day come in steps: what is earned never falls.
func (s *street) checkOpen(t *testing.T, day beacon.Day, steps ...int) {
	t.Helper()
	if day < s.places.From {
		return
	}
	earned := map[beacon.HotspotID]beacon.Earned{}
	rows := s.want(day)
	for _, minute := range steps {
		s.decided = map[beacon.Day]int{day: minute}
		r := s.world.rewards(s.db)
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		totals := map[beacon.UserID]beacon.Amount{}
		for id, want := range rows {
			e, err := r.Explain(t.Context(), anyone, rewards.ExplainQuery{Hotspot: id, Day: &day})
			if err != nil {
				t.Fatal(err)
			}
			was := earned[id]
			if !e.Open || e.Earned.Availability < was.Availability || e.Earned.Performance < was.Performance || e.Earned.Utilization < was.Utilization {
				t.Fatalf("%s had earned %+v on %s, and %d minutes after it began %+v", id, was, day, minute, e)
			}
			if minute == 1440 && (e.Facts != want.Facts || e.Earned != want.Earned) {
				t.Fatalf("%s on %s is said to be\n%+v, %+v; want\n%+v, %+v", id, day, e.Facts, e.Earned, want.Facts, want.Earned)
			}
			earned[id] = e.Earned
			totals[s.owners[id]] += e.Earned.Total()
		}
		for user, total := range totals {
			if day == s.today()-1 && !s.holds {
				s.checkTotal(t, r, user, day, total)
			}
		}
	}
	s.decided = nil
}

// checkTotal checks that a summary and a history have what an open day has earned, with
// the closed ones.
func (s *street) checkTotal(t *testing.T, r *rewards.Rewards, user beacon.UserID, day beacon.Day, total beacon.Amount) {
	t.Helper()
	err := s.db.Books(t.Context(), func(b ledger.Books) error {
		months, err := b.UserMonths(t.Context(), user, day.Month(), day.Month())
		for i := range months {
			total += months[i].Total()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := r.History(t.Context(), anyone, rewards.HistoryQuery{User: user, Page: beacon.Page{Number: 1, Size: 20}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range h.Items {
		if m.Month == day.Month() && m.Total() != total {
			t.Fatalf("the history of %s has %s for %s; want %s", user, m.Total(), m.Month, total)
		}
	}
	period := rewards.Current
	if day.Month() != s.today().Month() {
		period = rewards.Last
	}
	sum, err := r.Summary(t.Context(), anyone, rewards.SummaryQuery{User: user, Period: period})
	if err != nil || sum.Total.Total() != total {
		t.Fatalf("the summary of %s has %s; want %s, %v", user, sum.Total.Total(), total, err)
	}
}

// TestPlaces_Kept: what was computed of an open day is kept until the minute is over.
func TestPlaces_Kept(t *testing.T) {
	began := at("2026-10-25T12:00:00Z")
	s := newStreet(t, newWorld(t, openSQLite(t, began), began, 2), beacon.DayOf(began))
	hotspots := []beacon.HotspotID{s.register(t, s.users[0]), s.register(t, s.users[1])}
	for _, hotspot := range hotspots {
		s.visit(t, hotspot, 0, true)
		s.acts(hotspot, 0, beacon.Facts{Served: 600, Expected: 720})
	}
	r := s.world.rewards(s.db)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	total := func(user beacon.UserID) beacon.Amount {
		t.Helper()
		sum, err := r.Summary(t.Context(), anyone, rewards.SummaryQuery{User: user, Period: rewards.Current})
		if err != nil {
			t.Fatal(err)
		}
		return sum.Total.Total()
	}
	// Of two with the same standing, the lower id comes first.
	older, younger := 0, 1
	if hotspots[1] < hotspots[0] {
		older, younger = 1, 0
	}
	before, none := total(s.users[older]), total(s.users[younger])
	asked := s.asked
	s.now = s.now.Add(59 * time.Second)
	s.acts(hotspots[older], 0, beacon.Facts{Served: 700, Expected: 721})
	if again := total(s.users[older]); again != before || s.asked != asked || before == 0 || none > 1 {
		t.Errorf("%s, and %s later in the minute; asked %d times after %d; the younger has %s", before, again, s.asked, asked, none)
	}
	s.now = s.now.Add(time.Second)
	if later := total(s.users[older]); later <= before {
		t.Errorf("%s, and %s a minute later", before, later)
	}
	s.now = s.now.Add(-time.Hour) // the clock is set back
	total(s.users[older])
	asked = s.asked
	if total(s.users[older]); s.asked != asked {
		t.Error("nothing is kept after the clock was set back")
	}
}

// someDay lets hotspots do something for a day, move, and come.
func (s *street) someDay(t *testing.T, random *rand.Rand, day int) {
	t.Helper()
	live := s.live()
	if random.IntN(3) == 0 {
		s.visit(t, live[random.IntN(len(live))], random.IntN(len(spots)), random.IntN(3) > 0)
	}
	if day > 5 && random.IntN(3) == 0 && len(live) < 12 {
		s.visit(t, s.register(t, s.users[random.IntN(3)]), random.IntN(2), random.IntN(2) == 0)
	}
	for _, id := range s.live() {
		if random.IntN(6) == 0 {
			continue // dark
		}
		f := beacon.Facts{Expected: 1440, Bytes: random.Uint64N(30e9), Tier: beacon.Tier(random.IntN(3))}
		if day%5 == 4 {
			f.Excused = 1 + random.IntN(600)
		}
		if random.IntN(4) == 0 {
			f.Closed = random.IntN(600)
		}
		f.Expected -= f.Excused + f.Closed
		f.Served = [...]int{f.Expected, random.IntN(f.Expected + 1), random.IntN(100)}[random.IntN(3)]
		f.Served = min(f.Served, f.Expected)
		s.acts(id, random.IntN(1440-f.Served+1), f)
	}
	s.midnight(t)
}

// checkStatements settles the months and verifies their statements without a database.
func (s *street) checkStatements(t *testing.T, began time.Time) {
	t.Helper()
	s.now = at("2026-12-05T00:00:00Z")
	s.step(t)
	book := append(policy.Devices(), s.places)
	for _, user := range s.users {
		for month := beacon.MonthOf(began); month <= beacon.MonthOf(began)+1; month++ {
			r := s.world.rewards(s.db)
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			st, err := r.Statement(t.Context(), anyone, rewards.StatementQuery{User: user, Month: month})
			if err != nil {
				t.Fatal(err)
			}
			var document bytes.Buffer
			err = statement.WriteJSON(&document, &st.Statement, st.Policies, func(fn func(ledger.Row, ledger.Hash) error) error { return st.Each(t.Context(), fn) })
			if err != nil {
				t.Fatal(err)
			}
			if _, err := statement.Verify(&document, book); err != nil {
				t.Errorf("%s for %s: %v", user, month, err)
			}
		}
	}
}
