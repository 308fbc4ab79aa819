package store

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// operation is one write, queued to be committed in a group with others.
type operation struct {
	// order sorts the operations of a group. It names the row they contend for, so that
	// two nodes lock rows in the same order and do not deadlock.
	order string

	// run sends the statements and returns the changes to record, if any. Its error is
	// a verdict on this operation alone and must mean that it wrote nothing. It may run
	// more than once.
	run func(*transaction) (changes, error)

	// user is who changes a hotspot, if it matters whether its operator does.
	user beacon.UserID

	// duplicate, if not nil, returns the error for a violation of a unique index.
	duplicate func(cause error) error

	done chan error // buffered: the caller may have stopped waiting

	mu                 sync.Mutex // held while the caller's code runs
	started, abandoned bool
}

// changes are the rows that an operation adds to the stream, in order.
type changes []*beacon.Change

// attempt runs the operation, unless its caller has left.
func (op *operation) attempt(tx *transaction) (changes, error) {
	op.mu.Lock()
	op.started = true
	gone := op.abandoned
	op.mu.Unlock()
	if gone {
		return nil, context.Canceled
	}
	return op.run(tx)
}

// asCaller runs code supplied by the caller, and never after the caller has left: the
// code may use the caller's variables. A panic fails only the operation, not the
// committer.
func (op *operation) asCaller(code func() error) (err error) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.abandoned {
		return context.Canceled
	}
	defer func() {
		if p := recover(); p != nil {
			err = internal("edit", fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	return code()
}

// abandon is called when a caller leaves. It reports whether the operation may have
// reached the database by then.
func (op *operation) abandon() (started bool) {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.abandoned = true
	return op.started
}
