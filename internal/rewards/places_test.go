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
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// spots are places a kilometre apart. Hotspots at the same one cover the same ground.
var spots = []geo.Point{{Lat: 40.5, Lng: -74}, {Lat: 40.51, Lng: -74}, {Lat: -33.9, Lng: 151.2}}

// street is a world of hotspots at spots, and knows what each should get. It shares no
// code with what it judges.
type street struct {
	*world
	places  policy.Policy
	minutes policy.Policy                // follows it, if it has a version
	stand   map[beacon.HotspotID][]stand // oldest first
	wanted  map[beacon.Day]map[beacon.HotspotID]ledger.Row
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

// newStreet pays places from a day on, and counts minutes from another on, if there is one.
func newStreet(t testing.TB, w *world, from beacon.Day, minutesFrom ...beacon.Day) *street {
	t.Helper()
	w.late = map[uint64]int{}
	s := &street{world: w, stand: map[beacon.HotspotID][]stand{}, wanted: map[beacon.Day]map[beacon.HotspotID]ledger.Row{}, places: policy.Policy{
		Version: 2, From: from, Availability: 1_000000, Performance: [3]beacon.Amount{0, 250000, 500000},
		PerGB: 20000, Cap: 250000, Radius: 50, Unproven: 500000,
	}}
	first := policy.Devices()[0]
	all := []ledger.Policy{{Version: 1, Text: first.Line()}, {Version: 2, From: from, Text: s.places.Line()}}
	for _, day := range minutesFrom {
		s.minutes = s.places
		s.minutes.Version, s.minutes.From, s.minutes.StandingADay = 3, day, 600
		all = append(all, ledger.Policy{Version: 3, From: day, Text: s.minutes.Line()})
	}
	if _, err := w.db.Ledger.KeepPolicies(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	return s
}

// inMinutes reports whether minutes count on a day.
func (s *street) inMinutes(day beacon.Day) bool {
	return s.minutes.Version > 0 && day >= s.minutes.From
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
	found := beacon.Verification{Point: spots[spot], AccuracyM: 5, Moved: true}
	tested, most := n%3 > 0, beacon.Tier(n/3%3)
	if tested {
		found.Test = [...]beacon.SpeedTest{{DownMbps: 10, UpMbps: 1, LatencyMs: 9}, {DownMbps: 70, UpMbps: 7, LatencyMs: 60}, {DownMbps: 100, UpMbps: 10, LatencyMs: 9}}[most]
	}
	_, err := s.db.Hotspots.UpdateHotspot(t.Context(), hotspot, beacon.Actor{}, beacon.HotspotVerified, func(h *beacon.Hotspot) (bool, error) {
		_, err := h.RecordVisit(found, by, s.now)
		h.Location.VerifiedAt = s.now
		return true, err
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

// where returns the spot of a hotspot on a day, since when it is there without a break, and
// whether that is proven.
func (s *street) where(hotspot beacon.HotspotID, day beacon.Day) (spot int, since beacon.Day, proven bool) {
	spot, since, found := s.found(hotspot, day)
	return spot, since, found || since < s.places.From && day < s.places.From+30 && !s.inMinutes(day)
}

// found is where, and whether a visit has proven it.
func (s *street) found(hotspot beacon.HotspotID, day beacon.Day) (spot int, since beacon.Day, proven bool) {
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
	return spot, since, proven
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
		id       beacon.HotspotID
		spot     int
		proven   bool
		standing int
		began    beacon.Day
		minutes  map[int]bool
		f        beacon.Facts
	}
	var all []party
	for id, f := range s.facts[day] {
		p := party{id: id, f: f, minutes: map[int]bool{}}
		p.spot, p.began, p.proven = s.where(id, day)
		for past := range s.facts {
			if spot, _, _ := s.where(id, past); past < day && spot == p.spot {
				p.standing += s.adds(id, day, past)
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
		return cmp.Or(b.standing-a.standing, compareText(a.id, b.id))
	})
	rows := map[beacon.HotspotID]ledger.Row{}
	for i, p := range all {
		row := ledger.Row{Day: day, Owned: beacon.Owned{User: s.owners[p.id], Hotspot: p.id}, Policy: 2, Facts: p.f}
		row.Ground = beacon.Ground{Counts: beacon.InDays, Standing: p.standing, Proof: 500000, Lat: int32(spots[p.spot].Lat * 1e7), Lng: int32(spots[p.spot].Lng * 1e7)}
		rules := &s.places
		if s.inMinutes(day) {
			row.Policy, row.Counts, row.Proof, rules = 3, beacon.InMinutes, 0, &s.minutes
		}
		if p.proven {
			row.Proof = 1_000000
		}
		lost := map[int]bool{}
		for _, senior := range all[:i] {
			met := false
			for m := range p.minutes {
				if senior.spot == p.spot && senior.minutes[m] && (senior.proven || !s.inMinutes(day)) {
					lost[m], met = true, true
				}
			}
			if met {
				row.Older++
			}
		}
		if row.Shared, row.Own = len(lost), 1_000000*int64(p.f.Served-len(lost)); row.Proof == 0 {
			row.Shared, row.Own, row.Older = 0, 0, 0
		}
		switch {
		case p.f.Excused == 0 || row.Proof == 0:
		case s.inMinutes(day):
			row.Due, row.Recent = s.due(p.id, day, p.began)
		default:
			row.Recent = s.rate(p.id, day, p.began)
		}
		row.Tier = min(s.facts[day-1][p.id].Tier, s.most(p.id, day))
		if s.inMinutes(day) && s.inMinutes(day-1) && row.Proof > 0 {
			row.Spare = s.spare(p.id, day-1)
		}
		row.Earned = rules.Reward(row.Facts) // judged by its own oracle
		rows[p.id] = row
	}
	s.wanted[day] = rows
	return rows
}

// adds is what a past day adds to the standing of a hotspot, as it is counted on a day.
func (s *street) adds(id beacon.HotspotID, day, past beacon.Day) int {
	served := s.facts[past][id].Served
	if !s.inMinutes(day) {
		return map[bool]int{true: 1}[served >= 60]
	}
	_, _, found := s.found(id, past)
	if s.inMinutes(past) {
		_, _, found = s.where(id, past) // whoever was paid
	}
	if !found {
		return 0
	}
	return min(served, 600)
}

// rate is what a hotspot owned of the minutes expected of it on the seven days before one.
func (s *street) rate(id beacon.HotspotID, day, began beacon.Day) int64 {
	var own, expected int64
	for past := max(day-7, began); past < day; past++ {
		if f := s.facts[past][id]; f.Expected > 0 {
			own, expected = own+s.owned(id, past), expected+int64(f.Expected)
		}
	}
	if expected == 0 {
		return 0
	}
	return own / expected
}

func (s *street) owned(id beacon.HotspotID, day beacon.Day) int64 {
	if day < s.places.From {
		return 1_000000 * int64(s.facts[day][id].Served)
	}
	return s.want(day)[id].Own
}

// spare is what a day with excused minutes leaves for traffic: of the most that it could have
// earned while we were down what it did not earn, and what it had before if it did not serve.
func (s *street) spare(id beacon.HotspotID, day beacon.Day) beacon.Amount {
	row, was := s.want(day)[id]
	if !was || row.Excused == 0 || row.Proof == 0 {
		return 0
	}
	outage := row.Due * row.Recent / 1_000_000
	most := int64(s.minutes.Cap) * outage / 1440 / 1_000_000 * row.Proof / 1_000_000
	if row.Served == 0 {
		most += int64(row.Spare)
	}
	whole := int64(s.minutes.Cap) * (row.Own + outage) / 1440 / 1_000_000 * row.Proof / 1_000_000
	return beacon.Amount(min(most, whole+int64(row.Spare)-int64(row.Utilization)))
}

// due is what the excused minutes of a day count for, and the share of the ground that is paid
// for them.
func (s *street) due(id beacon.HotspotID, day, began beacon.Day) (due, share int64) {
	is := s.didOf(s.facts[day][id])
	set := func(minutes *beacon.Minutes, m int) bool { return minutes[m/64]>>(m%64)&1 == 1 }
	for m := range 1440 {
		if !set(&is.ExcusedMinutes, m) {
			continue
		}
		var k, n int64
		for past := day - 1; past >= max(day-30, began) && n < 7; past-- {
			was := beacon.Did{}
			if f, did := s.facts[past][id]; did {
				was = s.didOf(f)
			}
			if set(&was.ExcusedMinutes, m) {
				continue
			}
			if n++; set(&was.Minutes, m) {
				k++
			}
		}
		if n > 0 {
			due += k * 1_000000 / n
		}
	}
	var own, served, days int64
	for past := day - 1; past >= max(day-30, began) && days < 7; past-- {
		if f := s.facts[past][id]; f.Served > 0 {
			days, own, served = days+1, own+s.owned(id, past), served+int64(f.Served)
		}
	}
	if served > 0 {
		share = own / served
	}
	return due, share
}

// check compares the rows of all days under the policy with what they should be.
func (s *street) check(t *testing.T) (rows int) {
	t.Helper()
	err := s.db.Ledger.Books(t.Context(), func(b ledger.Books) error {
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
	level.Repeats(t)
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		for seed := range uint64(3) {
			began := at("2026-10-25T00:00:00Z")
			random := rand.New(rand.NewPCG(seed, 20))
			minutesFrom := beacon.DayOf(began) + []beacon.Day{9, 6, 12}[seed]
			s := newStreet(t, newWorld(t, open(t, began), began, 3), beacon.DayOf(began)+5, minutesFrom)
			for n := range 7 {
				s.visit(t, s.register(t, s.users[n%3]), random.IntN(2), true)
			}
			wanderer := s.live()[0]
			home, _, _ := s.where(wanderer, s.today())
			for day := range 16 {
				if day == 3 || day == 8 { // away, and back
					s.visit(t, wanderer, []int{home, 2}[day%2], true)
				}
				s.someDay(t, random, day)
				s.checkOpen(t, s.today()-1, 1, 200, 777, 1400, 1440)
				if day > 0 && random.IntN(3) == 0 {
					r := s.world.rewards(&mortal{tables: s.db.Rewards(), left: random.IntN(6), after: random.IntN(2) == 0})
					r.inPagesOf(2)
					_ = r.Start(t.Context())
					_ = r.Step(t.Context())
				}
				s.step(t)
				if day == 9 || day == 13 {
					s.world.reopen(t, s.today()-beacon.Day(3))
					s.holds = true
					s.step(t) // counts
					// What is counted is what the first open day counts.
					for open := s.today() - 3; open < s.today() && s.inMinutes(open) == s.inMinutes(s.today()-3); open++ {
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
		r := s.world.rewards(s.db.Rewards())
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		totals := map[beacon.UserID]beacon.Amount{}
		for id, want := range rows {
			e, err := r.Explain(t.Context(), anyone, earnings.ExplainQuery{Hotspot: id, Day: &day})
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
func (s *street) checkTotal(t *testing.T, r process, user beacon.UserID, day beacon.Day, total beacon.Amount) {
	t.Helper()
	err := s.db.Ledger.Books(t.Context(), func(b ledger.Books) error {
		months, err := b.UserMonths(t.Context(), user, day.Month(), day.Month())
		for i := range months {
			total += months[i].Total()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := r.History(t.Context(), anyone, earnings.HistoryQuery{User: user, Page: beacon.Page{Number: 1, Size: 20}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range h.Items {
		if m.Month == day.Month() && m.Total() != total {
			t.Fatalf("the history of %s has %s for %s; want %s", user, m.Total(), m.Month, total)
		}
	}
	period := earnings.Current
	if day.Month() != s.today().Month() {
		period = earnings.Last
	}
	sum, err := r.Summary(t.Context(), anyone, earnings.SummaryQuery{User: user, Period: period})
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
	r := s.world.rewards(s.db.Rewards())
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	total := func(user beacon.UserID) beacon.Amount {
		t.Helper()
		sum, err := r.Summary(t.Context(), anyone, earnings.SummaryQuery{User: user, Period: earnings.Current})
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
	book := append(policy.Devices(), s.places, s.minutes)
	for _, user := range s.users {
		for month := beacon.MonthOf(began); month <= beacon.MonthOf(began)+1; month++ {
			r := s.world.rewards(s.db.Rewards())
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			st, err := r.Statement(t.Context(), anyone, earnings.StatementQuery{User: user, Month: month})
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
