package beacon

import "time"

// Event is something that happened, as those who listen hear of it (decision
// X7). Events have one order for the whole network, whoever serves it.
type Event struct {
	Seq    int64 // 1, 2, 3, … without a gap
	Kind   ChangeKind
	Target string // the id of what it happened to
	User   UserID // whose it is
	At     time.Time
}
