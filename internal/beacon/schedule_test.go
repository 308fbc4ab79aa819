package beacon_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/beacon/beacontest"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func schedule(t *testing.T, form beacon.HoursForm) beacon.Schedule {
	t.Helper()
	parsed, err := hours(form)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parsed.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchedule_IsOpen(t *testing.T) {
	form := weekly(span("09:00", "17:00", "mon", "fri"), span("22:00", "03:00", "sat", "sun"))
	form.Timezone = some("America/New_York")
	form.Exceptions = some([]beacon.ExceptionForm{
		closed("2026-12-25"), // a Friday
		{Date: some("2026-12-26"), Open: some("20:00"), Close: some("01:00")}, // a Saturday
		closed("2027-01-03"), // a Sunday
	})
	s := schedule(t, form)
	for at, want := range map[string]bool{
		"2026-11-16T08:59:59-05:00": false, // Monday
		"2026-11-16T09:00:00-05:00": true,
		"2026-11-16T16:59:59-05:00": true,
		"2026-11-16T17:00:00-05:00": false,
		"2026-11-16T14:00:00Z":      true, // 09:00 in New York
		"2026-11-17T12:00:00-05:00": false,
		"2026-11-14T21:59:00-05:00": false, // Saturday
		"2026-11-14T22:00:00-05:00": true,
		"2026-11-15T02:59:00-05:00": true, // still Saturday's opening
		"2026-11-15T03:00:00-05:00": false,
		"2026-11-16T02:59:00-05:00": true, // Sunday's, on Monday
		"2026-12-25T12:00:00-05:00": false,
		"2026-12-26T19:59:00-05:00": false,
		"2026-12-26T20:00:00-05:00": true,
		"2026-12-27T00:59:00-05:00": true,
		"2026-12-27T01:00:00-05:00": false, // by the exception; the weekly span ran to 03:00
		"2027-01-03T02:00:00-05:00": true,  // Saturday's opening runs into a closed Sunday
		"2027-01-03T23:00:00-05:00": false,
		"2027-01-04T01:00:00-05:00": false,
		// The clock goes from 02:00 to 03:00: an hour of the night is missing.
		"2027-03-14T01:59:00-05:00": true,
		"2027-03-14T03:00:00-04:00": false,
		// The clock goes back from 02:00 to 01:00: both hours are open.
		"2026-11-01T01:30:00-04:00": true,
		"2026-11-01T01:30:00-05:00": true,
		"2026-11-01T02:59:00-05:00": true,
		"2026-11-01T03:00:00-05:00": false,
	} {
		instant, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := s.StateAt(beacon.MinuteOf(instant)); got != want || beacontest.IsOpen(s, instant) != want {
			t.Errorf("open at %s: %t, and %t minute by minute; want %t", at, got, beacontest.IsOpen(s, instant), want)
		}
	}
}

func TestSchedule_WithoutHours(t *testing.T) {
	var always *beacon.OperatingHours
	s, err := always.Schedule()
	if open, _ := s.StateAt(beacon.MinuteOf(noon)); err != nil || !open {
		t.Errorf("no hours: open %t, %v; want always open", open, err)
	}
	if open, _ := schedule(t, weekly()).StateAt(beacon.MinuteOf(noon)); open {
		t.Error("hours without a span are open")
	}
	if _, err := (&beacon.OperatingHours{Timezone: "Mars/Olympus"}).Schedule(); err == nil {
		t.Error("a zone that is gone is no error")
	}
}

// randomWeek makes up to six spans, overlapping or not.
func randomWeek(r *rand.Rand) []beacon.SpanForm {
	names := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	var spans []beacon.SpanForm
	for range 1 + r.IntN(6) {
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		open, length := r.IntN(24*60), 1+r.IntN(24*60)
		if r.IntN(2) == 0 { // short ones, or few weeks would be free of overlaps
			length = 1 + r.IntN(120)
		}
		closing := open + length
		if closing > 24*60 {
			closing -= 24 * 60
		}
		spans = append(spans, span(beacon.FormatClock(open), beacon.FormatClock(closing), slices.Clone(names[:1+r.IntN(3)])...))
	}
	return spans
}

