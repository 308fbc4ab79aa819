package beacon

import (
	"slices"
	"time"
)

// week has, for each minute of a week, the span that contains it, counted from 1.
type week [minutesAWeek]uint8

// take assigns the minutes of the span to its index i in the list. If another span
// has one of them already, it returns that span's index.
func (w *week) take(i int, s WeeklySpan) (rival int, overlaps bool) {
	for _, day := range s.Days {
		first := slices.Index(days(), day)*minutesADay + s.Open
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
		closing += minutesADay
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

// IsOpen reports whether t is within an opening, by wall-clock time: an hour that
// daylight saving repeats counts twice, one that it skips not at all.
func (s Schedule) IsOpen(t time.Time) bool {
	if s.zone == nil {
		return true
	}
	local := t.In(s.zone)
	minute := local.Hour()*60 + local.Minute()
	// A date has no zone: the day before is computed in UTC, where all days are
	// equally long.
	today := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	return within(s.on(today), minute) || within(s.on(today.AddDate(0, 0, -1)), minute+minutesADay)
}

// on returns the openings that begin on a date.
func (s Schedule) on(date time.Time) []ExceptionSpan {
	if len(s.exceptions) > 0 {
		var text [len(time.DateOnly)]byte
		if spans, ok := s.exceptions[string(date.AppendFormat(text[:0], time.DateOnly))]; ok {
			return spans
		}
	}
	return s.weekly[date.Weekday()]
}

// within reports whether one of the openings contains the minute, counted from the
// midnight before it opened.
func within(spans []ExceptionSpan, minute int) bool {
	return slices.ContainsFunc(spans, func(s ExceptionSpan) bool {
		return minute >= s.Open && minute < s.Open+duration(s.Open, s.Close)
	})
}
