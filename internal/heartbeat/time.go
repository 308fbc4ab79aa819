package heartbeat

import "time"

// Minute counts minutes since 1970, UTC.
type Minute uint32

// Day counts days since 1970, UTC.
type Day uint32

// hour counts hours since 1970, UTC.
type hour uint32

const (
	minutesADay = 1440
	hoursADay   = 24
	microMinute = 60_000_000

	// lastMinute is the last minute that this package can count, in the year 6053. A
	// clock beyond it is broken.
	lastMinute = Minute(1<<31 - 1)
)

// MinuteOf returns the minute that t is in. A time before 1970 is in the first minute,
// and one too far ahead in the last that can be counted.
func MinuteOf(t time.Time) Minute {
	return Minute(min(max(t.Unix()/60, 0), int64(lastMinute)))
}

// Time returns the start of the minute.
func (m Minute) Time() time.Time { return time.Unix(int64(m)*60, 0).UTC() }

// Day returns the day that the minute is in.
func (m Minute) Day() Day { return Day(m / minutesADay) }

func (m Minute) hour() hour { return hour(m / 60) }

// ofDay returns the minute, counted from midnight.
func (m Minute) ofDay() int { return int(m % minutesADay) }

// First returns the minute at midnight.
func (d Day) First() Minute { return Minute(d) * minutesADay }

// Time returns the midnight at which the day begins.
func (d Day) Time() time.Time { return d.First().Time() }

func (d Day) firstHour() hour { return hour(d) * hoursADay }

func (h hour) first() Minute { return Minute(h) * 60 }

func (h hour) day() Day { return Day(h / hoursADay) }

// ofDay returns the hour, counted from midnight.
func (h hour) ofDay() int { return int(h % hoursADay) }
