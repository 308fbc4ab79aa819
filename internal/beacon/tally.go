package beacon

import (
	"fmt"
	"time"
)

// Tally is what a user has done on a UTC day that could be repeated without end: a line of
// the audit is kept for ever.
type Tally struct {
	Changes int // of anything
	MACs    int // of the MAC address of a hotspot
}

// Plus returns the sum of two tallies.
func (t Tally) Plus(more Tally) Tally { return Tally{t.Changes + more.Changes, t.MACs + more.MACs} }

// What a user may do in a day, in quotas of hotspots that wait to be verified: of everyone
// who has no higher one.
const (
	// DiscardsADay is how many hotspots that nobody has verified a user may delete in 24
	// hours and still register others. Rows of deleted hotspots are kept, and what reads
	// all of a user's hotspots takes longer with each.
	DiscardsADay = 3
	macsADay     = 3
	changesADay  = 40
)

// Allows returns RateLimited if a user with a quota of hotspots may do no more at a moment,
// which is on the day of the tally.
func (t Tally) Allows(more Tally, hotspots int, at time.Time) error {
	hotspots, t = max(hotspots, DefaultQuota().Hotspots), t.Plus(more)
	var done string
	switch {
	case t.Changes > changesADay*hotspots:
		done = fmt.Sprintf("made %d changes", changesADay*hotspots)
	case t.MACs > macsADay*hotspots:
		done = fmt.Sprintf("changed %d MAC addresses", macsADay*hotspots)
	default:
		return nil
	}
	return &Error{
		Kind:       RateLimited,
		Message:    "you " + done + " today, the most allowed: go on tomorrow (UTC), or ask staff for a higher quota",
		RetryAfter: (DayOf(at) + 1).Time().Sub(at),
	}
}
