package beacon_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// maskZones have daylight saving in both hemispheres, by half an hour, by two
// hours, during Ramadan, odd offsets, and none.
func maskZones() []string {
	return []string{
		"UTC", "America/New_York", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia",
		"Africa/Casablanca", "Antarctica/Troll", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/St_Johns", "Asia/Kolkata",
	}
}

func TestSchedule_OpenMaskIsIsOpen(t *testing.T) {
	const seed = 4
	r := rand.New(rand.NewPCG(seed, seed))
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	open, all := 0, 0
	for _, zone := range maskZones() {
		form := weekly(randomWeek(r)...)
		for _, err := hours(form); err != nil; _, err = hours(form) { // until none overlap
			form = weekly(randomWeek(r)...)
		}
		form.Timezone = some(zone)
		form.Exceptions = some([]beacon.ExceptionForm{
			closed("2026-03-29"),
			{Date: some("2026-11-01"), Open: some("20:00"), Close: some("02:30")},
			{Date: some("2026-12-31"), Open: some("00:00"), Close: some("24:00")},
			closed("2027-03-14"),
			{Date: some("2027-10-02"), Open: some("22:00"), Close: some("22:00")},
		})
		s := schedule(t, form)
		for day := first; day.Year() < 2028; day = day.AddDate(0, 0, 1) {
			var mask beacon.Minutes
			s.OpenMask(beacon.DayOf(day), &mask)
			for m := range 1440 {
				at := day.Add(time.Duration(m) * time.Minute)
				got := mask[m/64]>>(m%64)&1 != 0
				if want := s.IsOpen(at); got != want {
					t.Fatalf("%s, %v (seed %d): open %v; want %v", zone, at, seed, got, want)
				} else if want {
					open++
				}
				all++
			}
			if mask[22]>>32 != 0 {
				t.Fatalf("%s, %v: bits beyond the day", zone, day)
			}
		}
	}
	if open < all/20 || open > all*19/20 {
		t.Errorf("%d of %d minutes are open: the test hardly asks anything", open, all)
	}
}

func TestSchedule_OpenMaskWithoutHours(t *testing.T) {
	var mask beacon.Minutes
	beacon.Schedule{}.OpenMask(20_000, &mask)
	for m := range 23 * 64 {
		if got, want := mask[m/64]>>(m%64)&1 != 0, m < 1440; got != want {
			t.Fatalf("minute %d: open %v; want %v", m, got, want)
		}
	}
}

func BenchmarkSchedule_OpenMask(b *testing.B) {
	hours := &beacon.OperatingHours{
		Timezone:   "America/New_York",
		Weekly:     []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon", "tue", "wed", "thu", "fri"}, Open: 480, Close: 1320}, {Days: []beacon.Weekday{"sat", "sun"}, Open: 600, Close: 120}},
		Exceptions: []beacon.HoursException{{Date: "2026-12-25", Closed: true}},
	}
	s, err := hours.Schedule()
	if err != nil {
		b.Fatal(err)
	}
	var mask beacon.Minutes
	for b.Loop() {
		s.OpenMask(20_772, &mask)
	}
}
