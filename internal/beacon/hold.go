package beacon

import (
	"fmt"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// HoldID identifies a hold: "hld_" and 26 characters.
type HoldID string

// HoldPrefix begins the id of every hold.
const HoldPrefix = "hld_"

const (
	// HoldAtMost is how far away the end of a hold may be.
	HoldAtMost = 30 * 24 * time.Hour
	// HoldAwayM is how near to a held hotspot those who decide about it may have none.
	HoldAwayM = 200
	// maxExtensions bounds the size of a hold.
	maxExtensions = 12
	// maxStatement is the longest text about a hold, in characters.
	maxStatement = 2000
)

// HoldState says whether a hold is in force, or how it ended.
type HoldState string

// The states of a hold. Only an active one can change.
const (
	HoldIsActive   HoldState = "active"
	HoldIsReleased HoldState = "released" // what was held is paid
	HoldIsVoided   HoldState = "voided"   // what was held is not paid
)

// Hold keeps back what a hotspot, or all hotspots of an operator, earn on days that are
// closed while it is active. It takes nothing away: once it is over, the days are paid,
// unless a failed visit that two people confirm makes them void.
type Hold struct {
	ID       HoldID
	User     UserID    // the operator
	Hotspot  HotspotID // "": all of the operator's
	Number   int       // of the operator's holds: 1, 2, 3, …
	Version  int64
	State    HoldState
	Reason   string
	Evidence string
	Placed   HoldAct
	Until    time.Time // released by itself then
	Extended []HoldAct
	Answer   HoldAct // of the operator; zero: none
	Visit    HoldAct // a failed visit that nobody has confirmed yet; zero: none
	Ended    HoldAct // zero while it is active
}

// HoldAct is what someone did about a hold, and why.
type HoldAct struct {
	By     UserID     // the account; empty: the clock, or a person who acted for none
	Person PersonID   // who was signed in; empty for a key
	People []PersonID // of a key: the members of its account then
	At     time.Time
	Note   string

	Accounts []UserID // of those who may be behind it, while it is done; not stored
}

// Act returns what those behind a request do about a hold.
func (b Behind) Act(at time.Time, note string) HoldAct {
	act := HoldAct{By: b.User, Person: b.Person, At: at, Note: note, Accounts: b.Accounts}
	if b.Person == "" {
		act.People = b.People
	}
	return act
}

// IsZero reports whether nobody did anything.
func (a *HoldAct) IsZero() bool { return a.At.IsZero() && a.By == "" && a.Person == "" }

// MayBeOf reports whether an act may be of one person with an earlier one. Two people are
// two, also of one account; of a key it is only known who can have it.
func (a *HoldAct) MayBeOf(earlier *HoldAct) bool {
	if a.Person != "" && earlier.Person != "" {
		return a.Person == earlier.Person
	}
	if earlier.By != "" && (a.By == earlier.By || slices.Contains(a.Accounts, earlier.By)) {
		return true
	}
	return slices.ContainsFunc(a.people(), func(p PersonID) bool { return slices.Contains(earlier.people(), p) })
}

// people returns who may be behind the act.
func (a *HoldAct) people() []PersonID {
	if a.Person != "" {
		return []PersonID{a.Person}
	}
	return a.People
}

// holds reports whether a row of a day that is closed now is held. The hold must not have
// begun after the day.
func (h *Hold) holds(day Day, of Owned) bool {
	covers := h.User == of.User && (h.Hotspot == "" || h.Hotspot == of.Hotspot)
	return h.State == HoldIsActive && covers && DayOf(h.Placed.At) <= day
}

// HoldOn returns the hold that holds a row, if any: that of the hotspot before that of its
// operator.
func HoldOn(all []Hold, day Day, of Owned) (id HoldID) {
	for i := range all {
		if h := &all[i]; h.holds(day, of) && (id == "" || h.Hotspot != "") {
			id = h.ID
		}
	}
	return id
}

// Concerns reports whether the operator of the hotspot has an interest in what others earn
// at some places: one is near one of its Stands, and the hotspot was not deleted long ago.
func (h *Hotspot) Concerns(places []geo.Point, now time.Time) bool {
	if h.Deleted() && now.Sub(h.DeletedAt) > HoldAtMost {
		return false
	}
	return slices.ContainsFunc(h.Stands(now), func(p geo.Point) bool {
		return slices.ContainsFunc(places, func(place geo.Point) bool { return geo.Distance(p, place) <= HoldAwayM })
	})
}

// Paid returns where the hotspot is paid for today and tomorrow.
func (h *Hotspot) Paid(now time.Time) []geo.Point {
	today := DayOf(now)
	return []geo.Point{h.PlaceOn(today).Point, h.PlaceOn(today + 1).Point}
}

// Stands returns where the hotspot is registered, where it was paid for in the last
// HoldAtMost, and where it will be from tomorrow on. Who moves one away to judge a rival,
// and back again, is as much a neighbour as who deletes it (decision D148).
func (h *Hotspot) Stands(now time.Time) []geo.Point {
	since := DayOf(now.Add(-HoldAtMost))
	points := []geo.Point{h.Location.Point, h.PlaceOn(since).Point}
	for _, v := range h.visits() {
		if day := DayOf(v.At) + 1; day > since {
			points = append(points, h.PlaceOn(day).Point)
		}
	}
	return points
}

func refuse(format string, args ...any) error {
	return &Error{Kind: Conflict, Message: fmt.Sprintf(format, args...)}
}

// Place makes a hold the next one of its operator, given all earlier ones, oldest first. A
// hotspot, or an operator as such, has at most one active hold. A hold after another one of
// the same hotspot, or of all, needs a second person.
func (h Hold) Place(earlier []Hold) (Hold, error) {
	h.Number, h.Version, h.State = len(earlier)+1, 1, HoldIsActive
	var previous *Hold
	for i := range earlier {
		e := &earlier[i]
		if e.State == HoldIsActive && e.Hotspot == h.Hotspot {
			return h, refuse("%s is active: extend it instead", e.ID)
		}
		if e.Hotspot == h.Hotspot || e.Hotspot == "" || h.Hotspot == "" {
			previous = e
		}
	}
	if previous != nil && h.Placed.MayBeOf(previous.last()) {
		return h, refuse("a second hold needs a second person: %s is by you", previous.ID)
	}
	return h, h.mayEnd(h.Placed.At)
}

// last returns the act that placed or last extended the hold.
func (h *Hold) last() *HoldAct {
	if n := len(h.Extended); n > 0 {
		return &h.Extended[n-1]
	}
	return &h.Placed
}

// mayEnd checks the end of a hold.
func (h *Hold) mayEnd(now time.Time) error {
	if !h.Until.After(now) || h.Until.Sub(now) > HoldAtMost {
		var f Faults
		f.Add("until", "must be in the future, and at most 30 days away")
		return f.Err()
	}
	return nil
}

// isActive returns an error for a hold that is over.
func (h *Hold) isActive(now time.Time) error {
	switch {
	case h.State != HoldIsActive:
		return refuse("the hold was %s", h.State)
	case !now.Before(h.Until):
		return refuse("the hold has ended")
	}
	return nil
}

// Extend moves the end of a hold, which needs a second person.
func (h *Hold) Extend(act HoldAct, until time.Time) error {
	if err := h.isActive(act.At); err != nil {
		return err
	}
	switch {
	case act.MayBeOf(h.last()):
		return refuse("an extension needs a second person: the end was set by you")
	case len(h.Extended) == maxExtensions:
		return refuse("the hold was extended %d times already", maxExtensions)
	case !until.After(h.Until):
		return refuse("the hold lasts until %s already", FormatTime(h.Until))
	}
	h.Until = until
	h.Extended = append(slices.Clone(h.Extended), act)
	return h.mayEnd(act.At)
}

// Release ends a hold: what was held is paid.
func (h *Hold) Release(act HoldAct) error {
	err := h.isActive(act.At)
	h.State, h.Ended = HoldIsReleased, act
	return err
}

// Expire ends a hold that has reached its end. It reports whether it did.
func (h *Hold) Expire(now time.Time) bool {
	if h.State != HoldIsActive || now.Before(h.Until) {
		return false
	}
	h.State, h.Ended = HoldIsReleased, HoldAct{At: now, Note: "the hold has ended"}
	return true
}

// FailVisit records that a visit during the hold found the hotspot not to be as claimed.
// Once a second person confirms that, the hold is over, and the held days are void. It
// reports whether that is so.
func (h *Hold) FailVisit(act HoldAct) (void bool, err error) {
	if err := h.isActive(act.At); err != nil {
		return false, err
	}
	if h.Visit.IsZero() {
		h.Visit = act
		return false, nil
	}
	if act.MayBeOf(&h.Visit) {
		return false, refuse("a second person must confirm the visit")
	}
	h.State, h.Ended = HoldIsVoided, act
	return true, nil
}

// Respond records what the operator says. It may be said again while the hold is active.
func (h *Hold) Respond(act HoldAct) error {
	if err := h.isActive(act.At); err != nil {
		return err
	}
	h.Answer = act
	return nil
}

// CleanStatement returns a text about a hold in the form in which it is stored.
func CleanStatement(raw string) (string, error) { return cleanText(raw, 1, maxStatement) }
