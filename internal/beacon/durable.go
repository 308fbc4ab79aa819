package beacon

import (
	"errors"
	"time"
)

// ErrDamaged is of a record that is not what was written, so that nobody will ever
// read it. One of a version that this program does not know is not damaged.
var ErrDamaged = errors.New("the record is damaged")

// JournalRow is one batch of heartbeats in the journal of a node.
type JournalRow struct {
	Seq   int64
	Batch []byte
}

// RecordRow is what is known of a hotspot's heartbeats on one UTC day.
type RecordRow struct {
	Hotspot HotspotID
	Day     int64 // since 1970
	Data    []byte
}

// ServiceSpan says that the service was up from one minute since 1970 to
// another, both included.
type ServiceSpan struct {
	From, To int64
}

// Transition is a hotspot that came online or went offline.
type Transition struct {
	Hotspot HotspotID
	User    UserID
	Online  bool
	At      time.Time
}

// LinkCode is a code with which a device may be linked, once (decision X2).
type LinkCode struct {
	Hotspot   HotspotID
	Hash      [32]byte
	ExpiresAt time.Time
}

// LinkTries is how often a code may be used with a wrong MAC (decision N21).
const LinkTries = 5
