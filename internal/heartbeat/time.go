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

	// lastMinute ends what this package can count: the year 6053. A clock that
	// says more is broken.
	lastMinute = Minute(1<<31 - 1)
)

// MinuteOf gives the minute that t falls into. What lies before 1970 is in its
// first minute, and what lies too far ahead in the last that can be counted.
func MinuteOf(t time.Time) Minute {
	return Minute(min(max(t.Unix()/60, 0), int64(lastMinute)))
}

// Time is when the minute begins.
func (m Minute) Time() time.Time { return time.Unix(int64(m)*60, 0).UTC() }

// Day is the day that has the minute.
func (m Minute) Day() Day { return Day(m / minutesADay) }

func (m Minute) hour() hour { return hour(m / 60) }

// ofDay counts the minute from midnight.
func (m Minute) ofDay() int { return int(m % minutesADay) }

// First is the minute at midnight.
func (d Day) First() Minute { return Minute(d) * minutesADay }

// Time is the midnight with which the day begins.
func (d Day) Time() time.Time { return d.First().Time() }

func (d Day) firstHour() hour { return hour(d) * hoursADay }

func (h hour) first() Minute { return Minute(h) * 60 }

func (h hour) day() Day { return Day(h / hoursADay) }

// ofDay counts the hour from midnight.
func (h hour) ofDay() int { return int(h % hoursADay) }
