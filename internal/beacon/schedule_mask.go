package beacon

import "time"

// Minutes has a bit for each of the 1440 minutes of a UTC day, the first in the
// lowest bit of the first word.
type Minutes = [23]uint64

// OpenMask sets the bits of those minutes of a UTC day at whose
// beginning IsOpen holds. Use it if all of them are needed: a day costs about as much
// as five calls of IsOpen.
func (s Schedule) OpenMask(day Day, out *Minutes) {
	*out = Minutes{}
	first := int64(day) * minutesADay
	end := first + minutesADay
	if s.zone == nil {
		setMinutes(out, 0, minutesADay)
		return
	}
	// Between two clock changes of the zone, local time is UTC plus an offset.
	for from := first; from < end; {
		local := time.Unix(from*60, 0).In(s.zone)
		_, offset := local.Zone()
		to := end
		if _, change := local.ZoneBounds(); !change.IsZero() {
			to = min(to, ceilDiv(change.Unix(), 60))
		}
		s.openWithin(from, to, int64(offset), func(a, b int64) { setMinutes(out, int(a-first), int(b-first)) })
		from = max(to, from+1)
	}
}

// openWithin finds the openings in from..to, in minutes of UTC, while local time is
// ahead of it by offset seconds.
func (s Schedule) openWithin(from, to, offset int64, found func(from, to int64)) {
	local := func(utc int64) int64 { return floorDiv(utc*60+offset, 60) }
	ahead := local(from) - from
	// An opening of the date before may run past midnight.
	for date := floorDiv(local(from), minutesADay) - 1; date*minutesADay <= local(to-1); date++ {
		for _, span := range s.on(time.Unix(date*minutesADay*60, 0).UTC()) {
			opens := date*minutesADay + int64(span.Open) - ahead
			closes := opens + int64(duration(span.Open, span.Close))
			if opens, closes = max(opens, from), min(closes, to); opens < closes {
				found(opens, closes)
			}
		}
	}
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
