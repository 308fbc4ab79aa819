package beacon

import (
	"slices"
	"strings"
	"time"
)

// Change is the record that every write leaves in its own transaction: it is the
// audit row (decision X10), what replicas follow, and what becomes an event.
type Change struct {
	Node    string // whose stream it is in
	Seq     int64  // its number in that stream: 1, 2, 3, … without gaps
	Kind    ChangeKind
	Target  string // the id of what changed
	Version int64  // its new version; 0 if it has none
	Actor   Actor
	At      time.Time
}

// Actor is who made a change, and by which request.
type Actor struct {
	Key     KeyID
	User    UserID
	Person  PersonID // who was signed in; empty for a key
	Request string   // "req_…", or "cli" for the command line
	Note    string   // anything else for the audit; never a secret
	Once    *Once    // if the request may be repeated; kept apart

	// CountedAt is when a change is made that counts toward what its user may do in a day
	// (see Tally); zero if it does not. Kept apart too.
	CountedAt time.Time
}

// PeopleOf returns who made some changes, each once.
func PeopleOf(all []Change) (who []PersonID) {
	for i := range all {
		if person := all[i].Actor.Person; person != "" {
			who = append(who, person)
		}
	}
	slices.Sort(who)
	return slices.Compact(who)
}

// ChangeKind says what happened, and before the point to what.
type ChangeKind string

const (
	HotspotRegistered ChangeKind = "hotspot.registered"
	HotspotUpdated    ChangeKind = "hotspot.updated"
	HotspotDeleted    ChangeKind = "hotspot.deleted"
	HotspotRestored   ChangeKind = "hotspot.restored"
	HotspotVerified   ChangeKind = "hotspot.verified"
	HotspotLinked     ChangeKind = "hotspot.linked"
	HotspotUnlinked   ChangeKind = "hotspot.unlinked"
	HotspotUnverified ChangeKind = "hotspot.unverified"
	HotspotHandedOver ChangeKind = "hotspot.handed_over" // the note is a HandOverNote
	HotspotReported   ChangeKind = "hotspot.reported"    // by its device, about itself; no event
	HotspotVouched    ChangeKind = "hotspot.vouched"     // check-ins extended the proof of its place; no event
	HotspotErased     ChangeKind = "hotspot.erased"      // after it was deleted: its user is erased; no event

	// Not changes of a hotspot, but what was tried or prepared: for the audit.
	LinkCodeCreated     ChangeKind = "link_code.created"
	LinkRefused         ChangeKind = "link.refused"
	VerificationRefused ChangeKind = "verification.refused"
	OfferMade           ChangeKind = "offer.made" // the note says to whom, and why if staff did
	OfferWithdrawn      ChangeKind = "offer.withdrawn"
	OfferDeclined       ChangeKind = "offer.declined"
	OfferRefused        ChangeKind = "offer.refused"

	// Caused by the clock, not by a request. They are events, not changes.
	HotspotOnline  ChangeKind = "hotspot.online"
	HotspotOffline ChangeKind = "hotspot.offline"

	// The target is the user whose statement it is, and the note is its month.
	RewardsSettled ChangeKind = "rewards.settled"
	// The target is the month that is settled for all users: for the audit.
	RewardsFinished ChangeKind = "rewards.finished"
	// The target is the first of the days that are open again: for the audit.
	RewardsReopened ChangeKind = "rewards.reopened"
	// The target is the first day of the policy, and the note is its text: for the audit.
	PolicyAdopted ChangeKind = "policy.adopted"

	// The target is the hold, and the note is the reason or what its operator says: for
	// the audit.
	HoldPlaced      ChangeKind = "hold.placed"
	HoldExtended    ChangeKind = "hold.extended"
	HoldVisitFailed ChangeKind = "hold.visit_failed"
	HoldAnswered    ChangeKind = "hold.answered"
	HoldReleased    ChangeKind = "hold.released"
	HoldVoided      ChangeKind = "hold.voided"
	HoldErased      ChangeKind = "hold.erased" // what it said in words

	// The target is the day that staff say it is: for the audit.
	ClockConfirmed ChangeKind = "clock.confirmed"

	KeyCreated ChangeKind = "key.created"
	KeyRevoked ChangeKind = "key.revoked"

	// The target is the user: for the audit.
	ErasureAsked     ChangeKind = "erasure.asked"
	ErasureWithdrawn ChangeKind = "erasure.withdrawn"
	UserErased       ChangeKind = "user.erased"

	// The target is the user, and the note is what they may have.
	QuotaSet ChangeKind = "quota.set"

	// The target is the setting of the network, and the note is its value.
	SettingChanged ChangeKind = "setting.changed"

	// The target is the user for whom a MAC address was reserved, and the note has the
	// address and the reason.
	MACReleased ChangeKind = "mac.released"

	// The target is the hotspot, and the note has the kind of the flag and the reason.
	FlagDismissed ChangeKind = "flag.dismissed"

	// The target is the person; servers read it and its memberships again. Notes have no
	// names and no mail addresses: for the audit.
	PersonCreated   ChangeKind = "person.created"
	PersonChanged   ChangeKind = "person.changed" // name, mail, language, doors
	PersonSignedIn  ChangeKind = "person.signed_in"
	PersonRecovered ChangeKind = "person.recovered"
	PersonSuspended ChangeKind = "person.suspended"
	PersonRestored  ChangeKind = "person.restored"
	PersonErased    ChangeKind = "person.erased"
	SessionEnded    ChangeKind = "session.ended" // some or all of the person's
	MemberAdded     ChangeKind = "member.added"
	MemberChanged   ChangeKind = "member.changed"
	MemberRemoved   ChangeKind = "member.removed"

	// The target is the account.
	AccountNamed ChangeKind = "account.named"

	// The target is the invitation.
	InvitationCreated ChangeKind = "invitation.created"
	InvitationRevoked ChangeKind = "invitation.revoked"
)

// OfHotspot reports whether a change of this kind, in a stream of changes, made a new
// version of a hotspot.
func (k ChangeKind) OfHotspot() bool { return strings.HasPrefix(string(k), "hotspot.") }

// OfPerson reports whether a change of this kind concerns who a person is, or what they may
// do: its target is the person.
func (k ChangeKind) OfPerson() bool {
	return strings.HasPrefix(string(k), "person.") || strings.HasPrefix(string(k), "member.") || k == SessionEnded
}

// Event is something that happened, as subscribers receive it (decision X7). Events
// have one order for the whole network, whichever server sends them.
type Event struct {
	Seq    int64 // 1, 2, 3, … without gaps
	Kind   ChangeKind
	Target string // the id of what it happened to
	User   UserID // whom it belongs to
	At     time.Time
}
