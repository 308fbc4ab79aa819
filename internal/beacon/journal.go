package beacon

import "time"

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
