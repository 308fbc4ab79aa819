package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// operation is one write, queued to be committed in a group with others.
type operation struct {
	// order sorts the operations of a group. It names the row they contend for, so that
	// two nodes lock rows in the same order and do not deadlock.
	order string

	// weight is how many writes it counts as in a group; 0 is one.
	weight int

	// run sends the statements and returns the changes to record, if any. Its error is
	// a verdict on this operation alone: the others of its group are committed, with all
	// that run wrote. So it must have written nothing, and records no change; if it has,
	// it fails the transaction instead. It may run more than once.
	run func(*transaction) (changes, error)

	// by is who changes a hotspot, if it matters whether its operator does.
	by beacon.Actor

	// handsOver lets it change whose a hotspot is.
	handsOver bool

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

// errLeft fails a transaction in which an operation cannot be finished: its caller has left.
var errLeft = errors.New("a caller has left")

// asCaller runs code supplied by the caller, and never after the caller has left: the
// code may use the caller's variables. Since the operation may have written something by
// then, the group is repeated without it. A panic fails only the operation, not the
// committer.
func (op *operation) asCaller(tx *transaction, code func() error) (err error) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.abandoned {
		tx.failed = errLeft
		return errLeft
	}
	defer func() {
		if p := recover(); p != nil {
			err = internal("edit", fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	return code()
}

// abandon is called when a caller leaves. It reports whether the operation may already
// have reached the database.
func (op *operation) abandon() (started bool) {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.abandoned = true
	return op.started
}

// outcome is the result of one attempt to commit a group. Only committed and uncertain
// can mean that something was written.
type outcome int

const (
	committed outcome = iota
	contended         // lost against another transaction: the same group may succeed
	refused           // the database rejects one of the operations
	away              // the database is unavailable
	uncertain         // COMMIT was sent and no response arrived
)

var errInDoubt = errors.New("commit: it stopped waiting for a standby")

// try runs a group as one transaction.
func (c *committer) try(ctx context.Context, group []*operation) ([]error, outcome, error) {
	if err := c.begin(ctx); err != nil {
		return nil, away, fmt.Errorf("begin: %w", err)
	}
	tx := &transaction{ctx: ctx, session: c.session}
	verdicts, made, err := perform(tx, group)
	if err == nil {
		err = writeTallies(tx)
	}
	if err == nil {
		err = c.record(tx, made)
	}
	if err == nil {
		err = ctx.Err() // a COMMIT that cannot finish in time would have an unknown outcome
	}
	if err != nil {
		c.rollback(ctx, err)
		return nil, c.meaning(err, tx.numberTaken), err
	}
	if _, err := c.session.exec(ctx, "COMMIT"); err != nil {
		return nil, c.doubt(ctx, err), fmt.Errorf("commit: %w", err)
	}
	if c.engine.InDoubt != nil && c.engine.InDoubt(c.session.conn) {
		return nil, c.doubt(ctx, errInDoubt), errInDoubt
	}
	c.stream.committed(tx)
	if c.engine.Confirm != nil {
		if err := c.engine.Confirm(); err != nil {
			c.engine.broke(err)
			return nil, uncertain, err
		}
	}
	return verdicts, committed, nil
}

// perform runs the operations inside the open transaction.
func perform(tx *transaction, group []*operation) (verdicts []error, made changes, err error) {
	verdicts = make([]error, len(group))
	for i, op := range group {
		var some changes
		some, verdicts[i] = op.attempt(tx)
		if tx.failed != nil {
			return nil, nil, tx.failed
		}
		if verdicts[i] == nil {
			made = append(made, some...)
		}
	}
	return verdicts, made, nil
}

// begin starts a transaction. An idle connection may have died unnoticed; nothing was
// sent yet, so it tries once more on a new one.
func (c *committer) begin(ctx context.Context) (err error) {
	for range 2 {
		if c.session == nil {
			if c.session, err = openSession(ctx, c.engine); err != nil {
				return err
			}
		}
		_, err = c.session.exec(ctx, c.engine.Begin)
		if err == nil || c.engine.classify(err) == Busy {
			return err
		}
		c.drop()
	}
	return err
}

// rollback ends a transaction that failed. If the server itself is the cause (it became
// a standby, or is shutting down), the connection is dropped: the next one may reach
// another server.
func (c *committer) rollback(ctx context.Context, cause error) {
	if c.engine.classify(cause) != Away {
		if _, err := c.session.exec(ctx, "ROLLBACK"); err == nil {
			return
		}
	}
	c.drop()
}

// drop ends the session. The next one may reach another server.
func (c *committer) drop() {
	c.session.discard()
	c.session = nil
	c.stream.moved = true
}

// meaning returns the outcome of a failure before COMMIT. Nothing was written.
func (c *committer) meaning(err error, numberTaken bool) outcome {
	if errors.Is(err, errWentBack) {
		c.engine.broke(err)
		return away
	}
	if errors.Is(err, errLeft) {
		return contended
	}
	switch c.engine.classify(err) {
	case Contended:
		return contended
	case Broken:
		c.engine.broke(fmt.Errorf("%w: %w", errSyncFailed, err))
		return away
	case Busy, Away, Full:
		return away
	case Duplicate:
		if numberTaken {
			// A COMMIT with an unknown outcome did succeed, or another writer was
			// faster. Read the head of the stream again.
			c.stream.known = false
			return contended
		}
		return refused
	default:
		return refused
	}
}

// doubt returns the outcome of a failed COMMIT. It is certain that nothing was written
// only if the database itself said so; a lost connection proves nothing.
func (c *committer) doubt(ctx context.Context, err error) outcome {
	switch c.engine.classify(err) {
	case Contended:
		c.rollback(ctx, err)
		return contended
	case Full:
		c.rollback(ctx, err)
		return away
	case Broken:
		c.engine.broke(fmt.Errorf("%w: %w", errSyncFailed, err))
		fallthrough // what was written may or may not be on disk
	default:
		c.drop()
		c.stream.known = false
		return uncertain
	}
}

// record numbers the changes of a group and writes them.
func (c *committer) record(tx *transaction, made changes) error {
	if len(made) == 0 {
		return nil
	}
	first, err := c.stream.next(tx, len(made))
	if err != nil {
		return err
	}
	return inChunks(len(made), func(from, to int) error {
		numbered := mapped(made[from:to], func(change *beacon.Change) beacon.Change { return *change })
		for i := range numbered {
			numbered[i].Node, numbered[i].Seq = c.stream.node, first+int64(from+i)
		}
		return tx.append(`INSERT INTO changes (`+changeColumns+`, seal) VALUES (…)`, valuesOf(tx, numbered, sealedChangeRow)...)
	})
}

// Commit describes one transaction of writes.
type Commit struct {
	Stream  string // Changes or Journal
	Outcome string // one of Outcomes
	Took    time.Duration
}

// The streams that a DB writes: heartbeats, and everything else.
const (
	Changes = "changes"
	Journal = "journal"
)

// Outcomes returns the possible outcomes of a transaction: it was committed; it lost
// against others until it gave up; the database rejected one of its writes, as when a
// name is taken; the database was unavailable; the outcome is unknown.
func Outcomes() []string { return []string{"committed", "contended", "refused", "away", "uncertain"} }

func (o outcome) String() string { return Outcomes()[o] }

// Watch sets a function to call after every transaction of the two streams. It is for
// monitoring, and must return quickly: writes wait for it.
func (db *DB) Watch(fn func(Commit)) { db.watch.Store(&fn) }

func (db *core) watched(stream string) func(outcome, time.Duration) {
	return func(o outcome, took time.Duration) {
		if fn := db.watch.Load(); fn != nil {
			(*fn)(Commit{stream, o.String(), took})
		}
	}
}

// Pools returns the statistics of the connection pools for writing and reading.
func (db *DB) Pools() (write, read sql.DBStats) {
	return db.engine.Write.Stats(), db.engine.Read.Stats()
}
