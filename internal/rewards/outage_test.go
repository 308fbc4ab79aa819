package rewards_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/places"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// What a day pays depends on how long we were down in it, and not on when that began, how
// often the server started, or whether the hotspot was heard before the day was closed. What
// was carried meanwhile is paid within the most that these days pay.
func TestOutages_PayByLength(t *testing.T) {
	level.Repeats(t)
	whole, late, spared := 0, 0, 0
	for seed := range uint64(level.Rounds(300, 1000, 10_000)) {
		h := newDowntime(seed)
		ran := h.run(t)
		for version, due := range map[int]func(int) (pay, bool){2: h.due, 3: h.dueInMinutes} {
			paid := ran.paid(t, version)
			for day := range h.days - 1 {
				want, honest := due(day)
				got, closed := paid[day]
				if !closed || got != want {
					t.Fatalf("seed %d, day %d, policy %d, closed %v:\n got %+v\nwant %+v", seed, day, version, closed, got, want)
				}
				if honest && h.faultless && got.available != credit*int64(h.openMinutes(day))/1440 {
					t.Fatalf("seed %d, day %d, policy %d: one that was always there got %+v", seed, day, version, got)
				}
				if version == 3 && got.utilization > 250_000 {
					spared++
				}
				if got.excused == 1440 && got.available > 0 {
					whole++
					if h.late > 0 {
						late++
					}
				}
			}
		}
	}
	if whole < 200 || late < 60 || spared < 50 {
		t.Errorf("only %d days were excused from end to end and paid, %d before the hotspot was heard; on %d traffic was paid of days before", whole, late, spared)
	}
}

// The same 40 hours, and longer outages, as the ledger has them: each day of a hotspot that
// is always there pays the same, and a replay says so too.
func TestOutages_Closed(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		for name, down := range map[string][2]int{
			"40 h from 20:00": {8*1440 + 20*60, 40 * 60},
			"40 h from 10:00": {8*1440 + 10*60, 40 * 60},
			"48 h from 06:00": {8*1440 + 6*60, 48 * 60},
			"six days":        {8*1440 + 13*60, 6 * 1440},

			"40 h from 20:00, in minutes": {8*1440 + 20*60, 40 * 60},
			"six days, in minutes":        {8*1440 + 13*60, 6 * 1440},
		} {
			var minutesFrom []beacon.Day
			if strings.HasSuffix(name, "in minutes") {
				minutesFrom = []beacon.Day{beacon.DayOf(outagesBegin) + 1}
			}
			h := newDowntime(0)
			h.days, h.late, h.faultless, h.hours, h.tests = 17, 0, true, [2]int{0, 1440}, nil
			h.up, h.beats = make([]bool, h.days*1440), make([]bool, h.days*1440)
			for m := range h.up {
				h.up[m] = m < down[0] || m >= down[0]+down[1]
				if h.beats[m] = h.up[m] && m%4 == 0; h.beats[m] && m%360 < 5 {
					h.tests = append(h.tests, m)
				}
			}
			began := h.start.Time().Add(-time.Hour)
			s := newStreet(t, newWorld(t, open(t, began), began, 1), h.start, minutesFrom...)
			hotspot := s.register(t, s.users[0])
			_, err := s.db.Hotspots.UpdateHotspot(t.Context(), hotspot, beacon.Actor{}, beacon.HotspotVerified, func(h *beacon.Hotspot) (bool, error) {
				_, err := h.RecordVisit(beacon.Verification{Point: h.Location.Point, AccuracyM: 5}, beacon.Behind{User: "usr_staff"}, s.now)
				h.Location.VerifiedAt = s.now
				return true, err
			})
			if err != nil {
				t.Fatal(err)
			}
			s.midnight(t)
			ran := h.run(t)
			for day := range h.days - 1 {
				facts, err := heartbeat.RecordFacts(ran.disk[h.start+beacon.Day(day)])
				if err != nil {
					t.Fatal(err)
				}
				s.did(hotspot, facts)
				s.midnight(t)
			}
			s.step(t)
			r := s.world.rewards(s.db.Rewards())
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			for n := 1; n < h.days-1; n++ {
				day := h.start + beacon.Day(n)
				e, err := r.Explain(t.Context(), anyone, earnings.ExplainQuery{Hotspot: hotspot, Day: &day})
				if want := (beacon.Earned{Availability: credit, Performance: credit / 2}); err != nil || e.Open || e.Earned != want {
					t.Errorf("%s, day %d, %v, open %v: paid %+v; want %+v", name, n, err, e.Open, e.Earned, want)
				}
			}
			if got := s.replay(t, closing.ReplayQuery{From: h.start, To: s.today() - 1}); got.Differ != 0 || got.Rows != h.days-1 {
				t.Errorf("%s: replayed, %d of %d rows differ: %s", name, got.Differ, got.Rows, got.First)
			}
		}
	})
}

const credit = 1_000_000

var builtIn = policy.BuiltIn()

