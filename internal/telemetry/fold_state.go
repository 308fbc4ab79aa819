package telemetry

import (
	"sync/atomic"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// A fold is one step of a small state machine. Its states:
//
//   - reader: this node does not hold the lease. It rereads the records that the
//     holder writes.
//   - takingOver: it holds the lease, and others may have written what its memory
//     does not know. It rereads all records and writes all.
//   - owner: it holds the lease under which it folded last, so that memory holds
//     all that records say. It writes what changed, and everything when a day begins
//     or becomes final.
//
// What is trimmed from the journals was in the records for a whole fold. A fold that
// fails leaves the state as it was, and a fold that is repeated changes nothing.
type role int

const (
	reader role = iota
	takingOver
	owner
)

// foldState is what a fold passes to the next.
type foldState struct {
	token  int64            // of the lease that it held; 0: none
	rolled beacon.Day       // the last day on which every hotspot in service got a record
	trimTo map[string]int64 // how far it had read the journal of each node
}

// foldInput is what a fold finds when it begins.
type foldInput struct {
	token     int64            // of the lease that this node holds; 0: none
	suspected bool             // records may say what memory does not know
	day       beacon.Day       // the latest that is certain to have begun
	finalDue  bool             // a day can become final, and is not yet
	reached   map[string]int64 // how far the journal of each node was read
}

// foldPlan is what a fold does.
type foldPlan struct {
	role role
	all  bool // all hotspots, not only those that changed
}

func (s foldState) plan(in foldInput) foldPlan {
	switch {
	case in.token == 0:
		return foldPlan{reader, in.suspected}
	case in.token != s.token || in.suspected:
		return foldPlan{takingOver, true}
	default:
		return foldPlan{owner, in.day != s.rolled || in.finalDue}
	}
}

// next is the state after a fold that succeeded.
func (foldState) next(in foldInput) foldState {
	if in.token == 0 {
		return foldState{}
	}
	return foldState{in.token, in.day, in.reached}
}

// suspicions counts the reasons to think that records say what memory does not know: a
// gap in a journal, a clock that was set. A fold clears those it saw at its start, once
// it has reread the records.
type suspicions struct{ raised, cleared atomic.Uint64 }

func (s *suspicions) raise()            { s.raised.Add(1) }
func (s *suspicions) any() bool         { return s.raised.Load() != s.cleared.Load() }
func (s *suspicions) clear(upTo uint64) { s.cleared.Store(upTo) }
