package fleet_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/test/harness"
)

func hoursIn(zone string, open, closing int) *beacon.OperatingHours {
	return &beacon.OperatingHours{Timezone: zone, Weekly: []beacon.WeeklySpan{{Days: []beacon.Weekday{"sun", "mon"}, Open: open, Close: closing}}}
}

// Whatever was asked before, in whatever order, a hotspot is open as its hours say.
func TestOpenAt(t *testing.T) {
	f := newFleet()
	h := serving()
	h.Settings.OperatingHours = hoursIn("America/New_York", 9*60, 17*60)
	mustApply(t, f, h)
	hotspot, _ := f.Find(h.ID)
	s, err := h.Settings.OperatingHours.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		at := noon.Add(time.Duration(i*i%1_000_003) * time.Minute / 7)
		wantOpen, wantUntil := s.StateAt(beacon.MinuteOf(at))
		if open, until := hotspot.OpenAt(at); open != wantOpen || !until.Equal(wantUntil.Time()) {
			t.Fatalf("%v: open %t until %v; want %t until %v", at, open, until, wantOpen, wantUntil.Time())
		}
	}
}

// A holiday that is more than a year away is not forgotten when it comes.
func TestOpenAt_FarException(t *testing.T) {
	f := newFleet()
	h := serving()
	h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC", Exceptions: []beacon.HoursException{
		{Date: "2028-06-01", Spans: []beacon.ExceptionSpan{{Open: 60, Close: 120}}},
	}}
	mustApply(t, f, h)
	hotspot, _ := f.Find(h.ID)
	opens := time.Date(2028, 6, 1, 1, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		at    time.Time
		open  bool
		until time.Time
	}{
		{noon, false, time.Time{}},
		{opens.AddDate(-1, 0, 0), false, opens},
		{opens.Add(-time.Second), false, opens},
		{opens, true, opens.Add(time.Hour)},
		{opens.Add(time.Hour), false, time.Time{}},
	} {
		if open, until := hotspot.OpenAt(tc.at); open != tc.open || !until.Equal(tc.until) {
			t.Errorf("%v: open %t until %v; want %t until %v", tc.at, open, until, tc.open, tc.until)
		}
	}
}

// Nearly every request finds the answer ready, without memory of its own.
func TestOpenAt_Allocations(t *testing.T) {
	f := newFleet()
	h := serving()
	h.Settings.OperatingHours = hoursIn("America/New_York", 9*60, 17*60)
	mustApply(t, f, h)
	hotspot, _ := f.Find(h.ID)
	hotspot.OpenAt(noon)
	if n := testing.AllocsPerRun(100, func() { hotspot.OpenAt(noon) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Hours take memory once for all hotspots that have them, and none when nobody has
// them any more: an operator who keeps changing hours costs nothing.
func TestOpenings_SharedAndFreed(t *testing.T) {
	f := newFleet()
	h, other := serving(), serving()
	h.Settings.OperatingHours, other.Settings.OperatingHours = hoursIn("UTC", 60, 120), hoursIn("UTC", 60, 120)
	mustApply(t, f, h, other)
	if n := f.Openings(); n != 1 {
		t.Errorf("two hotspots with the same hours: %d openings", n)
	}
	for i := range 100 {
		h.Version++
		h.Settings.OperatingHours = hoursIn("UTC", i, 120+i)
		mustApply(t, f, h)
	}
	if _, err := f.List(fleet.ListQuery{Page: beacon.Page{Number: 1, Size: 1}, Charge: func(int) error { return nil }}); err != nil {
		t.Fatal(err) // a list drops the old versions that wait for it
	}
	harness.Eventually(t, "old hours are freed", func() bool {
		runtime.GC()
		return f.Openings() <= 2
	})
}
