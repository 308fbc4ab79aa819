package beacon

import (
	"math/bits"
	"slices"
	"time"
)

const minutesAWeek = 7 * MinutesADay

// week has, for each minute of a week, the span that contains it, counted from 1.
type week [minutesAWeek]uint8

// take assigns the minutes of the span to its index i in the list. If another span
// has one of them already, it returns that span's index.
func (w *week) take(i int, s WeeklySpan) (rival int, overlaps bool) {
	for _, day := range s.Days {
		first := slices.Index(days(), day)*MinutesADay + s.Open
		for m := range duration(s.Open, s.Close) {
			minute := &w[(first+m)%minutesAWeek] // Sunday night runs into Monday
			if *minute != 0 {
				return int(*minute) - 1, true
			}
			*minute = uint8(i + 1)
		}
	}
	return 0, false
}

// duration returns the length of an opening in minutes of wall-clock time: 1..1440.
func duration(open, closing int) int {
	if closing <= open {
		closing += MinutesADay
	}
	return closing - open
}

// Schedule is operating hours prepared for queries. The zero value is always open.
type Schedule struct {
	zone       *time.Location
	weekly     [7][]ExceptionSpan // by time.Weekday
	exceptions map[string][]ExceptionSpan
}

// Schedule loads the zone once, for many queries. An error means that the zone is
// gone from the database.
func (o *OperatingHours) Schedule() (Schedule, error) {
	if o == nil {
		return Schedule{}, nil
	}
	zone, err := loadZone(o.Timezone)
	if err != nil {
		return Schedule{}, err
	}
	s := Schedule{zone: zone, exceptions: make(map[string][]ExceptionSpan, len(o.Exceptions))}
	for _, span := range o.Weekly {
		for _, day := range span.Days {
			weekday := (slices.Index(days(), day) + 1) % 7 // time.Weekday counts from Sunday
			s.weekly[weekday] = append(s.weekly[weekday], ExceptionSpan{span.Open, span.Close})
		}
	}
	for _, e := range o.Exceptions {
		s.exceptions[e.Date] = e.Spans
	}
	return s, nil
}

// Zone returns the zone of the hours, or nil if they are always open.
func (s Schedule) Zone() *time.Location { return s.zone }

// On returns the openings that begin on a date, and whether they replace its weekly ones.
// The caller must not change them.
func (s Schedule) On(date time.Time) (spans []ExceptionSpan, exceptional bool) {
	if len(s.exceptions) > 0 {
		var text [len(time.DateOnly)]byte
		if spans, ok := s.exceptions[string(date.AppendFormat(text[:0], time.DateOnly))]; ok {
			return spans, true
		}
	}
	return s.weekly[date.Weekday()], false
}

// Minutes has a bit for each of the 1440 minutes of a UTC day, the first in the
// lowest bit of the first word.
type Minutes = [23]uint64

// OpenMask returns those minutes of a UTC day that begin within an opening, by wall-clock
// time: an hour that daylight saving repeats counts twice, one that it skips not at all.
func (s Schedule) OpenMask(day Day) (mask Minutes) {
	first := int64(day) * MinutesADay
	end := first + MinutesADay
	if s.zone == nil {
		setMinutes(&mask, 0, MinutesADay)
		return mask
	}
	// Between two clock changes of the zone, local time is UTC plus an offset.
	for from := first; from < end; {
		local := time.Unix(from*60, 0).In(s.zone)
		_, offset := local.Zone()
		to := end
		if _, change := local.ZoneBounds(); !change.IsZero() {
			to = min(to, ceilDiv(change.Unix(), 60))
		}
		s.openWithin(from, to, int64(offset), func(a, b int64) { setMinutes(&mask, int(a-first), int(b-first)) })
		from = max(to, from+1)
	}
	return mask
}

// openWithin finds the openings in from..to, in minutes of UTC, while local time is
// ahead of it by offset seconds.
func (s Schedule) openWithin(from, to, offset int64, found func(from, to int64)) {
	local := func(utc int64) int64 { return floorDiv(utc*60+offset, 60) }
	ahead := local(from) - from
	// An opening of the date before may run past midnight.
	for date := floorDiv(local(from), MinutesADay) - 1; date*MinutesADay <= local(to-1); date++ {
		spans, _ := s.On(Day(date).Time())
		for _, span := range spans {
			opens := date*MinutesADay + int64(span.Open) - ahead
			closes := opens + int64(duration(span.Open, span.Close))
			if opens, closes = max(opens, from), min(closes, to); opens < closes {
				found(opens, closes)
			}
		}
	}
}

// foresight is how many days StateAt looks ahead. Each takes about a microsecond.
const foresight = 366

// StateAt reports whether a minute is open, as OpenMask says it, and the next minute
// that is not the same: until then it stays open, or closed. The next minute is
// LastMinute if nothing changes within a year.
func (s Schedule) StateAt(m Minute) (open bool, until Minute) {
	if s.zone == nil {
		return true, LastMinute
	}
	mask, minute := s.OpenMask(m.Day()), m.OfDay()
	open = mask[minute/64]>>(minute%64)&1 != 0
	for day := m.Day(); day <= m.Day()+foresight; day++ {
		if next := firstMinute(&mask, !open, minute); next < MinutesADay {
			return open, day.Midnight() + Minute(next)
		}
		mask, minute = s.OpenMask(day+1), 0
	}
	return open, LastMinute
}

// firstMinute returns the first minute from the given one on that is in the mask, or
// that is not. It is past the end of the day if there is none.
func firstMinute(mask *Minutes, in bool, from int) int {
	skip := from % 64
	for i := from / 64; i < len(mask); i++ {
		word := mask[i]
		if !in {
			word = ^word
		}
		if word = word >> skip << skip; word != 0 {
			return i*64 + bits.TrailingZeros64(word)
		}
		skip = 0
	}
	return MinutesADay
}

func setMinutes(out *Minutes, from, to int) {
	for from < to {
		word, bit := from/64, from%64
		n := min(64-bit, to-from)
		out[word] |= ^uint64(0) >> (64 - n) << bit
		from += n
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }
