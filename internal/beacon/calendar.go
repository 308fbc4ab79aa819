package beacon

import (
	"errors"
	"time"
)

// Day is a UTC day, counted from 1970. It ends where the next one begins: at midnight
// UTC, whatever local clocks do.
type Day int64

// Month is a calendar month of UTC days, counted from January 1970.
type Month int64

const monthsAYear = 12

// DayOf returns the day that contains t.
func DayOf(t time.Time) Day { return Day(floorDiv(t.Unix(), 24*60*60)) }

// Time returns the midnight at which the day begins.
func (d Day) Time() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

// Month returns the month that contains the day.
func (d Day) Month() Month { return MonthOf(d.Time()) }

// String returns the day in the form 2026-11-30.
func (d Day) String() string { return d.Time().Format(time.DateOnly) }

var (
	errDay   = errors.New("must be a day such as 2026-11-30")
	errMonth = errors.New("must be a month such as 2026-11")
)

// ParseDay reads a day in the form of String, in the years 1970 to 9999.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < 1970 {
		return 0, errDay
	}
	return DayOf(t), nil
}

// MonthOf returns the month that contains t.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month((t.Year()-1970)*monthsAYear + int(t.Month()) - 1)
}

// First returns the first day of the month.
func (m Month) First() Day { return DayOf(m.Start()) }

// Last returns the last day of the month.
func (m Month) Last() Day { return (m + 1).First() - 1 }

// Start returns the moment at which the month begins and the previous one ends.
func (m Month) Start() time.Time {
	return time.Date(1970, time.January+time.Month(m), 1, 0, 0, 0, 0, time.UTC)
}

// String returns the month in the form 2026-11.
func (m Month) String() string { return m.Start().Format("2006-01") }

// MarshalText returns the month in the form of String.
func (m Month) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// MarshalText returns the day in the form of String.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// ParseMonth reads a month in the form of String, in the years 1970 to 9999.
func ParseMonth(text string) (Month, error) {
	t, err := time.Parse("2006-01", text)
	if err != nil || t.Year() < 1970 || len(text) != len("2026-11") {
		return 0, errMonth
	}
	return MonthOf(t), nil
}

// UnmarshalText reads what MarshalText wrote.
func (m *Month) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMonth(string(text))
	return err
}

// UnmarshalText reads what MarshalText wrote.
func (d *Day) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDay(string(text))
	return err
}

// TimeLayout is for reading what FormatTime writes.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// FormatTime returns a time as all interfaces write it: RFC 3339 in UTC, always with
// three digits of milliseconds (decision N22).
func FormatTime(t time.Time) string { return string(AppendTime(nil, t)) }

// AppendTime appends what FormatTime returns. It uses the one layout that package time
// formats fast, and inserts the milliseconds.
func AppendTime(out []byte, t time.Time) []byte {
	out = t.UTC().AppendFormat(out, time.RFC3339)
	ms := t.Nanosecond() / 1_000_000
	return append(out[:len(out)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}

// Earlier returns the earlier of two moments.
func Earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Later returns the later of two moments.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// MinutesADay is how many minutes a UTC day always has.
const MinutesADay = 24 * 60

// Minute counts minutes since 1970, UTC.
type Minute uint32

// LastMinute is the last minute that is counted, in the year 6053. A clock beyond it
// is broken.
const LastMinute = Minute(1<<31 - 1)

// MinuteOf returns the minute that t is in. A time before 1970 is in the first minute,
// and one too far ahead in the last.
func MinuteOf(t time.Time) Minute {
	return Minute(min(max(t.Unix()/60, 0), int64(LastMinute)))
}

// Time returns the start of the minute.
func (m Minute) Time() time.Time { return time.Unix(int64(m)*60, 0).UTC() }

// Day returns the day that the minute is in.
func (m Minute) Day() Day { return Day(m / MinutesADay) }

// OfDay returns the minute, counted from midnight.
func (m Minute) OfDay() int { return int(m % MinutesADay) }

// Midnight returns the minute at which the day begins.
func (d Day) Midnight() Minute { return Minute(d) * MinutesADay }
