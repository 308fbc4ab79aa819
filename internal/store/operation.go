package store

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// operation is one write, waiting to be committed in a group with others.
type operation struct {
	// order sorts the operations of a group. It names the row that they contend
	// for, so that two nodes lock rows in the same order and do not deadlock.
	order string

	// run sends the statements and returns the changes to record, none when there
	// is nothing to record. Its error is a verdict about this operation alone and must
	// mean that it wrote nothing. It may run more than once.
	run func(*transaction) (changes, error)

	// duplicate, where set, is the verdict when a unique index refuses.
	duplicate func(cause error) error

	done chan error // buffered: nobody may be waiting any more

	mu                 sync.Mutex // held while code of the caller runs
	started, abandoned bool
}

// changes are what an operation leaves in the stream, in their order.
type changes []*beacon.Change

// attempt runs the operation, unless its caller is gone.
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

// asCaller runs code that the caller gave, never after the caller has left:
// it may use the caller's variables. A panic in it is the operation's failure
// and not the end of the committer.
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

// abandon is called by a caller that leaves, and reports whether the operation
// may have reached the database by then.
func (op *operation) abandon() (started bool) {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.abandoned = true
	return op.started
}
