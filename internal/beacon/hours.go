package beacon

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// OperatingHours are when a hotspot is meant to be open (decision N10).
type OperatingHours struct {
	Timezone   string // IANA
	Weekly     []WeeklySpan
	Exceptions []HoursException
}

// WeeklySpan opens on each of Days at Open and closes at Close, both in minutes after
// local midnight, 0..1440. If Close ≤ Open, it runs past midnight.
type WeeklySpan struct {
	Days        []Weekday
	Open, Close int
}

// Weekday is a day of the week as the interface writes it: "mon".."sun".
type Weekday string

// HoursException replaces the weekly hours on one local date, such as "2026-12-25":
// closed all day, or open in Spans. An opening belongs to the date on which it
// begins: one that began the evening before may still run past midnight.
type HoursException struct {
	Date   string
	Closed bool
	Spans  []ExceptionSpan
}

// ExceptionSpan is one opening of an exceptional day.
type ExceptionSpan struct {
	Open, Close int
}

// days returns the days of the week, Monday first.
func days() []Weekday {
	return []Weekday{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
}

// Equal reports whether the settings are the same.
func (s Settings) Equal(other Settings) bool {
	a, b := s.OperatingHours, other.OperatingHours
	s.OperatingHours, other.OperatingHours = nil, nil
	return s == other && a.Equal(b)
}

// Equal compares hours as the interface shows them: an empty list equals no list.
func (o *OperatingHours) Equal(other *OperatingHours) bool {
	return bytes.Equal(o.AppendKey(nil), other.AppendKey(nil))
}

// AppendKey appends a key by which equal hours are found. Nil hours have one, too.
func (o *OperatingHours) AppendKey(out []byte) []byte {
	if o == nil {
		return append(out, 0)
	}
	number := func(n int) { out = binary.AppendVarint(out, int64(n)) }
	text := func(s string) {
		number(len(s))
		out = append(out, s...)
	}
	out = append(out, 1)
	text(o.Timezone)
	number(len(o.Weekly))
	for _, w := range o.Weekly {
		number(len(w.Days))
		for _, day := range w.Days {
			text(string(day))
		}
		number(w.Open)
		number(w.Close)
	}
	number(len(o.Exceptions))
	for _, e := range o.Exceptions {
		text(e.Date)
		out = strconv.AppendBool(out, e.Closed)
		number(len(e.Spans))
		for _, s := range e.Spans {
			number(s.Open)
			number(s.Close)
		}
	}
	return out
}
