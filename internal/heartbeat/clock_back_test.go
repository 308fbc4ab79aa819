package heartbeat_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// A fold by a clock that may be wrong writes the beats of days that are not
// certain, and decides nothing of them.
func TestFold_NothingAfterNow(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	ahead := noon.AddDate(0, 0, 1)
	heard, silent := table.Place(nil, hotspotSince(noon)), table.Place(nil, hotspotSince(noon))
	day := beacon.MinuteOf(noon).Day()
	for _, l := range []*heartbeat.Live{heard, silent} {
		table.Apply(l, at(noon, 1, 1, 100, 1))
	}
	table.Apply(heard, at(ahead, 1, 2, 300, 1))
	table.Refresh(ahead)
	certain := noon.Add(10 * time.Minute)
	want := beacon.Facts{Served: 4, Expected: 8, Outside: 720, Bytes: 100}
	for l, days := range map[*heartbeat.Live]map[beacon.Day]beacon.Facts{heard: {day: want, day + 1: {}}, silent: {day: want}} {
		facts := map[beacon.Day]beacon.Facts{}
		for _, r := range table.Fold(l, heartbeat.Moment{Certain: certain, Final: day, Latest: beacon.MinuteOf(ahead)}) {
			facts[r.Day()] = r.Facts()
		}
		if diff := cmp.Diff(days, facts); diff != "" {
			t.Errorf("facts (-want +got):\n%s", diff)
		}
	}
}

// The clock was ahead for a moment. What devices carried meanwhile they did
// carry, also if they boot anew before they are heard again; and what is shown is
// of now, also of those who were not heard.
func TestClockBack_KeepsTraffic(t *testing.T) {
	for _, ahead := range []time.Duration{2 * time.Hour, 24 * time.Hour, 30 * 24 * time.Hour} {
		table := heartbeat.NewTable(heartbeat.NewOutages())
		heard, silent := table.Place(nil, hotspotSince(noon)), table.Place(nil, hotspotSince(noon))
		for _, l := range []*heartbeat.Live{heard, silent} {
			table.Apply(l, at(noon, 1, 1, 100, 1))
		}
		table.Refresh(noon.Add(ahead))
		for seq := range uint64(2) {
			table.Apply(heard, at(noon.Add(ahead), 1, 2+seq, 300, 1))
		}
		back := noon.Add(time.Minute)
		table.ClockBack(back, 0)
		table.Refresh(back)
		if heard.Shown().Uptime != 10_000 && ahead != 2*time.Hour || silent.Shown().Uptime != 10_000 {
			t.Errorf("%s ahead: shown %+v, %+v", ahead, heard.Shown(), silent.Shown())
		}
		table.Apply(heard, at(back, 2, 1, 50, 1))
		if !table.Knows(heard, 1, 2) {
			t.Errorf("%s ahead: a beat is not known any more", ahead)
		}
		now := noon.Add(2 * time.Minute)
		if ahead > 2*time.Hour && table.Metrics(heard, now).Bytes24h != 350 {
			t.Errorf("%s ahead: %+v", ahead, table.Metrics(heard, now))
		}
		facts := fold(table, heard, noon.AddDate(0, 0, 1))
		if got := facts[beacon.MinuteOf(noon).Day()]; got.Bytes != 350 || len(facts) != 2 {
			t.Errorf("%s ahead: %+v", ahead, facts)
		}
	}
}

// A clock that went back may be the one that is wrong: days that are certain are
// kept until that is known.
func TestClockBack_KeepsDays(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon))
	today := beacon.MinuteOf(noon).Day()
	for i := range uint64(5) {
		table.Apply(l, at(noon.Add(time.Duration(i)*time.Minute), 1, i+1, 100*(i+1), 1))
	}
	yesterday := noon.AddDate(0, 0, -1)
	table.ClockBack(yesterday, beacon.MinuteOf(noon))
	if l.Seen() > yesterday.UnixMicro() {
		t.Errorf("seen at %d, after %d", l.Seen(), yesterday.UnixMicro())
	}
	if f, known := table.Facts(l, today, nil, noon.Add(7*time.Minute)); !known || f.Served != 8 || f.Bytes != 500 {
		t.Errorf("facts %+v, %v", f, known)
	}
	table.ClockBack(yesterday, 0)
	if f, known := table.Facts(l, today, nil, noon.Add(7*time.Minute)); known && f.Served > 0 {
		t.Errorf("now it is certain: facts %+v, %v", f, known)
	}
}

