package beacon

import (
	"slices"
	"strings"
	"time"
)

// Tenure is who a hotspot belonged to before, and the last day on which they earned with it.
type Tenure struct {
	User    UserID
	Through Day
}

// Owners are who a hotspot belongs to, and belonged to. Who manages it is the operator, from
// the moment of a hand-over on; who earns with it changes when a UTC day ends. On is the one
// place that says who that is.
type Owners struct {
	Operator UserID
	Former   []Tenure // oldest first; each ends on a later day than the one before
}

// Owners returns who the hotspot belongs to, and belonged to.
func (h *Hotspot) Owners() Owners { return Owners{h.Operator, h.Former} }

// On returns who earns with the hotspot on a day.
func (o Owners) On(day Day) UserID {
	for _, t := range o.Former {
		if day <= t.Through {
			return t.User
		}
	}
	return o.Operator
}

// From returns to whom the hotspot belonged on a day and later ones, and belongs.
func (o Owners) From(day Day) (users []UserID) {
	for _, t := range o.Former {
		if t.Through >= day {
			users = append(users, t.User)
		}
	}
	return append(users, o.Operator)
}

// Ever reports whether the hotspot belongs to a user, or once did.
func (o Owners) Ever(user UserID) bool {
	return user == o.Operator || slices.ContainsFunc(o.Former, func(t Tenure) bool { return t.User == user })
}

// maxFormer bounds the size of a hotspot.
const maxFormer = 100

// HandOver gives the hotspot to another user: it earns for them from the next day on. A visit
// of anyone behind that user proves nothing from then on. Closing is the last day whose closing
// has begun. A hand-over does not change whose that day is, so a closing that is resumed writes
// the rows that the one before would have written.
//
// It fails if the hotspot was handed over on the same day: every owner has at least one day,
// so none is left out of Former.
func (h *Hotspot) HandOver(to Behind, closing Day, now time.Time) error {
	today := DayOf(now)
	n := len(h.Former)
	switch {
	case to.User == h.Operator:
		return refuse("this hotspot is yours already")
	case n > 0 && h.Former[n-1].Through >= today:
		return refuse("this hotspot was handed over today already: try again tomorrow (UTC)")
	case n >= maxFormer:
		return refuse("this hotspot was handed over too often: delete it, and register it again")
	case closing > today:
		return refuse("%s is closed already, so the clock of this server is wrong: tell those who run the network", closing)
	}
	if h.provenBy(to, today+1) {
		h.withdrawProof(now) // a visit by its own operator proves nothing
	}
	h.Former = append(slices.Clone(h.Former), Tenure{User: h.Operator, Through: today}) // a copy: others may hold the list
	h.Operator = to.User
	return nil
}

// provenBy reports whether the visit that proves the place on a day was by one of some people.
func (h *Hotspot) provenBy(who Behind, day Day) bool {
	at := h.PlaceOn(day).ProvenAt
	return !at.IsZero() && slices.ContainsFunc(h.Visits, func(v Visit) bool { return v.Proves && v.At.Equal(at) && who.Includes(v.By) })
}

// setRightFormer moves the ends of tenures that have not come to the right day. Who is left
// without a day is dropped.
func (h *Hotspot) setRightFormer(latest, right time.Time) (changed bool) {
	var kept []Tenure
	for _, t := range h.Former {
		if t.Through > DayOf(latest) {
			t.Through, changed = DayOf(right), true
		}
		if n := len(kept); n == 0 || kept[n-1].Through < t.Through {
			kept = append(kept, t)
		}
	}
	if changed {
		h.Former = kept
	}
	return changed
}

const (
	// OfferLasts is how long an offer can be accepted.
	OfferLasts = 7 * 24 * time.Hour
	// GoneAfter is for how long no key of an operator was used whose hotspots staff may offer.
	// Nor do they have an owner or a manager who can sign in.
	GoneAfter = 30 * 24 * time.Hour
)

// Offer is a hotspot on offer to another user: to one who is named, or to whoever has a code.
// A hotspot has at most one; a new one replaces it.
type Offer struct {
	Hotspot   HotspotID
	Owner     UserID   // whose the hotspot is
	By        UserID   // who made the offer: the owner, or staff in their place; may be empty then
	To        UserID   // "": whoever has the code
	CodeHash  [32]byte // zero if a user is named
	OfferedAt time.Time
	ExpiresAt time.Time
}

// ByStaff reports whether staff made the offer in place of the owner.
func (o *Offer) ByStaff() bool { return o.By != o.Owner }

// Ended reports whether the offer can no longer be accepted.
func (o *Offer) Ended(now time.Time) bool { return !now.Before(o.ExpiresAt) }

// Opens reports whether a user may accept the offer, with a code of which this is the hash.
func (o *Offer) Opens(user UserID, code [32]byte) bool {
	if o.To != "" {
		return o.To == user
	}
	return o.CodeHash != [32]byte{} && o.CodeHash == code
}

// ListedOffer is an offer with the name and the kind of its hotspot, as everyone sees them.
type ListedOffer struct {
	Offer
	Name string
	Type Type
}

// Giving is what is known of a hotspot and its owner when it is offered.
type Giving struct {
	Held bool // staff hold back what it earns
	Gone bool // no key of its owner was used since GoneAfter, and nobody leads the account
}

// Taking is what is known when an offer is accepted, besides the hotspot.
type Taking struct {
	Offer          Offer
	Found          bool // there is an offer
	Held           bool // staff hold back what the hotspot earns
	Erased         bool // who accepts is erased, or being so
	Waiting, Quota int  // of who accepts: hotspots that wait to be verified, and how many may
	Closing        Day  // the last day whose closing has begun
}

// OfferCodeLength is the number of characters of an offer's code, not counting hyphens. It
// lasts for a week, and nobody counts wrong ones: it has 80 random bits.
const OfferCodeLength = 16

// SpellOfferCode returns a code of random bytes, five bits of each, as people read it.
func SpellOfferCode(random [OfferCodeLength]byte) string {
	var code strings.Builder
	for i, b := range random {
		if i > 0 && i%4 == 0 {
			code.WriteByte('-')
		}
		code.WriteByte(linkAlphabet[b%byte(len(linkAlphabet))])
	}
	return code.String()
}

// CanonicalOfferCode returns the canonical form of an offer's code, as CanonicalLinkCode does
// for a link code.
func CanonicalOfferCode(text string) (canonical string, ok bool) {
	return canonicalCode(text, OfferCodeLength)
}

// handOverWords are in the note of a change of kind HotspotHandedOver, before and between the
// users.
const handOverFrom, handOverTo = "from ", " to "

// HandOverNote says in the audit who handed a hotspot over to whom.
func HandOverNote(from, to UserID) string {
	return handOverFrom + string(from) + handOverTo + string(to)
}

// ParseHandOver reads what HandOverNote returned. Ok is false for another text: erasures take
// notes away.
func ParseHandOver(note string) (from, to UserID, ok bool) {
	rest, begins := strings.CutPrefix(note, handOverFrom)
	giver, taker, ok := strings.Cut(rest, handOverTo)
	return UserID(giver), UserID(taker), begins && ok
}
