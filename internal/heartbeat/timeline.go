package heartbeat

import (
	"encoding/binary"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// timeline says which operating hours were in force when. Hotspots with the same hours
// share one, since most have none or one of a few.
type timeline struct {
	key     string
	users   int
	periods []period

	// A cache of the last two days that were asked for, by day modulo 2: the days, plus
	// 1, and their minutes.
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
		var open dayBits
		p.hours.OpenMask(day, (*beacon.Minutes)(&open))
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
