package beacon

import (
	"errors"
	"time"
)

// ErrDamaged reports a record that is not what was written, so that it can never be
// read. A record of a version that this program does not know is not damaged.
var ErrDamaged = errors.New("the record is damaged")

// JournalRow is one batch of heartbeats in a node's journal.
type JournalRow struct {
	Seq   int64
	Batch []byte
}

// RecordRow is the record of a hotspot's heartbeats on one UTC day.
type RecordRow struct {
	Hotspot HotspotID
	Day     Day
	Data    []byte
}

// ServiceSpan says that the service was up from one minute since 1970 to
// another, both included.
type ServiceSpan struct {
	From, To int64
}

// Transition records that a hotspot came online or went offline.
type Transition struct {
	Hotspot HotspotID
	User    UserID
	Online  bool
	At      time.Time
}

// LinkCode is a code that can link a device, once (decision X2).
type LinkCode struct {
	Hotspot   HotspotID
	Hash      [32]byte
	ExpiresAt time.Time
}

// LinkTries is how often a code may be used with a wrong MAC (decision N21).
const LinkTries = 5
