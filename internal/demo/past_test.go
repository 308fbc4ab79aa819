package demo_test

import (
	"errors"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/demo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// diary is the facts of all days of a network.
type diary map[beacon.HotspotID]map[beacon.Day]beacon.Facts

func write(t *testing.T, n *demo.Network) diary {
	t.Helper()
	d := diary{}
	err := n.Live(func(_ beacon.Day, rows []beacon.RecordRow, said []beacon.Did) error {
		for i, r := range rows {
			did, err := heartbeat.RecordDid(r.Data)
			if err != nil || len(said) != len(rows) || did != said[i] {
				t.Fatalf("the record of %s says %+v, %v; want %+v", r.Hotspot, did, err, said[i])
			}
			if d[r.Hotspot] == nil {
				d[r.Hotspot] = map[beacon.Day]beacon.Facts{}
			}
			d[r.Hotspot][r.Day] = did.Facts
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Each hotspot has a record of every day from its first on, and its minutes add up.
func TestLive_EveryDay(t *testing.T) {
	n := newNetwork(t, demo.Config{Seed: 1, Hotspots: 300, Days: 40})
	d := write(t, n)
	today, checked, down := beacon.DayOf(now), 0, map[beacon.Day]int{}
	for _, s := range n.Hotspots {
		if s.Device == nil {
			if len(d[s.ID]) > 0 {
				t.Errorf("%s has no device, and records", s.Name)
			}
			continue
		}
		last := today
		if s.Deleted() {
			last = beacon.DayOf(s.DeletedAt)
		}
		first := beacon.DayOf(s.Hotspot.Device.LinkedAt)
		for day := first; day <= last; day++ {
			f, known := d[s.ID][day]
			minutes := 1440
			if day == today {
				minutes = int(now.Sub(day.Time())/time.Minute) - 2 // those that are decided
			}
			if sum := f.Expected + f.Closed + f.Excused + f.Outside; !known || sum != minutes || f.Served > f.Expected || f.Excused > 48 {
				t.Fatalf("%s on %s: %+v, %v; want %d minutes", s.Name, day, f, known, minutes)
			}
			if checked++; f.Excused > 0 {
				down[day]++
			}
		}
		if len(d[s.ID]) != int(last-first)+1 {
			t.Errorf("%s has %d records; want %d", s.Name, len(d[s.ID]), last-first+1)
		}
	}
	if len(down) != 1 {
		t.Errorf("the service was down on the days %v; want one, for some minutes", down)
	}
	if checked < 7000 {
		t.Errorf("only %d days were checked", checked)
	}
}

// What the network looks like as a whole: most is up, some is not, some is fast,
// and Sundays are not like Mondays.
func TestLive_Believable(t *testing.T) {
	n := newNetwork(t, demo.Config{Seed: 1, Hotspots: 600, Days: 40})
	d := write(t, n)
	served, expected, closed, tiers, days := 0, 0, 0, map[beacon.Tier]int{}, 0
	var bytes uint64
	offenders, perfect := 0, 0
	for _, s := range n.Hotspots {
		own, of := 0, 0
		for _, f := range d[s.ID] {
			own, of, closed = own+f.Served, of+f.Expected, closed+f.Closed
			bytes += f.Bytes
			tiers[f.Tier]++
			days++
		}
		served, expected = served+own, expected+of
		switch {
		case of > 0 && 10*own < 9*of:
			offenders++
		case of > 0 && own+2 > of: // the minute of its linking apart
			perfect++
		}
	}
	if up := float64(served) / float64(expected); up < 0.96 || up > 0.995 {
		t.Errorf("%.4f of the time is served", up)
	}
	if offenders < 12 || offenders > 60 || perfect < 20 || perfect > 300 || closed == 0 {
		t.Errorf("of 600, %d are often down, and %d never; %d minutes closed", offenders, perfect, closed)
	}
	if a := float64(bytes) / float64(days) / 1e9; a < 5 || a > 25 {
		t.Errorf("%.1f GB a day", a)
	}
	for tier := beacon.Standard; tier <= beacon.Premium; tier++ {
		if share := float64(tiers[tier]) / float64(days); share < 0.1 || share > 0.6 {
			t.Errorf("%.2f of the days are %s", share, tier)
		}
	}
}

// What is deleted ends with that day, what is out of order serves no more, and when
// the power is cut many are silent at once.
func TestLive_Ends(t *testing.T) {
	n := newNetwork(t, demo.Config{Seed: 2, Hotspots: 400, Days: 40})
	d, today := write(t, n), beacon.DayOf(now)
	beating := map[beacon.HotspotID]bool{}
	for _, s := range n.Beating() {
		beating[s.ID] = true
	}
	deleted, broken, cut := 0, 0, map[beacon.Day]int{}
	for _, s := range n.Hotspots {
		switch own := d[s.ID]; {
		case s.Deleted():
			day := beacon.DayOf(s.DeletedAt)
			left := int((day + 1).Time().Sub(s.DeletedAt) / time.Minute)
			if f := own[day]; f.Outside != left || own[day+1] != (beacon.Facts{}) {
				t.Errorf("%s is deleted %d minutes before midnight: %+v, and then %+v", s.Name, left, f, own[day+1])
			}
			deleted++
		case s.Device != nil && !beating[s.ID] && own[today].Served == 0 && own[today].Expected > 0:
			broken++
		case s.Operator == n.Operator:
			for day, f := range own {
				if f.Expected-f.Served > 60 {
					cut[day]++
				}
			}
		}
	}
	most := 0
	for _, many := range cut {
		most = max(most, many)
	}
	if deleted < 1 || broken < 2 || most < 15 {
		t.Errorf("%d were deleted, %d are out of order, %d were silent on one day", deleted, broken, most)
	}
}

// Just after midnight the day before is still open: it is given with today.
func TestLive_AfterMidnight(t *testing.T) {
	midnight := time.Date(2026, 11, 15, 0, 2, 0, 0, time.UTC)
	n := newNetwork(t, demo.Config{Seed: 1, Hotspots: 40, Days: 5, Now: midnight})
	d, yesterday := write(t, n), beacon.DayOf(midnight)-1
	if n.Final() != yesterday {
		t.Errorf("days before %s are final; want %s", n.Final(), yesterday)
	}
	checked := 0
	for _, s := range n.Hotspots {
		if s.Device != nil && !s.Deleted() && beacon.DayOf(s.Hotspot.Device.LinkedAt) < yesterday {
			_, before := d[s.ID][yesterday]
			_, today := d[s.ID][yesterday+1]
			if checked++; !before || !today {
				t.Errorf("%s: a record of yesterday: %v, of today: %v", s.Name, before, today)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d were checked", checked)
	}
}

func TestLive_Error(t *testing.T) {
	n, want := newNetwork(t, demo.Config{Seed: 1, Hotspots: 5, Days: 5}), errors.New("enough")
	calls := 0
	err := n.Live(func(beacon.Day, []beacon.RecordRow, []beacon.Did) error { calls++; return want })
	if !errors.Is(err, want) || calls != 1 {
		t.Errorf("Live = %v after %d calls", err, calls)
	}
}

// What a day of a hotspot costs.
func BenchmarkLive(b *testing.B) {
	records := 0
	for b.Loop() {
		n, err := demo.New(demo.Config{Seed: 1, Hotspots: 300, Days: 30, Now: now})
		if err != nil {
			b.Fatal(err)
		}
		_ = n.Live(func(_ beacon.Day, rows []beacon.RecordRow, _ []beacon.Did) error {
			records += len(rows)
			return nil
		})
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(records), "µs/record")
}
