package beacon

import "time"

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
