package beacon

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Visit is where a hotspot stands by a visit of staff, for rewards: the measured point, or
// the registered one if the measurement was not exact enough. Or staff withdrew the proof
// of the place, with or without a visit.
type Visit struct {
	At        time.Time
	By        Visitor // who measured; zero if it is not known any more, or nobody did
	Point     geo.Point
	AccuracyM float64   // of the measurement
	Proves    bool      // someone who never was its operator measured the point
	Test      SpeedTest // by someone who never was its operator; may be none
	Withdraws bool      // the place stays, but nothing proves it any more
	Again     bool      // it is back at an earlier place, which is Point
}

// Visitor is who may have made a visit.
type Visitor struct {
	User   UserID     // the account; may be empty for a person
	People []PersonID // who was signed in, or the members of the key's account then
}

// Visitor returns who of those behind a request counts as having made a visit.
func (b Behind) Visitor() Visitor { return Visitor{User: b.User, People: b.People} }

// Includes reports whether a visitor may be one of those behind a request.
func (b Behind) Includes(v Visitor) bool {
	return b.Owns(v.User) || slices.ContainsFunc(v.People, func(p PersonID) bool { return slices.Contains(b.People, p) })
}

const (
	// placeWithinM is how exact a measurement must be to say where a hotspot stands,
	// and how far from there a later one confirms it in any case.
	placeWithinM = 30
	// PlaceWithinM is how far from the registered point a hotspot is paid for at most,
	// unless it was moved: a visit measured it that far away, and the first visit that it
	// confirmed a little farther.
	PlaceWithinM = verifyAtMostM + placeWithinM
	// ProofDays is for how many days a visit proves that a hotspot stands at its place.
	ProofDays = 365
	proofTime = ProofDays * 24 * time.Hour
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

// RecordVisit records what a visit found. Call it before Verify. It reports whether there
// is anything new: a second visit on a day that confirms the first is not, nor is a less
// exact one, unless it measured another speed. It returns Conflict if the visit leaves open
// whether the hotspot has moved. A visit of one's own hotspot proves nothing, and measures
// no speed that is paid for.
func (h *Hotspot) RecordVisit(found Verification, by Behind, now time.Time) (news bool, err error) {
	v, is, err := h.place(found, now)
	if err != nil {
		return false, err
	}
	other := !slices.ContainsFunc(h.Owners().From(0), by.Owns) // who had it before may have it again
	v.By, v.Proves = by.Visitor(), found.AccuracyM <= placeWithinM && other
	if other {
		v.Test = found.Test
	}
	if visits := h.visits(); len(visits) > 0 {
		last := visits[len(visits)-1]
		same := geo.Distance(is.Point, v.Point) <= placeWithinM
		measured := v.Test.Any() && v.Test != is.Test
		if same && !measured && (!v.Proves || last.Proves && DayOf(last.At) == DayOf(now)) {
			return false, nil
		}
	}
	h.addVisit(v)
	return true, nil
}

// CheckVisit returns Conflict if a visit leaves open whether the hotspot has moved.
func (h *Hotspot) CheckVisit(found Verification, now time.Time) error {
	_, _, err := h.place(found, now)
	return err
}

// CheckNews returns Conflict if a visit was recorded after this one was made. So a list of
// visits counts once, however often it is sent.
func (h *Hotspot) CheckNews(found Verification) error {
	visits := h.visits()
	if found.At.IsZero() || len(visits) == 0 || found.At.After(visits[len(visits)-1].At) {
		return nil
	}
	return &Error{
		Kind:    Conflict,
		Message: "a visit was recorded after this one was made, so this one says nothing new",
		Fields:  []FieldError{{Field: "visited_at", Message: "must be after the last visit that is recorded"}},
	}
}

// place decides where a visit found the hotspot, given the place where it is from tomorrow
// on without the visit. What it is paid depends on how long it served at its place, and two
// honest measurements of one place differ. So a visit confirms a place that was measured,
// unless it is farther off than both measurements allow and the visitor says that the
// hotspot has moved, or its operator has registered it far away.
func (h *Hotspot) place(found Verification, now time.Time) (v Visit, is Place, err error) {
	visits, exact := h.visits(), found.AccuracyM <= placeWithinM
	if err := h.CheckNews(found); err != nil {
		return v, is, err
	}
	is = placeOn(visits, DayOf(now)+1)
	v = Visit{At: now, Point: h.Location.Point, AccuracyM: found.AccuracyM}
	if exact {
		v.Point = found.Point
	}
	switch {
	case len(visits) == 0:
	case !is.Measured:
		if exact && geo.Distance(is.Point, v.Point) > placeWithinM {
			v.findAgain(visits)
		}
	case is.allows(found.Point, found.AccuracyM):
		if !exact || geo.Distance(is.Point, found.Point) > placeWithinM {
			v.Point = is.Point
		}
	case geo.Distance(is.Point, h.Location.Point) > PlaceWithinM || exact && found.Moved:
		if exact {
			v.findAgain(visits)
		}
	default:
		return v, is, unclear(found, geo.Distance(is.Point, found.Point))
	}
	return v, is, nil
}

// unclear is what a visitor is asked who found a hotspot away from its place.
func unclear(found Verification, away float64) error {
	e := &Error{Kind: Conflict, Message: fmt.Sprintf(
		"this is %.0f m from where visits found the hotspot before, farther than the measurements allow: measure again", math.Ceil(away))}
	if found.AccuracyM > placeWithinM {
		e.Message += fmt.Sprintf(", to %d m or better", placeWithinM)
	} else {
		e.Message += ", or say that it has moved"
		e.Fields = []FieldError{{Field: "moved", Message: "must be true if the hotspot has moved"}}
	}
	return e
}

// findAgain lets an exact visit find the hotspot at the nearest of its earlier places that
// the measurement allows, if there is one: the days served there count again.
func (v *Visit) findAgain(visits []Visit) {
	found, nearest := v.Point, math.Inf(1)
	for i := range visits {
		earlier := placeOn(visits[:i+1], DayOf(visits[i].At)+1)
		away := geo.Distance(earlier.Point, found)
		if earlier.Measured && earlier.allows(found, v.AccuracyM) && away < nearest {
			nearest, v.Point, v.Again = away, earlier.Point, true
		}
	}
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
	v, is, err := h.place(found.Verification, now)
	moved := err == nil && len(h.visits()) > 0 && geo.Distance(is.Point, v.Point) > placeWithinM
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

// EverVisited reports whether anyone has visited the hotspot. What nobody has visited earns
// nothing.
func (h *Hotspot) EverVisited() bool { return len(h.visits()) > 0 }

// FirstVisit returns the time of the first known visit of the hotspot, or the zero time.
func (h *Hotspot) FirstVisit() time.Time {
	if visits := h.visits(); len(visits) > 0 {
		return visits[0].At
	}
	return time.Time{}
}

// visits returns the visits. The verification of a hotspot that was verified before
// visits were kept counts as one that proved the registered point.
func (h *Hotspot) visits() []Visit {
	if len(h.Visits) == 0 && !h.Location.VerifiedAt.IsZero() {
		return []Visit{{At: h.Location.VerifiedAt, Point: h.Location.Point, Proves: true}}
	}
	return h.Visits
}

// EvidenceSince returns the first day whose evidence counts toward extending the proof of
// the place, and whether an extension is due: the proof ends soon, or has ended, and can
// be extended. Evidence that extended it before does not count again.
func (h *Hotspot) EvidenceSince(now time.Time) (since Day, due bool) {
	today := DayOf(now)
	p := h.PlaceOn(today + 1)
	until := p.provenUntil()
	since = max(today-CheckInDays+1, p.Began)
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