// openings lists what the spans mean in the week of Monday 5 January 2026, UTC,
// and the Sunday before it: start and end of each.
func openings(t *testing.T, spans []beacon.SpanForm) (list [][2]time.Time) {
	t.Helper()
	for day := range 8 {
		date := time.Date(2026, 1, 4+day, 0, 0, 0, 0, time.UTC)
		for _, s := range spans {
			if !slices.Contains(s.Days.V, strings.ToLower(date.Format("Mon"))) {
				continue
			}
			from, errFrom := time.ParseDuration(s.Open.V[:2] + "h" + s.Open.V[3:] + "m")
			to, errTo := time.ParseDuration(s.Close.V[:2] + "h" + s.Close.V[3:] + "m")
			if errFrom != nil || errTo != nil {
				t.Fatal(errFrom, errTo)
			}
			if to <= from {
				to += 24 * time.Hour
			}
			list = append(list, [2]time.Time{date.Add(from), date.Add(to)})
		}
	}
	return list
}

// An oracle of intervals judges both the refusal of overlaps and StateAt, which
// know only minutes.
func TestHours_AgainstIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 24))
	var refused, accepted, open int
	for range 3000 {
		spans := randomWeek(r)
		list := openings(t, spans)
		overlap := false
		for i, a := range list {
			for _, b := range list[:i] {
				overlap = overlap || a[0].Before(b[1]) && b[0].Before(a[1])
			}
		}
		parsed, err := hours(weekly(spans...))
		if (err != nil) != overlap {
			t.Fatalf("%v: %v; the intervals overlap: %t", list, err, overlap)
		}
		if overlap {
			refused++
			continue
		}
		accepted++
		s, err := parsed.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			at := time.Date(2026, 1, 5, 0, r.IntN(7*24*60), r.IntN(60), 0, time.UTC)
			want := slices.ContainsFunc(list, func(i [2]time.Time) bool { return !at.Before(i[0]) && at.Before(i[1]) })
			if got, _ := s.StateAt(beacon.MinuteOf(at)); got != want || beacontest.IsOpen(s, at) != want {
				t.Fatalf("open at %s: %t, and %t minute by minute; the intervals say %t: %v", at, got, beacontest.IsOpen(s, at), want, list)
			}
			if want {
				open++
			}
		}
	}
	if refused < 300 || accepted < 300 || open < 1000 {
		t.Errorf("refused %d, accepted %d, open %d: too few to mean anything", refused, accepted, open)
	}
}

// maskZones have daylight saving in both hemispheres, by half an hour, by two
// hours, during Ramadan, odd offsets, and none.
func maskZones() []string {
	return []string{
		"UTC", "America/New_York", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia",
		"Africa/Casablanca", "Antarctica/Troll", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/St_Johns", "Asia/Kolkata",
	}
}

func TestSchedule_OpenMaskIsIsOpen(t *testing.T) {
	level.Repeats(t)
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
		for day := first; day.Year() < 2028; day = day.AddDate(0, 0, level.Rounds(5, 1, 1)) {
			mask := s.OpenMask(beacon.DayOf(day))
			for m := range 1440 {
				at := day.Add(time.Duration(m) * time.Minute)
				got := mask[m/64]>>(m%64)&1 != 0
				if want := beacontest.IsOpen(s, at); got != want {
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
	mask := beacon.Schedule{}.OpenMask(20_000)
	for m := range 23 * 64 {
		if got, want := mask[m/64]>>(m%64)&1 != 0, m < 1440; got != want {
			t.Fatalf("minute %d: open %v; want %v", m, got, want)
		}
	}
}
