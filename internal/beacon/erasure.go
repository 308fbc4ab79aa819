package beacon

import (
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// ErasureWait is how long a wish to be erased can be taken back.
const ErasureWait = 30 * 24 * time.Hour

// Erasure is the wish of a user that what is stored about them be erased (decision D185).
type Erasure struct {
	User  UserID
	Asked time.Time // zero: nobody has
	Due   time.Time // from then on it can no longer be taken back

	// Zero until it is so.
	Begun   time.Time // it cannot be taken back
	Cleared time.Time // all is erased that open months do not need
	Erased  time.Time // all is erased
}

// ErasureStatus says how far an erasure is.
type ErasureStatus string

const (
	NoErasure     ErasureStatus = "none"
	ErasureWaits  ErasureStatus = "waiting"
	ErasureRuns   ErasureStatus = "erasing"
	ErasureIsDone ErasureStatus = "erased"
	erasedText                  = "Erased" // a name and an SSID that are valid
)

// Status returns how far the erasure is.
func (e *Erasure) Status() ErasureStatus {
	switch {
	case e.Asked.IsZero():
		return NoErasure
	case e.Begun.IsZero():
		return ErasureWaits
	case e.Erased.IsZero():
		return ErasureRuns
	}
	return ErasureIsDone
}

// Erase takes away from a deleted hotspot whose it was and which device: its names, its
// address and its MAC address. What the rewards of open months need is left to ErasePlace.
func (h *Hotspot) Erase() {
	h.Name, h.Location.Address, h.Location.UnverifiedReason = erasedText, "", ""
	h.Device = Device{SSID: erasedText, MAC: MaskedMAC, LinkedAt: h.Device.LinkedAt}
}

// ErasePlace takes away where a deleted hotspot stood and when it was open. What remains
// of visits is when they were, whether they were exact, and which of them found it at another
// place than before, or again at an earlier one: rewards depend on how long it served at a
// place.
func (h *Hotspot) ErasePlace() {
	var visits []Visit
	var places []Place // their numbers are shown instead of where they are
	for i, v := range h.Visits {
		is := placeOn(h.Visits[:i+1], DayOf(v.At)+1)
		number := slices.IndexFunc(places, func(p Place) bool { return p.Since == is.Since && p.allows(is.Point, 0) })
		if number < 0 {
			number, places = len(places), append(places, is)
		}
		shown := Visit{At: v.At, Point: geo.Point{Lng: float64(number)}, Proves: v.Proves, Withdraws: v.Withdraws, Again: v.Again}
		if v.AccuracyM > placeWithinM {
			shown.AccuracyM = maxAccuracyM
		}
		visits = append(visits, shown)
	}
	h.Visits = visits
	h.Location.Point = geo.Point{}
	h.Settings, h.PastHours, h.PastService = DefaultSettings(h.Type), nil, nil
}

// PlaceErased reports whether ErasePlace was called.
func (h *Hotspot) PlaceErased() bool {
	return h.Deleted() && h.Device.MAC == MaskedMAC && h.Location.Point == geo.Point{}
}

// Erase takes away what a hold says in words. Who decided what, and when, remains.
func (h *Hold) Erase() {
	h.Reason, h.Evidence = erasedText, erasedText
	for _, act := range []*HoldAct{&h.Placed, &h.Answer, &h.Visit, &h.Ended} {
		act.erase()
	}
	h.Extended = slices.Clone(h.Extended) // others may hold the list
	for i := range h.Extended {
		h.Extended[i].erase()
	}
}

func (a *HoldAct) erase() {
	if a.Note != "" {
		a.Note = erasedText
	}
}
