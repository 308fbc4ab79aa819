package beacon_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

var (
	dayForm   = regexp.MustCompile(`^([0-9]{4})-([0-9]{2})-([0-9]{2})$`)
	monthForm = regexp.MustCompile(`^([0-9]{4})-([0-9]{2})$`)
	clockForm = regexp.MustCompile(`^(([01][0-9]|2[0-3]):([0-5][0-9])|24:00)$`)
)

// A day is read when it has the one form and is on the calendar, and is then
// written as it was.
func FuzzParseDay(f *testing.F) {
	for _, seed := range []string{"2026-11-15", "1970-01-01", "1969-12-31", "9999-12-31", "2026-02-29", "2028-02-29", "1900-02-29", "2026-2-1", "2026-02-01T00:00:00Z", "+2026-01-01", "2026-00-10", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		day, err := beacon.ParseDay(text)
		valid := false
		if parts := dayForm.FindStringSubmatch(text); parts != nil {
			y, m, d := atoi(parts[1]), atoi(parts[2]), atoi(parts[3])
			at := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) // which makes February 30th March 2nd
			valid = y >= 1970 && at.Year() == y && int(at.Month()) == m && at.Day() == d
		}
		if valid != (err == nil) || valid && day.String() != text {
			t.Errorf("%q is read as %s, %v; valid: %t", text, day, err, valid)
		}
	})
}

// The same of a month.
func FuzzParseMonth(f *testing.F) {
	for _, seed := range []string{"2026-11", "1970-01", "1969-12", "2026-13", "2026-1", "2026-011", "9999-12", "2026-11-15", "２０２６-11", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		month, err := beacon.ParseMonth(text)
		parts := monthForm.FindStringSubmatch(text)
		valid := parts != nil && atoi(parts[1]) >= 1970 && atoi(parts[2]) >= 1 && atoi(parts[2]) <= 12
		if valid != (err == nil) || valid && month.String() != text {
			t.Errorf("%q is read as %s, %v; valid: %t", text, month, err, valid)
		}
	})
}

// The same of a time of the day, which may be its end.
func FuzzParseClock(f *testing.F) {
	for _, seed := range []string{"00:00", "08:05", "23:59", "24:00", "24:01", "8:00", "08:60", "08:00:00", "-1:00", "0x:00", "08：00", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		minute, err := beacon.ParseClock(text)
		valid := clockForm.MatchString(text)
		if valid != (err == nil) || valid && (fmt.Sprintf("%02d:%02d", minute/60, minute%60) != text || beacon.FormatClock(minute) != text) {
			t.Errorf("%q is read as %d, %v; valid: %t", text, minute, err, valid)
		}
	})
}

func atoi(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
