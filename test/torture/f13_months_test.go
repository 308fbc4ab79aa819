//go:build linux

package torture_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// daysIn counts by the rule of Pope Gregory, not by package time.
func daysIn(year, month int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	default:
		return 31
	}
}

// gregorian is a month, with the second at which it begins, counted by hand.
type gregorian struct {
	year, month, days int
	begins            int64
}

func (g gregorian) String() string { return fmt.Sprintf("%04d-%02d", g.year, g.month) }

func (g gregorian) start() string { return g.String() + "-01T00:00:00.000Z" }

// gregorians are all months from 1970 to 2100.
func gregorians() (all []gregorian) {
	begins := int64(0)
	for year := 1970; year <= 2100; year++ {
		for month := 1; month <= 12; month++ {
			days := daysIn(year, month)
			all = append(all, gregorian{year, month, days, begins})
			begins += int64(days) * 24 * 60 * 60
		}
	}
	return all
}

// TestF13_Periods asks servers in places whose clocks jump, or are 45 minutes
// off, what the current month is and what the last one, at instants from 1970 to
// 2100: around the beginning of each month, and on the days from the 29th on, of
// which the month before may have none. Months tile the axis of time, in UTC.
func TestF13_Periods(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"America/New_York", "Asia/Kathmandu"}[:rounds(1, 2, 2)] {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(level.Seed(t), 13))
			db := harness.NewDatabase(t, "sqlite")
			client := harness.NewClient(t, harness.CreateKey(t, db, "rewards:read").Key)
			clock := newHeldClock(t, time.Unix(0, 0).UTC(), 1)
			clock.Environment = append(clock.Environment, "TZ="+zone)
			s := clock.Start(t, db, clock.Flags()...)
			months := gregorians()
			asked := 0
			for i := 1; i < len(months)-1; i++ {
				if !full() && months[i].year != 2026 && random.IntN(30) != 0 {
					continue
				}
				for _, second := range instants(random, months[i]) {
					clock.hold(t, time.Unix(second, 0))
					askPeriods(t, client, s, months[i-1:i+2])
					asked++
				}
				if t.Failed() {
					t.FailNow()
				}
			}
			t.Logf("asked %d times", asked)
		})
	}
}

// instants are some of a month, in seconds since 1970: its beginning and its end,
// and a moment of each day from the 29th on.
func instants(random *rand.Rand, g gregorian) []int64 {
	const day = 24 * 60 * 60
	end := g.begins + int64(g.days)*day
	list := []int64{g.begins, end - 1, end - 1 - random.Int64N(5*60*60), g.begins + random.Int64N(6*60*60)}
	for d := 29; d <= g.days; d++ {
		list = append(list, g.begins+int64(d-1)*day+random.Int64N(day))
	}
	return list
}

// askPeriods wants the middle one of three months as the current one, and the
// first as the last one.
func askPeriods(t *testing.T, c *harness.Client, s *harness.Server, months []gregorian) {
	t.Helper()
	for period, want := range map[string][]gregorian{"current": months[1:], "last": months[:2]} {
		got, a, ok := audit.Fetch[audit.Summary](t, c, s.URL+"/v1/users/me/rewards?period="+period)
		if !ok {
			return
		}
		if got.Period.Start != want[0].start() || got.Period.End != want[1].start() {
			t.Errorf("at %v %s is from %s to %s; want %s to %s", a.At, period, got.Period.Start, got.Period.End, want[0].start(), want[1].start())
		}
	}
}

// TestF13_Minutes closes and settles whole months of places whose clocks jump: a
// November of 721 hours in New York, a leap February in Kathmandu. Each hotspot
// has a row for every day, and each day 1440 minutes.
func TestF13_Minutes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		zone, store string
		month       gregorian
	}{
		{"America/New_York", "sqlite", gregorian{year: 2026, month: 11, days: 30}},
		{"Asia/Kathmandu", "postgres", gregorian{year: 2028, month: 2, days: 29}},
	}[:rounds(1, 2, 2)] {
		t.Run(test.zone, func(t *testing.T) {
			t.Parallel()
			settleMonth(t, harness.NewDatabase(t, test.store), test.month, "TZ="+test.zone)
		})
	}
}

func settleMonth(t *testing.T, db string, g gregorian, zone string) {
	t.Helper()
	first := audit.DayOf(time.Date(g.year, time.Month(g.month), 1, 0, 0, 0, 0, time.UTC))
	var days []audit.Day
	for d := range audit.Day(g.days) {
		days = append(days, first+d)
	}
	noon := harness.NewHeldClock(t, days[0].Time().Add(12*time.Hour))
	noon.Environment = append(noon.Environment, zone)
	staff, _ := audit.Prepare(t, noon, db, audit.Few, days...)
	later := days[len(days)-1].Time().Add((24+72)*time.Hour - 10*time.Minute)
	audit.ConfirmDate(t, db, later)
	clock := newHeldClock(t, later, 1200)
	clock.Environment = append(clock.Environment, zone)
	s := clock.Start(t, db, clock.Flags()...)
	tables := harness.OpenSQL(t, db)
	harness.Eventually(t, g.String()+" is settled", func() bool {
		s.Running(t)
		return audit.Number(t, tables, `SELECT count(*) FROM reward_months`) > 0
	})
	checked := 0
	for _, user := range audit.Users(t, tables, audit.Few.Users) {
		statement, ok := audit.SaveStatement(t, staff, s, user, g.String())
		if !ok {
			continue
		}
		minutes, rows := map[string]int64{}, map[string]int{}
		for _, r := range statement.Rows {
			minutes[r.HotspotID] += r.Expected + r.Closed + r.Excused + r.Outside
			rows[r.HotspotID]++
		}
		for hotspot, sum := range minutes {
			if sum != int64(g.days)*1440 || rows[hotspot] != g.days {
				t.Errorf("%s has %d minutes in %d rows of %s; want %d days of 1440", hotspot, sum, rows[hotspot], g, g.days)
			}
			checked++
		}
	}
	audit.Compare(t, staff, s, tables, audit.Users(t, tables, 2)...)
	s.Stop(t) // it goes on closing days
	if audit.Audit(t, tables); checked < audit.Few.Hotspots {
		t.Errorf("%d hotspots were checked; want %d", checked, audit.Few.Hotspots)
	}
}
