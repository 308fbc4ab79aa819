package heartbeat

import (
	"math/bits"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Facts returns what the hotspot did in the sealed minutes. Traffic counts in hours of
// which a minute was expected or excused, and where it was carried before the hotspot
// closed: other traffic of a hotspot that is closed or not in service earns no reward.
// Bytes has all of it.
func (r *Record) Facts() beacon.Facts {
	f := beacon.Facts{Served: r.Served(), Expected: r.sealed, Tier: r.Tier()}
	var open dayBits // in service, and not closed
	for i := range open {
		outside, closed := r.why.outside[i], r.why.closed[i]
		f.Outside += bits.OnesCount64(outside)
		f.Closed += bits.OnesCount64(closed &^ outside)
		f.Excused += bits.OnesCount64(r.why.excused[i] &^ closed &^ outside)
		open[i] = rangeWord(i, 0, r.sealed) &^ closed &^ outside
	}
	f.Expected -= f.Outside + f.Closed + f.Excused
	for hour := range hoursADay {
		if open.from(hour*60)&hourBits != 0 {
			f.Bytes += r.carried(hour)
		} else {
			f.Bytes += r.owed(hour)
		}
	}
	return f
}

// RecordFacts returns the facts of a record as stored on disk.
func RecordFacts(data []byte) (beacon.Facts, error) {
	r, err := DecodeRecord(data)
	if err != nil {
		return beacon.Facts{}, err
	}
	return r.Facts(), nil
}

// RecordDid returns the facts of a record as stored on disk, with the minutes that were
// served.
func RecordDid(data []byte) (beacon.Did, error) {
	r, err := DecodeRecord(data)
	if err != nil {
		return beacon.Did{}, err
	}
	return r.Did(), nil
}

// Facts returns what a hotspot did on a day, as its record would say if it were written
// now and sealed up to and including this minute. r is the record of that day on disk,
// or nil if memory has all of it. known is false if neither has the day.
func (t *Table) Facts(l *Live, day beacon.Day, r *Record, now time.Time) (f beacon.Facts, known bool) {
	known = t.look(l, day, r, beacon.MinuteOf(now), 0, func(_ *Record, facts beacon.Facts) { f = facts })
	return f, known
}

// Decided is Facts as of the minutes that are decided, with those that it served. Later
// beats do not change them.
func (t *Table) Decided(l *Live, day beacon.Day, r *Record, now time.Time) (d beacon.Did, known bool) {
	known = t.look(l, day, r, beacon.MinuteOf(now), sealLag, func(own *Record, facts beacon.Facts) {
		d = beacon.Did{Facts: facts, Minutes: own.servedMinutes()}
	})
	return d, known
}

// look calls see with the record of a day and its facts, sealed up to and including the
// minute that is lag minutes before now. It returns false if there is no record.
func (t *Table) look(l *Live, day beacon.Day, r *Record, now, lag beacon.Minute, see func(*Record, beacon.Facts)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed != 0 {
		k := t.unpack(l)
		k.roll(now)
		if at, found := k.find(day); found {
			own := &k.days[at]
			if r != nil {
				own.join(r)
			}
			own.seal(&k.rules, max(now+1, lag)-lag)
			f := own.Facts()
			if own.sealed > 0 && !own.Settled() { // the current hour has a tier too
				f.Tier, _ = own.tier(day.Midnight() + beacon.Minute(own.sealed) - 1)
			}
			see(own, f)
			return true
		}
	}
	if r != nil {
		see(r, r.Facts())
	}
	return r != nil
}

// Did returns what the hotspot did in the sealed minutes, and which of them it served.
func (r *Record) Did() beacon.Did { return beacon.Did{Facts: r.Facts(), Minutes: r.servedMinutes()} }

// Unrecorded returns why nothing was expected of a hotspot on a day that is over and has
// no record, such as one on which the service was down. It goes by the hotspot's hours of
// today. known is false if by these something was expected.
func (t *Table) Unrecorded(l *Live, day beacon.Day) (f beacon.Facts, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state&placed == 0 {
		return beacon.Facts{}, false
	}
	c := t.rules(l)
	why, r := c.reasons(day), Record{day: day, sealed: beacon.MinutesADay}
	r.why.add(&why, 0, beacon.MinutesADay)
	f = r.Facts()
	return f, f.Expected == 0
}
