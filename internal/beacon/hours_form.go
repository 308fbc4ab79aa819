package beacon

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for machines that have no zones installed
)

// HoursForm is the operating hours as sent by a client.
type HoursForm struct {
	Timezone   Opt[string]
	Weekly     Opt[[]SpanForm]
	Exceptions Opt[[]ExceptionForm]
}

// SpanForm is one weekly span as sent by a client.
type SpanForm struct {
	Days        Opt[[]string]
	Open, Close Opt[string] // "08:00"
}

// ExceptionForm is one exceptional day as sent by a client: closed, or when it opens
// and closes.
type ExceptionForm struct {
	Date        Opt[string] // "2026-12-25"
	Closed      Opt[bool]
	Open, Close Opt[string]
}

// How many spans and exceptions a schedule may have.
const (
	MaxWeeklySpans     = 50
	MaxHoursExceptions = 100
)

// merge returns the hours after the form is merged into the current ones, and records
// every fault by its path (decision D104). Where there are none yet, zone and weekly
// spans are required. The current hours do not change: others may hold them.
func (form HoursForm) merge(current *OperatingHours, path string, f *Faults) *OperatingHours {
	var hours OperatingHours
	if current != nil {
		hours = *current
	}
	if zone, ok := kept(form.Timezone, current != nil, path+".timezone", f); ok {
		_, err := loadZone(zone)
		f.Check(path+".timezone", err)
		hours.Timezone = zone
	}
	if spans, ok := kept(form.Weekly, current != nil, path+".weekly", f); ok {
		hours.Weekly = checkWeekly(spans, path+".weekly", f)
	}
	switch {
	case form.Exceptions.Null:
		hours.Exceptions = nil
	case form.Exceptions.Set:
		hours.Exceptions = checkExceptions(form.Exceptions.V, path+".exceptions", f)
	}
	return &hours
}

// kept returns the value of a field that may be absent only if there is one to keep.
func kept[T any](o Opt[T], isThere bool, field string, f *Faults) (v T, ok bool) {
	if isThere {
		return Optional(o, field, f)
	}
	return Required(o, field, f)
}

// loadZone returns a zone of the IANA database. The standard library accepts more
// names: "" and "Local", which mean whatever this machine is set to, and files that
// are beside the database on some machines only.
func loadZone(name string) (*time.Location, error) {
	bad := errors.New("must be an IANA time zone, such as America/New_York")
	switch name {
	case "", "Local", "localtime", "posixrules", "Factory":
		return nil, bad
	}
	if strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/") {
		return nil, bad
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, bad
	}
	return zone, nil
}

func checkWeekly(forms []SpanForm, path string, f *Faults) []WeeklySpan {
	if len(forms) > MaxWeeklySpans {
		f.Add(path, fmt.Sprintf("must have at most %d spans", MaxWeeklySpans))
		return nil
	}
	var week week
	spans := make([]WeeklySpan, len(forms))
	for i, form := range forms {
		at := fmt.Sprintf("%s[%d]", path, i)
		var own Faults
		spans[i].Days = checkDays(form.Days, at+".days", &own)
		spans[i].Open, spans[i].Close = checkTimes(form.Open, form.Close, at, &own)
		if !own.Any() {
			if rival, overlaps := week.take(i, spans[i]); overlaps {
				own.Add(at, fmt.Sprintf("overlaps weekly[%d]", rival))
			}
		}
		for _, fault := range own.list {
			f.Note(fault)
		}
	}
	return spans
}

func checkDays(form Opt[[]string], path string, f *Faults) []Weekday {
	names, ok := Required(form, path, f)
	if !ok {
		return nil
	}
	if len(names) < 1 || len(names) > len(days()) {
		f.Add(path, "must have 1 to 7 days")
		return nil
	}
	var list []Weekday
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch day := Weekday(name); {
		case !slices.Contains(days(), day):
			f.Add(at, "must be mon, tue, wed, thu, fri, sat or sun")
		case slices.Contains(list, day):
			f.Add(at, "must not name a day twice")
		default:
			list = append(list, day)
		}
	}
	return list
}

func checkTimes(open, closing Opt[string], path string, f *Faults) (from, to int) {
	if text, ok := Required(open, path+".open", f); ok {
		minute, err := ParseClock(text)
		if err == nil && minute == MinutesADay {
			err = errors.New("must be 00:00 to 23:59")
		}
		f.Check(path+".open", err)
		from = minute
	}
	if text, ok := Required(closing, path+".close", f); ok {
		minute, err := ParseClock(text)
		f.Check(path+".close", err)
		to = minute
	}
	return from, to
}

func checkExceptions(forms []ExceptionForm, path string, f *Faults) []HoursException {
	if len(forms) > MaxHoursExceptions {
		f.Add(path, fmt.Sprintf("must have at most %d days", MaxHoursExceptions))
		return nil
	}
	seen := map[string]bool{}
	list := make([]HoursException, len(forms))
	for i, form := range forms {
		at := fmt.Sprintf("%s[%d]", path, i)
		if date, ok := Required(form.Date, at+".date", f); ok {
			if _, err := time.Parse(time.DateOnly, date); err != nil {
				f.Add(at+".date", "must be a date, such as 2026-12-25")
			} else if seen[date] {
				f.Add(at+".date", "must not appear twice")
			}
			seen[date] = true
			list[i].Date = date
		}
		form.checkOpening(&list[i], at, f)
	}
	return list
}

// checkOpening reads whether the day is closed or has its own hours: one of the two,
// never both.
func (form ExceptionForm) checkOpening(e *HoursException, path string, f *Faults) {
	closed, ok := Optional(form.Closed, path+".closed", f)
	hasHours := form.Open.Set || form.Close.Set
	switch {
	case form.Closed.Set && !ok: // null, and recorded as such
	case closed && hasHours:
		f.Add(path, "must not have hours on a closed day")
	case closed:
		e.Closed = true
	case hasHours:
		open, closing := checkTimes(form.Open, form.Close, path, f)
		e.Spans = []ExceptionSpan{{Open: open, Close: closing}}
	default:
		f.Add(path, "must be closed, or have open and close")
	}
}

// ParseClock reads "08:00" as minutes after midnight. It accepts nothing looser, and
// "24:00" for the end of the day.
func ParseClock(s string) (minute int, err error) {
	if s == "24:00" {
		return MinutesADay, nil
	}
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("08:00") {
		return 0, errors.New("must be a time, such as 08:00")
	}
	return t.Hour()*60 + t.Minute(), nil
}

// FormatClock is the inverse of ParseClock.
func FormatClock(minute int) string {
	return fmt.Sprintf("%02d:%02d", minute/60, minute%60)
}