var outagesBegin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// downtime is some weeks of a hotspot that is alone, and of a service that is down at times.
type downtime struct {
	r     *rand.Rand
	start beacon.Day
	days  int
	up    []bool // by minute: the service
	beats []bool // and the hotspot
	tests []int  // minutes with a speed test
	hours [2]int // when it opens and closes

	faultless bool // it serves whenever it can
	rate      int  // bytes that it carries a minute, also while we are down; 0 if it closes at times
	late      int  // how many minutes after us it is back

	counted map[int]pay
	spares  map[int]int64
}

func newDowntime(seed uint64) *downtime {
	r := rand.New(rand.NewPCG(seed, 36))
	h := &downtime{r: r, start: beacon.DayOf(outagesBegin), days: 10 + r.IntN(8), hours: [2]int{0, 1440}, counted: map[int]pay{}, spares: map[int]int64{}}
	h.up, h.beats = make([]bool, h.days*1440), make([]bool, h.days*1440)
	for m := range h.up {
		h.up[m] = true
	}
	for range 1 + r.IntN(2) {
		long := []int{1 + r.IntN(90), 1 + r.IntN(1800), 1440 + r.IntN(2200), 1440 + r.IntN(5*1440)}[r.IntN(4)]
		from := 1440 + r.IntN(len(h.up)-1440)
		for m := from; m < min(from+long, len(h.up)-600); m++ {
			h.up[m] = false
		}
	}
	if r.IntN(3) == 0 {
		h.hours = [2]int{r.IntN(700), 720 + r.IntN(720)}
	}
	if r.IntN(2) == 0 {
		h.late = r.IntN(300)
	}
	h.faultless = h.late == 0 && r.IntN(3) > 0
	h.live()
	if h.hours == [2]int{0, 1440} {
		h.rate = r.IntN(20_000_000_000 / 1440)
	}
	return h
}

// live lets the hotspot send a beat every four minutes, which is enough to serve all of them,
// but when we are down, and when it fails.
func (h *downtime) live() {
	dead := len(h.up)
	if !h.faultless && h.r.IntN(3) == 0 {
		dead = h.r.IntN(len(h.up))
	}
	tested, silent := h.r.IntN(4) > 0, 0
	for m := range h.up {
		if silent--; !h.up[m] {
			silent = h.late
		} else if !h.faultless && h.r.IntN(700) == 0 {
			silent = h.r.IntN(400)
		}
		if h.beats[m] = h.up[m] && silent < 0 && m < dead && m%4 == 0; h.beats[m] && tested && m%360 < 5 {
			h.tests = append(h.tests, m)
		}
		silent = max(silent, 0)
	}
}

// server is one that starts again after each outage, what it has on disk, and the rows of
// the days that it closed.
type server struct {
	*downtime
	memory  *fleet.Fleet
	spans   []heartbeat.Span // in which it was up
	hotspot beacon.Hotspot
	raw     id.Raw // its id

	disk    map[beacon.Day][]byte
	journal []heartbeat.Beat             // that is not in records
	certain time.Time                    // of the last fold
	trusts  int                          // the minute from which on it trusts its clock
	rows    [2]map[beacon.Day]ledger.Row // under policies 2 and 3
	closed  map[beacon.Day][]byte
}

// pay is what is compared of a day.
type pay struct {
	served, expected, excused, closed int
	tier                              beacon.Tier
	available, performance            int64
	utilization                       int64
}

// run lets a server live through it.
func (h *downtime) run(t *testing.T) *server {
	t.Helper()
	s := &server{
		downtime: h, disk: map[beacon.Day][]byte{}, rows: [2]map[beacon.Day]ledger.Row{{}, {}}, closed: map[beacon.Day][]byte{},
	}
	s.hotspot.ID, s.hotspot.Version = "hs_01m7cmhxm0e00bnea55tgwqmnc", 1
	s.raw, _ = id.Parse(beacon.HotspotPrefix, string(s.hotspot.ID))
	s.hotspot.Location.VerifiedAt, s.hotspot.Device.LinkedAt = h.start.Time(), h.start.Time()
	if h.hours != [2]int{0, 1440} {
		s.hotspot.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC", Weekly: []beacon.WeeklySpan{
			{Days: []beacon.Weekday{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, Open: h.hours[0], Close: h.hours[1]},
		}}
	}
	often, down := 20+h.r.IntN(100), true
	for m, up := range h.up {
		switch {
		case up && down:
			s.begin(t, m)
		case !up && !down:
			s.spans[len(s.spans)-1].To = s.minute(m - 1)
		}
		if down = !up; down {
			continue
		}
		s.beat(m)
		if m%often == 0 || m == len(h.up)-1 {
			s.fold(t, m)
		}
	}
	return s
}

