package beacon

import (
	"errors"
	"time"
)

// Day is a UTC day, counted from 1970. It ends where the next one begins: at
// midnight UTC, whatever the clocks of a place do.
type Day int64

// Month is a calendar month of UTC days, counted from January 1970.
type Month int64

const monthsAYear = 12

// DayOf gives the day that has the moment.
func DayOf(t time.Time) Day {
	const seconds = 24 * 60 * 60
	day := t.Unix() / seconds
	if t.Unix()%seconds < 0 {
		day--
	}
	return Day(day)
}

// Time is the midnight with which the day begins.
func (d Day) Time() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

// Month is the month that has the day.
func (d Day) Month() Month { return MonthOf(d.Time()) }

// String writes the day like 2026-11-30.
func (d Day) String() string { return d.Time().Format(time.DateOnly) }

var (
	errDay   = errors.New("must be a day such as 2026-11-30")
	errMonth = errors.New("must be a month such as 2026-11")
)

// ParseDay reads a day as String writes it, of the years 1970 to 9999.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < 1970 {
		return 0, errDay
	}
	return DayOf(t), nil
}

// MonthOf gives the month that has the moment.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month((t.Year()-1970)*monthsAYear + int(t.Month()) - 1)
}

// First is the first day of the month.
func (m Month) First() Day { return DayOf(m.Start()) }

// Last is the last day of the month.
func (m Month) Last() Day { return (m + 1).First() - 1 }

// Start is the moment with which the month begins, and with which the one before
// it ends.
func (m Month) Start() time.Time {
	return time.Date(1970, time.January+time.Month(m), 1, 0, 0, 0, 0, time.UTC)
}

// String writes the month like 2026-11.
func (m Month) String() string { return m.Start().Format("2006-01") }

// MarshalText writes the month as String does.
func (m Month) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// MarshalText writes the day as String does.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// ParseMonth reads a month as String writes it, of the years 1970 to 9999.
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