// The same, of a shop that has closed for good: that it was open at some time before it
// was last heard does not count, although that day is final by now.
func TestClockBack_NotInService(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	hotspot := hotspotSince(noon.AddDate(0, 0, -9))
	l := table.Place(nil, hotspot)
	table.Apply(l, at(noon, 1, 1, 100, 1))
	hotspot.PastService = []beacon.Period{{From: hotspot.Location.VerifiedAt, Until: noon.Add(time.Minute)}}
	hotspot.Location.VerifiedAt = time.Time{}
	table.Place(l, hotspot)
	table.Apply(l, at(noon.Add(2*time.Hour), 1, 2, 100, 1))
	table.Apply(l, at(noon.AddDate(1, 0, 0), 1, 3, 500, 1))
	right := noon.Add(13 * time.Hour)
	ahead := beacon.MinuteOf(noon.AddDate(1, 0, 0))
	table.Fold(l, heartbeat.Moment{Certain: right, Final: beacon.DayOf(right), Latest: ahead})
	table.Folded(l)
	table.ClockBack(right, 0)
	for day, f := range fold(table, l, right.Add(time.Hour)) {
		if f.Bytes > 0 {
			t.Errorf("%s: %+v", day, f)
		}
	}
}

// The clock is ahead for a second time, and the record of the first time is still on disk.
// What its boots had carried before, or then, is not counted again, though they are
// forgotten: by now that time counts as an outage.
func TestClockBack_Twice(t *testing.T) {
	outages := heartbeat.NewOutages()
	table := heartbeat.NewTable(outages)
	l := table.Place(nil, hotspotSince(noon))
	year := noon.AddDate(1, 0, 0)
	table.Apply(l, at(noon, 1, 1, 100, 1))
	table.Apply(l, at(year, 1, 2, 300, 1))
	left := table.Fold(l, heartbeat.Moment{Certain: noon, Latest: beacon.MinuteOf(year)})
	table.ClockBack(noon.Add(time.Minute), 0)
	now := noon
	for boot := range uint64(10) {
		now = now.AddDate(0, 0, 1)
		table.Apply(l, at(now, 10+boot, 1, 1, 1))
		fold(table, l, now.Add(time.Hour))
	}
	again := year.AddDate(0, 0, 10)
	outages.Set([]heartbeat.Span{
		{From: beacon.MinuteOf(noon), To: beacon.MinuteOf(now)}, {From: beacon.MinuteOf(again), To: beacon.LastMinute},
	})
	table.Apply(l, at(again, 20, 1, 50, 1))
	table.Restore(l, left[len(left)-1])
	table.ClockBack(now.Add(2*time.Hour), 0)
	if got := fold(table, l, now.Add(3*time.Hour))[beacon.DayOf(now)]; got.Bytes != 51 {
		t.Errorf("%+v; want 51 bytes", got)
	}
}

// shopSince is open from noon until 14:00.
func shopSince(from time.Time) beacon.Hotspot {
	shop := hotspotSince(from)
	shop.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC", Weekly: []beacon.WeeklySpan{{
		Days: []beacon.Weekday{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, Open: 12 * 60, Close: 14 * 60,
	}}}
	return shop
}

