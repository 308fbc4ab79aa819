// Package beacon holds the domain types of the network: hotspots, operators, keys and
// changes, and the rules that make each of them valid. It reads no clock, opens no
// file (except the time zones that the standard library knows) and knows neither HTTP
// nor SQL; its structs carry no tags.
//
// A type named …Form is what a client sent, with absent and null distinguished. Its
// invariant: a value that a form yields without an error is valid, and stays so.
package beacon

import (
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// HotspotID identifies a hotspot: "hs_" and 26 characters (decision N22).
type HotspotID string

// UserID identifies an operator or a member of staff: "usr_" and 26 characters.
type UserID string

// Prefixes of the ids, including the underscore.
const (
	HotspotPrefix = "hs_"
	UserPrefix    = "usr_"
	KeyPrefix     = "key_"
)

// Type is the kind of place that a hotspot serves.
type Type string

// The three types of the network document.
const (
	Home     Type = "home"
	Business Type = "business"
	Public   Type = "public"
)

// Types returns the three.
func Types() []Type { return []Type{Home, Business, Public} }

// Hotspot is one registered access point, as stored in the database.
type Hotspot struct {
	ID        HotspotID
	Operator  UserID
	Name      string
	Type      Type
	Location  Location
	Device    Device
	Settings  Settings
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt time.Time // zero unless deleted

	// PastHours are the operating hours that were in force before, oldest first, for
	// as long as it may be asked which minutes were open then.
	PastHours []PastHours

	// PastService is when the hotspot was in service before, oldest first, kept for
	// as long as PastHours.
	PastService []Period

	// Former are who it belonged to before, oldest first: see Owners.
	Former []Tenure

	// Visits are what visits of staff found, oldest first.
	Visits []Visit
	// Vouches are when check-ins extended the proof of its place, oldest first.
	Vouches []time.Time

	// Version is 1 at registration and grows by one with every change. Of two copies
	// of a hotspot, the one with the higher version wins.
	Version int64
}

// Location is where a hotspot stands.
type Location struct {
	Point      geo.Point
	Address    string    // optional
	VerifiedAt time.Time // zero until staff verify it

	// UnverifiedReason says why the place is no longer verified. It is empty while it
	// is, and if it never was.
	UnverifiedReason string
}

// Device is the access point itself.
type Device struct {
	SSID     string
	MAC      MAC
	LinkedAt time.Time // zero until a device is linked

	// KeyHash is the hash of the secret with which the device signs in; zero until a
	// device is linked.
	KeyHash [32]byte

	// Agent is what the device last reported of itself since it was linked.
	Agent Agent
}

// Unlink forgets the device that was linked.
func (d *Device) Unlink() { *d = Device{SSID: d.SSID, MAC: d.MAC} }

// Period is the time from From up to, but not including, Until.
type Period struct {
	From, Until time.Time
}

// PastHours are operating hours and the minute from which on others were in force.
type PastHours struct {
	Until time.Time
	Hours *OperatingHours // nil: always open
}

// KeepPast is how late minutes may be judged: after days without the service, when staff
// have said what day it is (D90). A hotspot has room for maxPast of its past hours and
// service. The oldest make room, but not for more than maxPast in recently. Their age does
// not matter: to a clock that is ahead, all of them are old (D181).
const (
	KeepPast = 32 * 24 * time.Hour
	recently = 48 * time.Hour
	maxPast  = 50
)

// keepPast returns a copy of what is kept at now of a list with the oldest first, and how
// many of it are recent. There is room for one more, unless all are.
func keepPast[T any](past []T, until func(T) time.Time, now time.Time) (kept []T, recent int) {
	for _, p := range past {
		if !until(p).Before(now.Add(-recently)) {
			recent++
		}
	}
	kept = make([]T, 0, len(past)+1) // a copy: others may hold the list
	return append(kept, past[max(0, min(len(past)-maxPast+1, len(past)-recent)):]...), recent
}

var (
	errHoursTooOften = &Error{Kind: Conflict, Message: "the hours were changed too often; try again tomorrow"}
	errLinkTooOften  = &Error{Kind: Conflict, Message: "the device was linked too often; try again tomorrow"}
)

// RetireHours records that the operating hours old are replaced from the minute of
// now on. Hours that were not in force for a whole minute leave no trace.
func (h *Hotspot) RetireHours(old *OperatingHours, now time.Time) error {
	until := now.Truncate(time.Minute)
	kept, recent := keepPast(h.PastHours, func(p PastHours) time.Time { return p.Until }, until)
	if n := len(kept); n > 0 && !until.After(kept[n-1].Until) {
		h.PastHours = kept // the same minute, or the clock went back
		return nil
	}
	if recent >= maxPast {
		return errHoursTooOften
	}
	h.PastHours = append(kept, PastHours{Until: until, Hours: old})
	return nil
}

// EndService records that the hotspot, if it is in service, is so until now. Call it
// before the change that ends the service. Periods without a whole minute between
// them are merged.
func (h *Hotspot) EndService(now time.Time) {
	kept, _ := keepPast(h.PastService, untilOf, now)
	h.PastService = kept
	since := h.ActiveSince()
	if since.IsZero() || now.Before(since) {
		return
	}
	if n := len(kept); n > 0 && !since.Truncate(time.Minute).After(kept[n-1].Until) {
		if now.After(kept[n-1].Until) {
			kept[n-1].Until = now
		}
		return
	}
	h.PastService = append(kept, Period{From: since, Until: now})
}

func untilOf(p Period) time.Time { return p.Until }

// RenewService is EndService for a hotspot that may be in service again at once. It
// fails if that happened too often: an end is never refused, so a beginning must be.
func (h *Hotspot) RenewService(now time.Time) error {
	h.EndService(now)
	if _, recent := keepPast(h.PastService, untilOf, now); recent >= maxPast {
		return errLinkTooOften
	}
	return nil
}

// ActiveSince returns when the hotspot came into service: the moment from which it
// was both verified and linked. It is zero while the hotspot is pending.
func (h Hotspot) ActiveSince() time.Time {
	verified, linked := h.Location.VerifiedAt, h.Device.LinkedAt
	if verified.IsZero() || linked.IsZero() {
		return time.Time{}
	}
	return Later(linked, verified)
}

// Deleted reports whether the hotspot is deleted.
func (h Hotspot) Deleted() bool { return !h.DeletedAt.IsZero() }

// RestoreTime is how long a hotspot that its operator deleted can be brought back (decision
// D242).
const RestoreTime = 24 * time.Hour

// Deletion is what is known of a hotspot that may be deleted, besides the hotspot.
type Deletion struct {
	ByOperator bool // it was deleted by its operator, and not long ago
	Waiting    int  // how many hotspots of the operator wait to be verified
	Quota      int  // how many may
}

var errRestoredTooOften = &Error{Kind: Conflict, Message: "the hotspot was deleted and brought back too often; try again tomorrow"}

// Restore brings a deleted hotspot back, as if its device had been unlinked when it was
// deleted, and linked again now with the key that it has. Like RenewService, it fails if the
// service began too often.
func (h *Hotspot) Restore(now time.Time) error {
	if h.RenewService(Earlier(h.DeletedAt, now)) != nil {
		return errRestoredTooOften
	}
	h.DeletedAt = time.Time{}
	if !h.Device.LinkedAt.IsZero() {
		h.Device.LinkedAt = now
	}
	return nil
}

// Touch sets the time of the last change. It never goes back, whatever the clock does.
func (h *Hotspot) Touch(now time.Time) {
	if now.After(h.UpdatedAt) {
		h.UpdatedAt = now
	}
}

// SetRight corrects the times at which the hotspot was changed while a clock was ahead:
// those after latest have not come, and become right. It reports whether there were any.
// UpdatedAt stays: it never goes back.
func (h *Hotspot) SetRight(latest, right time.Time) (changed bool) {
	set := func(t *time.Time) {
		if t.After(latest) {
			*t, changed = right, true
		}
	}
	set(&h.Location.VerifiedAt)
	set(&h.Device.LinkedAt)
	set(&h.Device.Agent.At)
	h.PastHours, h.PastService = slices.Clone(h.PastHours), slices.Clone(h.PastService) // others may hold the lists
	h.Visits, h.Vouches = slices.Clone(h.Visits), slices.Clone(h.Vouches)
	for i := range h.PastHours {
		set(&h.PastHours[i].Until)
	}
	for i := range h.PastService {
		set(&h.PastService[i].From)
		set(&h.PastService[i].Until)
	}
	for i := range h.Visits {
		set(&h.Visits[i].At)
	}
	for i := range h.Vouches {
		set(&h.Vouches[i])
	}
	h.PastService = slices.DeleteFunc(h.PastService, func(p Period) bool { return !p.From.Before(p.Until) })
	return h.setRightFormer(latest, right) || changed
}
