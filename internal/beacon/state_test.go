package beacon_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/beacon/beacontest"
)

// isOpen, asked minute by minute, says when the state changes.
func TestSchedule_StateAtIsIsOpen(t *testing.T) {
	const seed = 18
	r := rand.New(rand.NewPCG(seed, seed))
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	changes := 0
	for _, zone := range maskZones() {
		form := weekly(randomWeek(r)...)
		for _, err := hours(form); err != nil; _, err = hours(form) { // until none overlap
			form = weekly(randomWeek(r)...)
		}
		form.Timezone = some(zone)
		form.Exceptions = some([]beacon.ExceptionForm{
			closed("2026-03-29"), {Date: some("2026-11-01"), Open: some("20:00"), Close: some("02:30")},
		})
		s := schedule(t, form)
		for range 50 {
			at := first.Add(time.Duration(r.IntN(400*24*60*60)) * time.Second)
			open, until := s.StateAt(beacon.MinuteOf(at))
			if open != beacontest.IsOpen(s, at) {
				t.Fatalf("%s, %v (seed %d): open %t; want %t", zone, at, seed, open, !open)
			}
			for m := beacon.MinuteOf(at); m < until; m++ {
				if beacontest.IsOpen(s, m.Time()) != open {
					t.Fatalf("%s, %v (seed %d): it changes at %v, not at %v", zone, at, seed, m.Time(), until.Time())
				}
			}
			if beacontest.IsOpen(s, until.Time()) == open {
				t.Fatalf("%s, %v (seed %d): nothing changes at %v", zone, at, seed, until.Time())
			}
			changes++
		}
	}
	if changes < 500 {
		t.Errorf("%d changes: the test hardly asks anything", changes)
	}
}

func TestSchedule_StateAtWithoutChange(t *testing.T) {
	always := weekly(span("00:00", "24:00", "mon", "tue", "wed", "thu", "fri", "sat", "sun"))
	holiday := always
	holiday.Exceptions = some([]beacon.ExceptionForm{closed("2027-11-10")})
	farHoliday := always
	farHoliday.Exceptions = some([]beacon.ExceptionForm{closed("2027-12-25")})
	for _, tc := range []struct {
		name  string
		s     beacon.Schedule
		open  bool
		until beacon.Minute
	}{
		{"no hours", beacon.Schedule{}, true, beacon.LastMinute},
		{"never closed", schedule(t, always), true, beacon.LastMinute},
		{"never open", schedule(t, weekly()), false, beacon.LastMinute},
		{"closed in a year", schedule(t, holiday), true, beacon.MinuteOf(time.Date(2027, 11, 10, 0, 0, 0, 0, time.UTC))},
		{"closed in more than a year", schedule(t, farHoliday), true, beacon.LastMinute},
	} {
		at := time.Date(2026, 11, 16, 8, 0, 30, 0, time.UTC)
		if open, until := tc.s.StateAt(beacon.MinuteOf(at)); open != tc.open || until != tc.until {
			t.Errorf("%s: open %t until %v; want %t until %v", tc.name, open, until.Time(), tc.open, tc.until.Time())
		}
	}
}
