package beacon

import (
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Visit is where a hotspot stands by a visit of staff, for rewards: the measured point, or
// the registered one if the measurement was not exact enough. Or staff withdrew the proof
// of the place, with or without a visit.
type Visit struct {
	At        time.Time
	Point     geo.Point
	AccuracyM float64   // of the measurement
	Proves    bool      // someone other than its operator measured the point
	Test      SpeedTest // by someone other than its operator; may be none
	Withdraws bool      // the place stays, but nothing proves it any more
}

const (
	// placeWithinM is how exact a measurement must be to say where a hotspot stands,
	// and how far from there a later one confirms it.
	placeWithinM = 30
	// PlaceWithinM is how far from the registered point a hotspot is paid for at most,
	// unless it was moved: a visit measured it that far away, and the first visit that it
	// confirmed a little farther.
	PlaceWithinM = verifyAtMostM + placeWithinM
	// proofTime is how long a visit proves that a hotspot stands at its place.
	proofTime = 365 * 24 * time.Hour
	// vouchTime is how long check-ins prove it, and proofAtMost how long after the last
	// visit.
	vouchTime   = 90 * 24 * time.Hour
	proofAtMost = 2 * proofTime
	// vouchBefore is how long before the proof ends check-ins extend it.
	vouchBefore = 60 * 24 * time.Hour
	// Evidence extends the proof if it is of at least vouchInstalls installs and
	// vouchDays days.
	vouchInstalls, vouchDays = 3, 3
	// MaxVisits is how many visits a hotspot keeps.
	MaxVisits = 50
	// maxVouches is how many extensions it keeps: more than there are in two years.
	maxVouches = 50
)

// Place is where a hotspot is paid for on a day.
type Place struct {
	Point     geo.Point
	Since     Day       // the first day of this place
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

// RecordVisit records what a visit found. Call it before Verify. It reports whether there
// is anything new: a second visit on a day that confirms the first is not, nor is a less
// exact one while the hotspot is verified, unless it measured another speed.
func (h *Hotspot) RecordVisit(found Verification, by UserID, now time.Time) bool {
	v := Visit{At: now, Point: h.Location.Point, AccuracyM: found.AccuracyM}
	if found.AccuracyM <= placeWithinM {
		v.Point, v.Proves = found.Point, by != h.Operator
	}
	if by != h.Operator {
		v.Test = found.Test
	}
	visits := h.visits()
	if len(visits) > 0 {
		tomorrow := DayOf(now) + 1
		is, proven := placeOn(visits, tomorrow), visits[len(visits)-1]
		if found.AccuracyM > placeWithinM && !h.Location.VerifiedAt.IsZero() {
			v.Point = is.Point // it says nothing of the place
		}
		same := geo.Distance(is.Point, v.Point) <= placeWithinM
		measured := v.Test.Any() && v.Test != is.Test
		if same && !measured && (!v.Proves || proven.Proves && DayOf(proven.At) == DayOf(now)) {
			return false
		}
	}
	h.addVisit(v)
	return true
}

func (h *Hotspot) addVisit(v Visit) {
	h.Visits = append(slices.Clone(h.visits()), v) // a copy: others may hold the list
	for len(h.Visits) > MaxVisits {
		h.forgetVisit()
	}
}

// withdrawProof records that staff no longer take the place as proven, from the next day
// on, until a visit proves it again. It reports whether it was.
func (h *Hotspot) withdrawProof(now time.Time) bool {
	is := h.PlaceOn(DayOf(now) + 1)
	if is.ProvenAt.IsZero() {
		return false
	}
	h.addVisit(Visit{At: now, Point: is.Point, Withdraws: true})
	return true
}

// Takes reports whether a visit takes something away from a hotspot. If it was visited
// before: it was found elsewhere, which would withdraw its verification or be a new place
// with no days served. In any case: it was found slower than it may be paid for. One that
// is pending keeps its place.
func (h *Hotspot) Takes(found Finding, now time.Time) bool {
	if found.Disproves() {
		return !h.Location.VerifiedAt.IsZero()
	}
	if found.Err() != nil {
		return false
	}
	is := h.PlaceOn(DayOf(now) + 1)
	moved := len(h.visits()) > 0 && found.AccuracyM <= placeWithinM && geo.Distance(is.Point, found.Point) > placeWithinM
	return moved || found.Test.AtMost() < is.Test.AtMost()
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
	p := placeOn(visits, day)
	for _, at := range h.Vouches {
		if on := DayOf(at); on >= p.Since && on < day {
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

// EvidenceSince returns the first day whose evidence counts toward extending the proof of
// the place, and whether an extension is due: the proof ends soon, or has ended, and can
// be extended. Evidence that extended it before does not count again.
func (h *Hotspot) EvidenceSince(now time.Time) (since Day, due bool) {
	today := DayOf(now)
	p := h.PlaceOn(today + 1)
	until := p.provenUntil()
	since = max(today-CheckInDays+1, p.Since)
	if !p.VouchedAt.IsZero() {
		since = max(since, DayOf(p.VouchedAt)+1)
	}
	p.VouchedAt = now
	return since, until.Sub(now) < vouchBefore && p.provenUntil().After(until)
}

// Vouch extends the proof of the place, from the next day on, if that is due and there is
// enough evidence since the day of EvidenceSince: check-ins of that many installs, on that
// many days.
func (h *Hotspot) Vouch(installs, days int, now time.Time) bool {
	if _, due := h.EvidenceSince(now); !due || installs < vouchInstalls || days < vouchDays {
		return false
	}
	first := max(len(h.Vouches)+1-maxVouches, 0)
	h.Vouches = append(slices.Clone(h.Vouches[first:]), now) // a copy: others may hold the list
	return true
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

// placeOn returns the place by visits. A place that no visit has measured, since the first
// was not exact enough, is the registered point; the first that is exact enough and within
// placeWithinM says where it is. Otherwise an operator could choose.
func placeOn(visits []Visit, day Day) (p Place) {
	measured := false
	for i, v := range visits {
		since := DayOf(v.At) + 1
		if i == 0 {
			since--
		} else if since > day {
			break
		}
		exact := v.AccuracyM <= placeWithinM && !v.Withdraws
		if i == 0 || geo.Distance(p.Point, v.Point) > placeWithinM {
			p, measured = Place{Point: v.Point, Since: since}, exact
		} else if exact && !measured {
			p.Point, measured = v.Point, true
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
