package heartbeat_test

import (
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
	heard, silent := table.Place(nil, spotSince(noon)), table.Place(nil, spotSince(noon))
	day := beacon.MinuteOf(noon).Day()
	for _, l := range []*heartbeat.Live{heard, silent} {
		table.Apply(l, at(noon, 1, 1, 100, 1))
	}
	table.Apply(heard, at(ahead, 1, 2, 300, 1))
	table.Refresh(ahead)
	certain := noon.Add(10 * time.Minute)
	want := beacon.Facts{Served: 4, Expected: 8, Outside: 720, Bytes: 100}
	for l, days := range map[*heartbeat.Live]map[beacon.Day]beacon.Facts{heard: {day: want, day + 1: {}}, silent: {day: want}} {
		if diff := cmp.Diff(days, fold(table, l, certain)); diff != "" {
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
		heard, silent := table.Place(nil, spotSince(noon)), table.Place(nil, spotSince(noon))
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
	l := table.Place(nil, spotSince(noon))
	today := beacon.MinuteOf(noon).Day()
	for i := range uint64(5) {
		table.Apply(l, at(noon.Add(time.Duration(i)*time.Minute), 1, i+1, 100*(i+1), 1))
	}
	yesterday := noon.AddDate(0, 0, -1)
	table.ClockBack(yesterday, today)
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