// paid returns what was paid for each day that was closed, under policy 2 or 3.
func (s *server) paid(t *testing.T, version int) map[int]pay {
	t.Helper()
	paid := map[int]pay{}
	for day, row := range s.rows[version-2] {
		if !bytes.Equal(s.closed[day], s.disk[day]) {
			t.Errorf("the record of %v was changed after it was closed", day)
		}
		paid[int(day-s.start)] = pay{
			row.Served, row.Expected, row.Excused, row.Closed, row.Tier, int64(row.Earned.Availability), int64(row.Earned.Performance), int64(row.Earned.Utilization),
		}
	}
	return paid
}

func (h *downtime) minute(m int) beacon.Minute { return h.start.Midnight() + beacon.Minute(m) }

// begin starts the server with what is on disk, and what the journal has in addition.
func (s *server) begin(t *testing.T, m int) {
	t.Helper()
	s.spans = append(s.spans, heartbeat.Span{From: s.minute(m), To: s.minute(m) + 1<<20})
	s.memory = fleet.New(func(beacon.Hotspot, *beacon.Hotspot) string { return "" })
	s.memory.SetUptime(s.spans)
	if err := s.memory.Apply(s.hotspot); err != nil {
		t.Fatal(err)
	}
	needed := true
	for day := s.start + beacon.Day(s.days); day >= s.start && needed; day-- {
		if data, ok := s.disk[day]; ok {
			record, err := heartbeat.DecodeRecord(data)
			if err != nil {
				t.Fatal(err)
			}
			s.memory.Restore(s.hotspot.ID, record)
			needed = record.NeedsDayBefore()
		}
	}
	s.memory.Replay(s.journal)
	if s.trusts = m; m > 0 {
		s.trusts += 10 + s.r.IntN(100)
	}
}

func (s *server) beat(m int) {
	if !s.beats[m] {
		return
	}
	b := heartbeat.Beat{Hotspot: s.raw, At: s.minute(m).Time().UnixMicro() + 7e6, Heartbeat: beacon.Heartbeat{Boot: 1, Seq: uint64(m) + 1, Bytes: uint64(s.rate * (m + 1))}}
	if len(s.tests) > 0 && m%360 < 5 {
		b.Test = beacon.SpeedTest{DownMbps: 200, UpMbps: 30, LatencyMs: 9}
	}
	s.memory.Replay([]heartbeat.Beat{b})
	s.journal = append(s.journal, b)
}

// fold writes records, and closes the days that are final.
func (s *server) fold(t *testing.T, m int) {
	t.Helper()
	now := s.minute(m).Time()
	at := heartbeat.Moment{Certain: s.certain, Now: now, Latest: beacon.LastMinute}
	if m >= s.trusts {
		at = heartbeat.Moment{Certain: now, Now: now, Final: heartbeat.FinalAt(s.minute(m)), Back: s.minute(m), Latest: beacon.LastMinute}
		s.certain = now
	}
	s.memory.Refresh(now)
	rows, finish := s.memory.Fold([]beacon.HotspotID{s.hotspot.ID}, at)
	for _, r := range rows {
		s.disk[r.Day] = r.Data
	}
	finish(true)
	s.journal = nil
	for day := s.start; day < at.Final; day++ {
		if _, closed := s.closed[day]; !closed {
			s.close(t, day)
		}
	}
}

// close makes the rows of a day under the policies that pay places, as closing does for a
// hotspot that is alone.
func (s *server) close(t *testing.T, day beacon.Day) {
	t.Helper()
	s.closed[day] = s.disk[day]
	if s.disk[day] == nil {
		return
	}
	did := s.did(t, day)
	did.Facts.Tier = s.did(t, day-1).Tier
	for i, terms := range builtIn[1:] {
		d := &places.Division{Day: day, Rules: &terms, Claims: map[beacon.HotspotID]*places.Claim{"": {Proof: credit, Began: s.start}}}
		err := d.AddDue(map[beacon.HotspotID]*beacon.Minutes{"": &did.ExcusedMinutes}, func(past beacon.Day, _ []beacon.HotspotID) (map[beacon.HotspotID]beacon.Did, error) {
			return map[beacon.HotspotID]beacon.Did{"": s.did(t, past)}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		rates, err := places.Recent(d, []beacon.HotspotID{""}, func(day beacon.Day) ([]ledger.Row, error) {
			if row, any := s.rows[i][day]; any {
				return []ledger.Row{row}, nil
			}
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		facts := did.Facts
		facts.Ground = beacon.Ground{Counts: terms.Counts(), Own: credit * int64(facts.Served), Due: d.Claims[""].Due, Proof: credit, Recent: rates[""]}
		if before, closed := s.rows[i][day-1]; closed {
			facts.Spare = terms.Spare(before.Facts, before.Utilization)
		}
		s.rows[i][day] = ledger.Row{Day: day, Facts: facts, Earned: terms.Reward(facts)}
	}
}

// did is what the record of a day says.
func (s *server) did(t *testing.T, day beacon.Day) beacon.Did {
	t.Helper()
	if s.disk[day] == nil {
		return beacon.Did{}
	}
	did, err := heartbeat.RecordDid(s.disk[day])
	if err != nil {
		t.Fatal(err)
	}
	return did
}
