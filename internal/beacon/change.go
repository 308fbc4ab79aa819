package beacon

import "time"

// Change is the record that every write leaves in its own transaction: it is
// the audit row (decision X10), what replicas follow, and what becomes an event.
type Change struct {
	Node    string // whose stream it stands in
	Seq     int64  // its place in that stream: 1, 2, 3, … without a gap
	Kind    ChangeKind
	Target  string // the id of what changed
	Version int64  // the version it has now; 0 for what has none
	Actor   Actor
	At      time.Time
}

// Actor is who made a change, and by which request.
type Actor struct {
	Key     KeyID
	User    UserID
	Request string // "req_…", or "cli" for the command line
	Note    string // what else the audit should know of it; never a secret
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

	// Nobody does these: the clock does. They are events and no changes.
	HotspotOnline  ChangeKind = "hotspot.online"
	HotspotOffline ChangeKind = "hotspot.offline"

	// The target is whose statement it is, and the note which month it is of.
	RewardsSettled ChangeKind = "rewards.settled"
	// The target is the month that is settled for everyone: for the audit.
	RewardsFinished ChangeKind = "rewards.finished"

	KeyCreated ChangeKind = "key.created"
	KeyRevoked ChangeKind = "key.revoked"
)

// Idempotency is the memory of a request that must take effect once (decision
// N12): who sent it under which key, what it asked, and what it led to. The
// last two are opaque to the store.
type Idempotency struct {
	Owner       UserID
	Key         string
	Fingerprint [32]byte
	Result      []byte
	ExpiresAt   time.Time
}