// A clock was ahead, and what it recorded of a day is still on disk when that day comes,
// while the service is down. A shop was not heard then: what it carries during the outage
// and reports after closing time is paid.
func TestClockBack_NotHeardInAnOutage(t *testing.T) {
	shop := shopSince(noon.AddDate(0, 0, -9))
	ahead := noon.Add(28 * time.Hour)
	for boot := range uint64(2) {
		before := heartbeat.NewTable(heartbeat.NewOutages())
		l := before.Place(nil, shop)
		before.Apply(l, at(noon.Add(10*time.Minute), 1, 1, 100, 1))
		before.Apply(l, at(ahead, 1, 2, 100, 1))
		left := before.Fold(l, heartbeat.Moment{Certain: noon, Latest: beacon.MinuteOf(ahead)})

		start := noon.Add(30 * time.Hour)
		outages := heartbeat.NewOutages()
		outages.Set([]heartbeat.Span{
			{From: beacon.MinuteOf(noon), To: beacon.MinuteOf(noon.Add(20 * time.Minute))}, {From: beacon.MinuteOf(start), To: beacon.LastMinute},
		})
		table := heartbeat.NewTable(outages)
		l = table.Place(nil, shop)
		for _, r := range left {
			table.Restore(l, r)
		}
		b := at(start.Add(time.Minute), 1+boot, 3, 500, 1)
		if why := table.Judge(l, b); why != beacon.Counted {
			t.Fatal(why)
		}
		table.Apply(l, b)
		if got, want := fold(table, l, start.Add(time.Hour))[beacon.DayOf(start)].Bytes, 400+100*boot; got != want {
			t.Errorf("boot %d: %d bytes count; want %d", 1+boot, got, want)
		}
	}
}

// A shop carries something until it closes, while the clock is ahead. Once the clock is
// right, the shop has closed, and is paid all the same: it was open since it was last
// heard by the right clock.
func TestClockBack_AfterClosing(t *testing.T) {
	midnight := noon.Truncate(24 * time.Hour)
	today := beacon.MinuteOf(noon).Day()
	shop := shopSince(midnight.AddDate(0, 0, -9))
	for name, c := range map[string]struct {
		ahead    time.Duration
		from, to int // minutes after noon; the clock is ahead
		bytes    uint64
		late     bool // it is noticed after the first beat
	}{
		"until it has closed":        {3 * 24 * time.Hour, 30, 200, 200, false},
		"noticed late":               {3 * 24 * time.Hour, 30, 200, 200, true},
		"hours, on the same day":     {3 * time.Hour, 30, 200, 200, false},
		"until the next day":         {24 * time.Hour, 30, 14 * 60, 240, false},
		"only while it is closed":    {24 * time.Hour, 130, 240, 120, false},
		"and right before it closes": {24 * time.Hour, 30, 100, 120, false},
	} {
		t.Run(name, func(t *testing.T) {
			table := heartbeat.NewTable(heartbeat.NewOutages())
			l := table.Place(nil, shop)
			facts := map[beacon.Day]uint64{}
			for m := range 16 * 60 {
				now := noon.Add(time.Duration(m) * time.Minute)
				clock := now
				if m >= c.from && m < c.to {
					clock = now.Add(c.ahead)
				}
				if m == c.to && !c.late {
					table.ClockBack(now, 0)
				}
				if m%10 == 0 && m <= 240 {
					b := at(clock, 1, uint64(m)+1, uint64(m), 1)
					if why := table.Judge(l, b); why != beacon.Counted {
						t.Fatal(why)
					}
					table.Apply(l, b)
				}
				if m == c.to && c.late {
					table.ClockBack(now, 0)
				}
				if m%5 == 4 && clock == now {
					minute := beacon.MinuteOf(now)
					for _, r := range table.Fold(l, heartbeat.Moment{Certain: now, Final: heartbeat.FinalAt(minute), Latest: minute}) {
						facts[r.Day()] = r.Facts().Bytes
					}
					table.Folded(l)
				}
			}
			if got := facts[today] + facts[today+1]; got != c.bytes {
				t.Errorf("%d bytes count; want %d (%v)", got, c.bytes, facts)
			}
		})
	}
}

