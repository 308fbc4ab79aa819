package beacon

import (
	"slices"
	"time"
)

// IsOpen reports whether t is within an opening, by wall-clock time. It says of one
// moment, simply, what OpenMask says of a day.
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

// within reports whether one of the openings contains the minute, counted from the
// midnight before it opened.
func within(spans []ExceptionSpan, minute int) bool {
	return slices.ContainsFunc(spans, func(s ExceptionSpan) bool {
		return minute >= s.Open && minute < s.Open+duration(s.Open, s.Close)
	})
}
