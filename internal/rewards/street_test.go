package rewards_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
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
		_, err := h.RecordVisit(found, beacon.Behind{User: by}, s.now)
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
		row := ledger.Row{Day: day, Owned: beacon.Owned{User: s.ownerOn(p.id, day), Hotspot: p.id}, Policy: 2, Facts: p.f}
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
		_, _, found = s.where(id, past) // only what was found is paid
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