// A device boots often while the clock is ahead, and not again before midnight. The next day
// knows its last boot, and counts what that carries from there on.
func TestClockBack_ManyBoots(t *testing.T) {
	for _, ahead := range []time.Duration{2 * time.Hour, 24 * time.Hour, 365 * 24 * time.Hour} {
		table := heartbeat.NewTable(heartbeat.NewOutages())
		l := table.Place(nil, hotspotSince(noon))
		facts := map[beacon.Day]beacon.Facts{}
		table.Apply(l, at(noon, 1, 1, 1000, 1))
		for i := range uint64(30) {
			table.Apply(l, at(noon.Add(ahead+time.Duration(i)*time.Minute), 100-i, 1, 1000, 1))
		}
		table.ClockBack(noon.Add(30*time.Minute), 0)
		tomorrow := noon.AddDate(0, 0, 1)
		maps.Copy(facts, fold(table, l, tomorrow.Add(-time.Hour)))
		table.Apply(l, at(tomorrow, 71, 2, 1500, 1))
		maps.Copy(facts, fold(table, l, tomorrow.AddDate(0, 0, 1)))
		if got := facts[beacon.DayOf(noon)].Bytes + facts[beacon.DayOf(tomorrow)].Bytes; got != 31_500 {
			t.Errorf("%s ahead: %d bytes count; want 31500", ahead, got)
		}
	}
}

// The journal is read again after the clock was set back, and with it the heartbeats of the
// time that has not come. They count from when they were first known not to have come: the
// shop was not heard when the clock is trusted, after it has closed. So what it carried
// before it closed, and reports later, is paid.
func TestClockBack_ReadAgain(t *testing.T) {
	for boot := range uint64(2) {
		table := heartbeat.NewTable(heartbeat.NewOutages())
		l := table.Place(nil, shopSince(noon.AddDate(0, 0, -9)))
		take := func(minutes int, ahead time.Duration, boot, seq, bytes uint64) {
			b := at(noon.Add(time.Duration(minutes)*time.Minute+ahead), boot, seq, bytes, 1)
			if why := table.Judge(l, b); why != beacon.Counted {
				t.Fatal(why)
			}
			table.Apply(l, b)
		}
		const ahead = 3 * 24 * time.Hour
		take(90, 0, 1, 1, 100)
		take(100, ahead, 1, 2, 200)
		table.ClockBack(noon.Add(110*time.Minute), 0)
		table.Apply(l, at(noon.Add(100*time.Minute+ahead), 1, 2, 200, 1))
		table.ClockBack(noon.Add(125*time.Minute), 0)
		take(240, 0, 1+boot, 3, 500)
		if got, want := fold(table, l, noon.Add(5*time.Hour))[beacon.DayOf(noon)].Bytes, 500+200*boot; got != want {
			t.Errorf("boot %d: %d bytes count; want %d", 1+boot, got, want)
		}
	}
}

// The time is not certain for days: nobody has said yet how long the service was down.
// A clock that was ahead meanwhile takes no traffic away from the days since.
func TestFold_AheadWhileNotCertain(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon.AddDate(0, 0, -9)))
	yesterday, ahead := noon.AddDate(0, 0, -1), noon.AddDate(0, 0, 2)
	table.Apply(l, at(yesterday, 1, 1, 100, 1))
	table.Apply(l, at(noon, 1, 2, 300, 1))
	table.Apply(l, at(ahead, 1, 3, 600, 1))
	now := noon.Add(time.Hour)
	certain := noon.AddDate(0, 0, -5)
	table.Fold(l, heartbeat.Moment{Certain: certain, Now: now, Final: beacon.DayOf(certain), Latest: beacon.MinuteOf(now)})
	facts := fold(table, l, noon.AddDate(0, 0, 1))
	for day, want := range map[beacon.Day]uint64{beacon.DayOf(certain): 0, beacon.DayOf(yesterday): 100, beacon.DayOf(noon): 500} {
		if got := facts[day].Bytes; got != want {
			t.Errorf("%s: %d bytes count; want %d", day, got, want)
		}
	}
}

