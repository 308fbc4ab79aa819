package beacon

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Place is where a hotspot is paid for on a day.
type Place struct {
	Point     geo.Point
	Measured  bool      // an exact visit measured the point; otherwise it is as registered
	AccuracyM float64   // of that measurement
	Since     Day       // the first day of this place: the hotspot may have been elsewhere meanwhile
	Began     Day       // the first day since it is there without a break
	ProvenAt  time.Time // by the last visit that proves it; zero if none does
	VouchedAt time.Time // when check-ins last extended that; zero if they did not
	Test      SpeedTest // the last of a visit before the day; may be none
}

// Visited reports whether staff have visited the place in the year before a day.
func (p Place) Visited(day Day) bool {
	return !p.ProvenAt.IsZero() && p.ProvenAt.Add(proofTime).After(day.Time())
}

// Proven reports whether the place is proven on a day: whether that was so when the day
// began. On the day of its first visit a hotspot is proven from then on.
func (p Place) Proven(day Day) bool { return p.provenUntil().After(day.Time()) }

// provenUntil returns when the proof ends, or the zero time if there is none.
func (p Place) provenUntil() time.Time {
	if p.ProvenAt.IsZero() {
		return time.Time{}
	}
	until := p.ProvenAt.Add(proofTime)
	if p.VouchedAt.IsZero() {
		return until
	}
	return Later(until, Earlier(p.VouchedAt.Add(vouchTime), p.ProvenAt.Add(proofAtMost)))
}

// PlaceOn returns where the hotspot is paid for on a day. A visit counts from the next day
// on, but for the first: until then there was no place. A hotspot that was never visited
// has the registered point, which nothing proves.
func (h *Hotspot) PlaceOn(day Day) Place {
	visits := h.visits()
	if len(visits) == 0 {
		return Place{Point: h.Location.Point}
	}
	p := placeOn(visits, day)
	for _, at := range h.Vouches {
		if on := DayOf(at); on >= p.Began && on < day {
			p.VouchedAt = at
		}
	}
	return p
}

// ProvenUntil returns when the proof of the place ends, with the visits and check-ins until
// now, or the zero time if the place is not verified or nothing proves it.
func (h *Hotspot) ProvenUntil(now time.Time) time.Time {
	if h.Location.VerifiedAt.IsZero() {
		return time.Time{}
	}
	return h.PlaceOn(DayOf(now) + 1).provenUntil()
}

// DistanceTo returns how many metres the places of two hotspots are apart on a day.
func (h *Hotspot) DistanceTo(other *Hotspot, day Day) float64 {
	return geo.Distance(h.PlaceOn(day).Point, other.PlaceOn(day).Point)
}

// placeOn returns the place by visits. A place that no visit has measured, since the first
// was not exact enough, is the registered point; the first that is exact enough and within
// placeWithinM says where it is. Otherwise an operator could choose.
func placeOn(visits []Visit, day Day) (p Place) {
	var left []Place
	for i, v := range visits {
		since := DayOf(v.At) + 1
		if i == 0 {
			since--
		} else if since > day {
			break
		}
		exact := v.AccuracyM <= placeWithinM && !v.Withdraws
		switch {
		case i == 0:
			p = v.begins(since, exact)
		case geo.Distance(p.Point, v.Point) > placeWithinM:
			left = append(left, p)
			p = v.begins(since, exact)
			p.returns(&v, left)
		case exact && !p.Measured:
			p.Point, p.AccuracyM, p.Measured = v.Point, v.AccuracyM, true
		}
		if v.Proves {
			p.ProvenAt = v.At
		} else if v.Withdraws {
			p.ProvenAt = time.Time{}
		}
		if v.Test.Any() && DayOf(v.At) < day {
			p.Test = v.Test
		}
	}
	return p
}

// begins returns the place that a visit found.
func (v *Visit) begins(since Day, exact bool) Place {
	p := Place{Point: v.Point, Since: since, Began: since}
	if exact {
		p.AccuracyM, p.Measured = v.AccuracyM, true
	}
	return p
}

// returns makes p the earlier place that a visit has found again, if it did.
func (p *Place) returns(v *Visit, left []Place) {
	for i := range left {
		if was := &left[i]; v.Again && was.Point == v.Point {
			p.Since, p.AccuracyM = was.Since, was.AccuracyM
			return
		}
	}
}

// allows reports whether a point can be the same place, by how exactly both were measured.
func (p *Place) allows(point geo.Point, accuracyM float64) bool {
	return geo.Distance(p.Point, point) <= max(placeWithinM, p.AccuracyM+accuracyM)
}
