package beacon

import "time"

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
	Request string // "req_…", or "cli" for the command line
	Note    string // anything else for the audit; never a secret
}

// ChangeKind says what happened.
type ChangeKind string

// The kinds of change.
const (
	HotspotRegistered ChangeKind = "hotspot.registered"
	HotspotUpdated    ChangeKind = "hotspot.updated"
	HotspotDeleted    ChangeKind = "hotspot.deleted"
	HotspotVerified   ChangeKind = "hotspot.verified"
	HotspotLinked     ChangeKind = "hotspot.linked"
	HotspotUnlinked   ChangeKind = "hotspot.unlinked"

	// Not changes of a hotspot, but what was tried or prepared: for the audit.
	LinkCodeCreated     ChangeKind = "link_code.created"
	LinkRefused         ChangeKind = "link.refused"
	VerificationRefused ChangeKind = "verification.refused"

	// Caused by the clock, not by a request. They are events, not changes.
	HotspotOnline  ChangeKind = "hotspot.online"
	HotspotOffline ChangeKind = "hotspot.offline"

	// The target is the user whose statement it is, and the note is its month.
	RewardsSettled ChangeKind = "rewards.settled"
	// The target is the month that is settled for all users: for the audit.
	RewardsFinished ChangeKind = "rewards.finished"

	// The target is the day that staff say it is: for the audit.
	ClockConfirmed ChangeKind = "clock.confirmed"

	KeyCreated ChangeKind = "key.created"
	KeyRevoked ChangeKind = "key.revoked"
)

// Idempotency remembers a request that must take effect once (decision N12): who sent
// it under which key, what it asked for, and its result. The last two are opaque to
// the store.
type Idempotency struct {
	Owner       UserID
	Key         string
	Fingerprint [32]byte
	Result      []byte
	ExpiresAt   time.Time
}