// After an outage of days, time passes by what is certain long after it has passed by the
// clock. A hotspot is deleted meanwhile: the days on which it was in service all have a
// record once it is certain that they are over, even one on which it was not heard and
// before which nothing was expected of it.
func TestFold_DeletedBeforeItIsCertain(t *testing.T) {
	day := beacon.MinuteOf(noon).Day()
	clock := noon.AddDate(0, 0, 5) // the day after the outage
	ends := (day + 5).Midnight() - 2*60
	service := heartbeat.NewOutages()
	service.Set([]heartbeat.Span{{From: day.Midnight(), To: beacon.MinuteOf(noon) + 60}, {From: ends, To: (day + 9).Midnight()}})
	table := heartbeat.NewTable(service)
	h := hotspotSince(noon)
	l := table.Place(nil, h)
	table.Apply(l, at(noon, 1, 1, 100, 1))
	table.Apply(l, at(clock, 1, 2, 200, 1))
	h.DeletedAt = clock.Add(time.Hour)
	table.Place(l, h)
	facts := map[beacon.Day]beacon.Facts{}
	for _, today := range []beacon.Day{day, day + 1, day + 2, day + 6} {
		certain := today.Midnight() + 10
		for _, r := range table.Fold(l, heartbeat.Moment{
			Certain: certain.Time(), Now: clock, Final: today, Latest: max(certain, beacon.MinuteOf(clock)),
		}) {
			facts[r.Day()] = r.Facts()
		}
		table.Folded(l)
	}
	if got := facts[day+4]; got.Expected != 117 || got.Excused != 1440-117 {
		t.Errorf("the record of the day on which the outage ended says %+v", got)
	}
	if got := facts[day+5]; got.Served != 4 || got.Expected != 13*60 {
		t.Errorf("the record of the day after it says %+v", got)
	}
}

// A clock that is ahead is set back twice on one day, the first time not far enough. In
// between, traffic of the evening before counted as of an hour that has not come. What is
// left is a record that can be read.
func TestClockBack_NotFarEnough(t *testing.T) {
	midnight := noon.Truncate(24*time.Hour).AddDate(0, 0, 1)
	up := heartbeat.NewOutages()
	minute := func(at time.Time) beacon.Minute { return beacon.MinuteOf(at) }
	up.Set([]heartbeat.Span{ // down from one to three
		{From: minute(noon), To: minute(midnight.Add(time.Hour))},
		{From: minute(midnight.Add(3 * time.Hour)), To: beacon.LastMinute},
	})
	table := heartbeat.NewTable(up)
	l := table.Place(nil, shopSince(noon))
	for _, beat := range []*heartbeat.Beat{
		at(noon.Add(time.Hour), 1, 1, 100, 1),
		at(midnight.AddDate(0, 0, 2), 2, 1, 900, 1), // two days ahead
		at(midnight.AddDate(0, 0, 2).Add(8*time.Hour), 3, 1, 50, 1),
	} {
		table.Apply(l, beat)
	}
	wrong, right := midnight.Add(10*time.Hour), midnight.Add(3*time.Hour)
	table.ClockBack(wrong, minute(wrong))
	table.Apply(l, at(wrong.Add(time.Minute), 3, 2, 60, 1))
	table.ClockBack(right, minute(wrong)+60) // it may still be wrong
	trusted := right.Add(10 * time.Minute)
	records := table.Fold(l, heartbeat.Moment{
		Certain: trusted, Now: trusted, Final: heartbeat.FinalAt(minute(trusted)), Back: minute(right), Latest: minute(trusted),
	})
	if len(records) != 2 {
		t.Fatalf("%d records", len(records))
	}
	for _, r := range records {
		if _, err := heartbeat.DecodeRecord(r.Append(nil)); err != nil {
			t.Errorf("%s: %v", r.Day(), err)
		}
	}
}
