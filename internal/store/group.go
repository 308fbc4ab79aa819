package store

import (
	"context"
	"errors"
	"fmt"
)

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

// try runs a group as one transaction.
func (c *committer) try(ctx context.Context, group []*operation) ([]error, outcome, error) {
	if err := c.begin(ctx); err != nil {
		return nil, away, fmt.Errorf("begin: %w", err)
	}
	tx := &transaction{ctx: ctx, session: c.session}
	verdicts, made, err := perform(tx, group)
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
		made = append(made, some...)
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
	return inChunks(sqlText.insertChanges[:], len(made), func(text string, from, to int) error {
		var args []any
		for i, change := range made[from:to] {
			numbered := *change
			numbered.Node, numbered.Seq = c.stream.node, first+int64(from+i)
			args = append(args, numbered.Node, numbered.Seq, string(change.Kind), change.Target, change.Version,
				string(change.Actor.Key), string(change.Actor.User), change.Actor.Request, micros(change.At), change.Actor.Note,
				changeContent(&numbered).seal())
		}
		return tx.append(text, args...)
	})
}
