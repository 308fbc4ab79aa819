package beacon

import (
	"errors"
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
// which is on the day of the tally. It is called in a transaction, and has no words for
// people: a use case adds them with WordExhausted.
func (t Tally) Allows(more Tally, hotspots int, at time.Time) error {
	hotspots, t = max(hotspots, DefaultQuota().Hotspots), t.Plus(more)
	var most exhausted
	switch {
	case t.Changes > changesADay*hotspots:
		most.Changes = changesADay * hotspots
	case t.MACs > macsADay*hotspots:
		most.MACs = macsADay * hotspots
	default:
		return nil
	}
	return &Error{Kind: RateLimited, RetryAfter: (DayOf(at) + 1).Time().Sub(at), Err: most}
}

// exhausted has the most that a user may do of what was done too often.
type exhausted Tally

func (exhausted) Error() string { return "the tally of the day is full" }

// WordExhausted adds the message to an error of Allows.
func WordExhausted(err error) error {
	e, refused := errors.AsType[*Error](err)
	most, ok := errors.AsType[exhausted](err)
	if !ok || !refused {
		return err
	}
	done := fmt.Sprintf("made %d changes", most.Changes)
	if most.MACs > 0 {
		done = fmt.Sprintf("changed %d MAC addresses", most.MACs)
	}
	return &Error{
		Kind:       e.Kind,
		Message:    "you " + done + " today, the most allowed: go on tomorrow (UTC), or ask staff for a higher quota",
		RetryAfter: e.RetryAfter,
		Err:        most,
	}
}
