package heartbeat

import (
	"encoding/binary"
	"slices"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Span is a range of minutes, both ends included.
type Span struct{ From, To beacon.Minute }

// Outages knows in which minutes the service itself was down, so that an outage of ours
// costs no operator anything (decision N16). It is safe for concurrent use.
type Outages struct {
	excused atomic.Pointer[[]Span] // sorted, with gaps in between
}

// NewOutages returns Outages without any.
func NewOutages() *Outages {
	s := &Outages{}
	s.excused.Store(&[]Span{})
	return s
}

// Set takes the spans in which any node was up, in any order; they may overlap. The
// time before the first is no outage, the time after the last is.
func (s *Outages) Set(spans []Span) {
	sorted := slices.Clone(spans)
	slices.SortFunc(sorted, func(a, b Span) int { return int(int64(a.From) - int64(b.From)) })
	excused := []Span{}
	var upTo beacon.Minute
	for i, span := range sorted {
		if i > 0 && span.From > upTo+1 {
			excused = excuse(excused, Span{upTo + 1, span.From - 1})
		}
		upTo = max(upTo, span.To)
	}
	if len(sorted) > 0 && upTo < beacon.LastMinute {
		excused = excuse(excused, Span{upTo + 1, beacon.LastMinute})
	}
	s.excused.Store(&excused)
}

// excuse appends an outage, extended by the minutes that a beat missed in it would have
// served.
func excuse(excused []Span, down Span) []Span {
	down.To = min(down.To+spread, beacon.LastMinute)
	if n := len(excused); n > 0 && down.From <= excused[n-1].To+1 {
		excused[n-1].To = max(excused[n-1].To, down.To)
		return excused
	}
	return append(excused, down)
}

// down reports whether the service was down in a minute: no beat arrived in it.
func (s *Outages) down(m beacon.Minute) bool {
	_, down := s.since(m)
	return down
}

// since returns the first minute of the outage that a minute is in, if it is in one.
func (s *Outages) since(m beacon.Minute) (from beacon.Minute, down bool) {
	excused := *s.excused.Load()
	if i := endingFrom(excused, m+spread); i < len(excused) && excused[i].From <= m {
		return excused[i].From, true
	}
	return 0, false
}

// allDay reports whether the service was down from the beginning to the end of a day.
func (s *Outages) allDay(day beacon.Day) bool {
	from, down := s.since((day + 1).Midnight() - 1)
	return down && from <= day.Midnight()
}

// mask returns the excused minutes of a day.
func (s *Outages) mask(day beacon.Day) (mask dayBits) {
	excused := *s.excused.Load()
	first, end := day.Midnight(), (day + 1).Midnight()
	for i := endingFrom(excused, first); i < len(excused) && excused[i].From < end; i++ {
		from, to := max(excused[i].From, first), min(excused[i].To+1, end)
		mask.setRange(int(from-first), int(to-first))
	}
	return mask
}

// inHour returns the excused minutes of an hour.
func (s *Outages) inHour(h hour) (mask uint64) {
	excused := *s.excused.Load()
	first, end := h.first(), (h + 1).first()
	for i := endingFrom(excused, first); i < len(excused) && excused[i].From < end; i++ {
		from, to := max(excused[i].From, first), min(excused[i].To+1, end)
		mask |= rangeWord(0, int(from-first), int(to-first))
	}
	return mask
}

// endingFrom returns the index of the first span that does not end before m.
func endingFrom(spans []Span, m beacon.Minute) int {
	i, _ := slices.BinarySearchFunc(spans, m, func(s Span, m beacon.Minute) int { return int(int64(s.To) - int64(m)) })
	return i
}

// timeline says which operating hours were in force when. Hotspots with the same hours
// share one, since most have none or one of a few.
type timeline struct {
	key     string
	users   int
	periods []period

	// A cache of the last two days that were asked for, by day modulo 2: the days, plus
	// 1, and their minutes. The mutex of the Table guards it.
	days  [2]beacon.Day
	masks [2]dayBits
}

// period is operating hours, and the minute until which they were in force.
type period struct {
	until beacon.Minute
	hours beacon.Schedule
}

// mask returns the minutes of a day in which the hotspot meant to be open.
func (l *timeline) mask(day beacon.Day) *dayBits {
	place := day & 1
	if l.days[place] != day+1 {
		l.days[place] = day + 1
		l.masks[place] = l.compute(day)
	}
	return &l.masks[place]
}

func (l *timeline) compute(day beacon.Day) (mask dayBits) {
	first := day.Midnight()
	from := first
	for _, p := range l.periods {
		if p.until <= from {
			continue
		}
		open := dayBits(p.hours.OpenMask(day))
		to := min(p.until, first+beacon.MinutesADay)
		open.keepRange(int(from-first), int(to-first))
		mask.join(&open)
		if from = to; from == first+beacon.MinutesADay {
			break
		}
	}
	return mask
}

// newTimeline returns the timeline of a hotspot. A time zone that is gone from the zone
// database leaves the hotspot open: we cannot say when it is closed.
func newTimeline(key string, h *beacon.Hotspot) *timeline {
	l := &timeline{key: key}
	for _, past := range h.PastHours {
		hours, _ := past.Hours.Schedule()
		l.periods = append(l.periods, period{firstFrom(past.Until), hours})
	}
	hours, _ := h.Settings.OperatingHours.Schedule()
	l.periods = append(l.periods, period{beacon.LastMinute, hours})
	return l
}

// firstFrom returns the first minute that begins at t or later.
func firstFrom(t time.Time) beacon.Minute {
	m := beacon.MinuteOf(t)
	if m.Time().Before(t) {
		m++
	}
	return m
}

// timelineKey returns a key that is equal for equal hours. Always open is "".
func timelineKey(h *beacon.Hotspot) string {
	if h.Settings.OperatingHours == nil && len(h.PastHours) == 0 {
		return ""
	}
	var out []byte
	for _, past := range h.PastHours {
		out = binary.AppendVarint(out, past.Until.UnixMicro())
		out = past.Hours.AppendKey(out)
	}
	out = append(out, 0)
	return string(h.Settings.OperatingHours.AppendKey(out))
}
