package heartbeat

import (
	"math/bits"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Traits describe how a device behaved on a day, as its record shows it. Package review
// finds fake devices by them.
type Traits struct {
	Served  beacon.Minutes // and expected
	Bytes   [hoursADay]uint64
	Clients [hoursADay]uint16 // at most, in each hour
	Tests   []beacon.SpeedTest
	Boots   int // that were heard on the day

	// Overlaps is how many of them carried traffic over the same two hours or more as one
	// that began earlier: reboots follow each other, so this is another device.
	Overlaps int

	// Beats is about how many beats arrived, if Counted. They are counted by their numbers
	// in a boot that was heard on the day before too.
	Beats   int
	Counted bool
}

// Traits returns the traits of the record of a day, given that of the day before, or nil.
func (r *Record) Traits(before *Record) Traits {
	t := Traits{Served: beacon.Minutes(r.servedMinutes()), Clients: r.hours}
	for hour := range t.Bytes {
		t.Bytes[hour] = r.carried(hour)
	}
	for i := range r.tests {
		t.Tests = append(t.Tests, r.tests[i].SpeedTest)
	}
	type span struct{ first, last int } // hours with traffic
	var spans []span
	for i := range r.boots {
		b := &r.boots[i]
		if b.newest < r.day.Midnight() {
			continue
		}
		t.Boots++
		s := span{first: -1}
		for hour := range hoursADay {
			if b.carried(hour) > 0 {
				if s.last = hour; s.first < 0 {
					s.first = hour
				}
			}
		}
		if s.first >= 0 {
			spans = append(spans, s)
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.first - b.first })
	latest := -1
	for _, s := range spans {
		if s.first+2 <= min(s.last, latest) {
			t.Overlaps++
		}
		latest = max(latest, s.last)
	}
	t.count(r, before)
	return t
}

// count counts the beats of the newest boot.
func (t *Traits) count(r, before *Record) {
	b := r.newestBoot()
	if b == nil || before == nil || b.newest < r.day.Midnight() {
		return
	}
	was := before.find(b.id)
	if was == nil || b.top < was.top || was.newest.Day() != before.day {
		return
	}
	arrived := uint64(bits.OnesCount64(b.window)) + 1 // of the last 65 numbers
	grown := b.top - was.top
	t.Beats, t.Counted = int(min(grown, 1<<40)*arrived/(windowSize+1)), true
}

// RecordTraits returns the traits of a record as stored on disk, given that of the day
// before, or nil.
func RecordTraits(data, before []byte) (Traits, error) {
	r, err := DecodeRecord(data)
	if err != nil {
		return Traits{}, err
	}
	var past *Record
	if before != nil {
		if past, err = DecodeRecord(before); err != nil {
			return Traits{}, err
		}
	}
	return r.Traits(past), nil
}
