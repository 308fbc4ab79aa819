package beacon

import (
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Visit is where a hotspot stands by a visit of staff, for rewards: the measured point, or
// the registered one if the measurement was not exact enough.
type Visit struct {
	At        time.Time
	Point     geo.Point
	AccuracyM float64 // of the measurement
	Proves    bool    // someone other than its operator measured the point
}

const (
	// placeWithinM is how exact a measurement must be to say where a hotspot stands,
	// and how far from there a later one confirms it.
	placeWithinM = 30
	// PlaceWithinM is how far from the registered point a hotspot is paid for at most,
	// unless it was moved: a visit measured it that far away, and the first visit that it
	// confirmed a little farther.
	PlaceWithinM = verifyAtMostM + placeWithinM
	// ProofTime is how long a visit proves that a hotspot stands at its place.
	ProofTime = 365 * 24 * time.Hour
	// MaxVisits is how many visits a hotspot keeps.
	MaxVisits = 50
)

// Place is where a hotspot is paid for on a day.
type Place struct {
	Point    geo.Point
	Since    Day       // the first day of this place
	ProvenAt time.Time // by the last visit that proves it; zero if none does
}

// Proven reports whether the place is proven on a day: whether that was so when the day
// began. On the day of its first visit a hotspot is proven from then on.
func (p Place) Proven(day Day) bool {
	return !p.ProvenAt.IsZero() && p.ProvenAt.Add(ProofTime).After(day.Time())
}

// Visited records what a visit found. Call it before Verify. It reports whether there is
// anything new: a second visit on a day that confirms the first is not, nor is a less
// exact one while the hotspot is verified.
func (h *Hotspot) Visited(found Verification, by UserID, now time.Time) bool {
	v := Visit{At: now, Point: h.Location.Point, AccuracyM: found.AccuracyM}
	if found.AccuracyM <= placeWithinM {
		v.Point, v.Proves = found.Point, by != h.Operator
	}
	visits := h.visits()
	if found.AccuracyM > placeWithinM && !h.Location.VerifiedAt.IsZero() {
		return false
	}
	if len(visits) > 0 {
		tomorrow := DayOf(now) + 1
		is, proven := placeOn(visits, tomorrow), visits[len(visits)-1]
		same := geo.Distance(is.Point, v.Point) <= placeWithinM
		if same && (!v.Proves || proven.Proves && DayOf(proven.At) == DayOf(now)) {
			return false
		}
	}
	h.Visits = append(slices.Clone(visits), v) // a copy: others may hold the list
	for len(h.Visits) > MaxVisits {
		h.forgetVisit()
	}
	return true
}

// forgetVisit drops the oldest visit that is not the first of the present place.
func (h *Hotspot) forgetVisit() {
	last := DayOf(h.Visits[len(h.Visits)-1].At) + 1
	for i := range h.Visits {
		rest := slices.Delete(slices.Clone(h.Visits), i, i+1)
		if is, was := placeOn(rest, last), placeOn(h.Visits, last); is == was || i == len(h.Visits)-1 {
			h.Visits = rest
			return
		}
	}
}

// visits returns the visits. The verification of a hotspot that was verified before
// visits were kept counts as one that proved the registered point.
func (h *Hotspot) visits() []Visit {
	if len(h.Visits) == 0 && !h.Location.VerifiedAt.IsZero() {
		return []Visit{{At: h.Location.VerifiedAt, Point: h.Location.Point, Proves: true}}
	}
	return h.Visits
}

// PlaceOn returns where the hotspot is paid for on a day. A visit counts from the next day
// on, but for the first: until then there was no place. A hotspot that was never visited
// has the registered point, which nothing proves.
func (h *Hotspot) PlaceOn(day Day) Place {
	visits := h.visits()
	if len(visits) == 0 {
		return Place{Point: h.Location.Point}
	}
	return placeOn(visits, day)
}

// Elsewhere returns where visits found the hotspot that are farther than PlaceWithinM from
// its registered point: it was moved since.
func (h *Hotspot) Elsewhere() (points []geo.Point) {
	for _, v := range h.Visits {
		if geo.Distance(v.Point, h.Location.Point) > PlaceWithinM {
			points = append(points, v.Point)
		}
	}
	return points
}

func placeOn(visits []Visit, day Day) (p Place) {
	for i, v := range visits {
		since := DayOf(v.At) + 1
		if i == 0 {
			since--
		} else if since > day {
			break
		}
		if i == 0 || geo.Distance(p.Point, v.Point) > placeWithinM {
			p = Place{Point: v.Point, Since: since}
		}
		if v.Proves {
			p.ProvenAt = v.At
		}
	}
	return p
}
