package beacon

import "time"

// Event is something that happened, as subscribers receive it (decision X7). Events
// have one order for the whole network, whichever server sends them.
type Event struct {
	Seq    int64 // 1, 2, 3, … without gaps
	Kind   ChangeKind
	Target string // the id of what it happened to
	User   UserID // whom it belongs to
	At     time.Time
}
