package beacon_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
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

// inPlaces runs a test as if the machine stood in places whose clocks jump, or
// are 45 minutes off. It gives the zones too.
func inPlaces(t *testing.T, test func(t *testing.T, zone *time.Location)) {
	here := time.Local
	t.Cleanup(func() { time.Local = here })
	for _, place := range []string{"UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Kiritimati", "Pacific/Pago_Pago"} {
		zone, err := time.LoadLocation(place)
		if err != nil {
			t.Fatal(err)
		}
		time.Local = zone
		t.Run(place, func(t *testing.T) { test(t, zone) })
	}
}

// Months tile the axis of time: each begins at the moment with which the one
// before it ends, and has the days of the calendar.
func TestMonth_Tiles(t *testing.T) {
	inPlaces(t, func(t *testing.T, zone *time.Location) {
		day, month := beacon.Day(0), beacon.Month(0)
		seconds := int64(0) // since 1970, counted by hand
		for year := 1970; year <= 2100; year++ {
			for m := 1; m <= 12; m++ {
				days := daysIn(year, m)
				if got := month.String(); got != fmt.Sprintf("%04d-%02d", year, m) {
					t.Fatalf("month %d is %s; want %04d-%02d", month, got, year, m)
				}
				if month.First() != day || month.Last() != day+beacon.Day(days)-1 {
					t.Fatalf("%s goes from %d to %d; want %d and %d days", month, month.First(), month.Last(), day, days)
				}
				checkBorder(t, zone, seconds, day, month)
				if month.Start().Unix() != seconds || month.Start().Location() != time.UTC {
					t.Fatalf("%s begins at %s", month, month.Start())
				}
				for d := 1; d <= days; d++ {
					checkDay(t, zone, day, month, fmt.Sprintf("%04d-%02d-%02d", year, m, d))
					day++
					seconds += beacon.MinutesADay * 60
				}
				month++
			}
		}
		if month != 131*12 || day != 47_847 {
			t.Errorf("saw %d months and %d days; want 131 years, of 365 days and 32 leap days", month, day)
		}
	})
}

// checkBorder looks at the instants around the beginning of a month, told in the
// time of a place.
func checkBorder(t *testing.T, zone *time.Location, seconds int64, day beacon.Day, month beacon.Month) {
	t.Helper()
	for _, instant := range []struct {
		nanos int64
		back  int64
	}{{-1, 1}, {0, 0}, {1, 0}} {
		at := time.Unix(seconds, instant.nanos).In(zone)
		if got, want := beacon.MonthOf(at), month-beacon.Month(instant.back); got != want {
			t.Fatalf("%s is in month %s; want %s", at, got, want)
		}
		if got, want := beacon.DayOf(at), day-beacon.Day(instant.back); got != want {
			t.Fatalf("%s is on day %d; want %d", at, got, want)
		}
	}
}

func checkDay(t *testing.T, zone *time.Location, day beacon.Day, month beacon.Month, want string) {
	t.Helper()
	noon := day.Time().Add(12 * time.Hour).In(zone)
	if day.String() != want || day.Month() != month || beacon.DayOf(noon) != day {
		t.Fatalf("day %d is %s in %s, and its noon on day %d; want %s in %s", day, day, day.Month(), beacon.DayOf(noon), want, month)
	}
	if read, err := beacon.ParseDay(want); err != nil || read != day {
		t.Fatalf("ParseDay(%s) = %d, %v; want %d", want, read, err, day)
	}
}

// The month before is not 30 days ago, nor "the same day, one month less", which
// on the 29th to the 31st does not always exist.
func TestMonth_Before(t *testing.T) {
	inPlaces(t, func(t *testing.T, zone *time.Location) {
		for today, want := range map[string]string{
			"2026-03-28": "2026-02", "2026-03-29": "2026-02", "2026-03-30": "2026-02", "2026-03-31": "2026-02",
			"2024-03-29": "2024-02", "2024-03-31": "2024-02", "2026-05-31": "2026-04", "2026-12-31": "2026-11",
			"2026-01-29": "2025-12", "2026-01-31": "2025-12", "2026-08-31": "2026-07", "2028-02-29": "2028-01",
		} {
			for _, clock := range []string{"T00:00:00Z", "T23:59:59.999999999Z"} {
				now, err := time.Parse(time.RFC3339Nano, today+clock)
				if err != nil {
					t.Fatal(err)
				}
				if got := (beacon.MonthOf(now.In(zone)) - 1).String(); got != want {
					t.Errorf("the month before %s is %s; want %s", now, got, want)
				}
			}
		}
	})
}

func TestMonth_February(t *testing.T) {
	for year, want := range map[int]string{
		1972: "1972-02-29", 1973: "1973-02-28", 2000: "2000-02-29", 2024: "2024-02-29", 2026: "2026-02-28", 2100: "2100-02-28",
	} {
		february, err := beacon.ParseMonth(fmt.Sprintf("%d-02", year))
		if err != nil {
			t.Fatal(err)
		}
		if got := february.Last().String(); got != want {
			t.Errorf("the last day of %s is %s; want %s", february, got, want)
		}
	}
}

func TestParseDay_Refuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "2026-02-30", "2026-02-29", "2100-02-29", "2026-13-01", "2026-00-01", "2026-01-00", "2026-1-01", "2026-2-1",
		"2026-02-01T00:00:00Z", "2026-02-01 ", " 2026-02-01", "2026-02", "20260201", "2026/02/01", "01-02-2026", "0000-01-01",
		"1969-12-31", "10000-01-01", "-2026-02-01", "+2026-02-01", "2026-02-1x", "٢٠٢٦-٠٢-٠١", "2026-02-01.5", "today",
	} {
		if got, err := beacon.ParseDay(text); err == nil {
			t.Errorf("ParseDay(%q) = %s; want an error", text, got)
		}
	}
}

func TestParseMonth_Refuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "2026-13", "2026-00", "2026-1", "2026-011", "2026-01-01", "2026-01 ", " 2026-01", "202601", "2026/01", "0000-01",
		"1969-12", "10000-01", "-2026-01", "+026-01", "Jan 2026", "٢٠٢٦-٠١", "2026-0x", "last",
	} {
		if got, err := beacon.ParseMonth(text); err == nil {
			t.Errorf("ParseMonth(%q) = %s; want an error", text, got)
		}
	}
}

func TestCalendar_RoundTrip(t *testing.T) {
	type span struct {
		Day   beacon.Day
		Month beacon.Month
	}
	for _, text := range []string{
		`{"Day":"1970-01-01","Month":"1970-01"}`, `{"Day":"2024-02-29","Month":"2024-02"}`, `{"Day":"9999-12-31","Month":"9999-12"}`,
	} {
		var read span
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(read)
		if err != nil || string(written) != text || read.Day.Month() != read.Month {
			t.Errorf("%s is read as %+v, and written as %s, %v", text, read, written, err)
		}
	}
	for _, text := range []string{`{"Day":20000}`, `{"Day":"2026-02-30"}`, `{"Month":1}`, `{"Month":"2026-2"}`} {
		var read span
		if err := json.Unmarshal([]byte(text), &read); err == nil {
			t.Errorf("%s is read as %+v", text, read)
		}
	}
}
