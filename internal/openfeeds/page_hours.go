package openfeeds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// shownHours is when a hotspot is open on one day of the week.
type shownHours struct {
	Day, Hours string
	Today      bool
}

// week returns the openings of the seven days from today on, Monday first, by the clock of
// the hotspot. A day with exceptional hours has its date.
func (w *words) week(hours *beacon.Schedule, now time.Time) []shownHours {
	today := dateOf(now.In(hours.Zone()))
	week := make([]shownHours, 7)
	for ahead := range week {
		date := today.AddDate(0, 0, ahead)
		spans, exceptional := hours.On(date)
		day := shownHours{Day: w.days[date.Weekday()], Hours: w.spans(spans), Today: ahead == 0}
		if exceptional {
			day.Day += ", " + w.day(date)
		}
		week[(date.Weekday()+6)%7] = day
	}
	return week
}

// dateOf returns a local date as one of UTC, where all days are equally long.
func dateOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

func (w *words) spans(spans []beacon.ExceptionSpan) string {
	if len(spans) == 0 {
		return w.closedDay
	}
	spans = slices.SortedFunc(slices.Values(spans), func(a, b beacon.ExceptionSpan) int { return a.Open - b.Open })
	texts := make([]string, len(spans))
	for i, s := range spans {
		texts[i] = clock(s.Open) + "–" + clock(s.Close)
		if s.Open == 0 && s.Close%(24*60) == 0 {
			texts[i] = w.allDay
		}
	}
	return strings.Join(texts, ", ")
}

// clock returns minutes after midnight as "08:00".
func clock(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// hours says whether a hotspot is open, and until when by its own clock.
func (w *words) hours(h *hotspot, now time.Time) string {
	state := w.closed
	if h.open {
		state = w.open
	}
	switch {
	case h.always:
		return w.always
	case h.until.IsZero():
		return state
	case h.hours == nil || h.hours.Zone() == nil: // its clock is not known
		return fmt.Sprintf(w.until, state, fmt.Sprintf(w.onDay, w.date(h.until.UTC()), h.until.UTC().Format("15:04 UTC")))
	}
	at := h.until.In(h.hours.Zone())
	date, minute := dateOf(at), at.Hour()*60+at.Minute()
	if h.open && minute == 0 { // it closes at the end of a day
		date, minute = date.AddDate(0, 0, -1), 24*60
	}
	var text string
	switch away := date.Sub(dateOf(now.In(h.hours.Zone()))) / (24 * time.Hour); {
	case away == 0:
		text = fmt.Sprintf(w.atClock, clock(minute))
	case away < 7:
		text = fmt.Sprintf(w.onDay, w.days[date.Weekday()], clock(minute))
	default:
		text = fmt.Sprintf(w.onDay, w.date(date), clock(minute))
	}
	return fmt.Sprintf(w.until, state, strings.Replace(text, "las 01:", "la 01:", 1)) // one o'clock is singular in Spanish
}
