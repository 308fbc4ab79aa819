package store

import (
	"errors"
	"fmt"
	"sync"
)

// breakage is whether the database has failed to keep what it was given, so that
// what is in the memory of this process is no longer true. From then on nothing may
// be acknowledged any more, until someone has read anew what is really there.
type breakage struct {
	once  sync.Once
	found chan struct{} // closed when cause is known
	cause error
}

var (
	errBroken = errors.New("the database has not kept what it was given")

	// errSyncFailed: the system forgets what it could not write, so that a later
	// sync succeeds and means nothing.
	errSyncFailed = errors.New("a sync of the disk has failed")

	// errWentBack: another server has taken the place of the one before without
	// everything that this had, or a backup was restored. Whoever follows the changes
	// would hold on to those that are gone, and miss those that get their numbers.
	errWentBack = errors.New("changes that were there are gone")
)

// wentBack tells of a stream that was longer.
func wentBack(node string, was, is int64) error {
	return fmt.Errorf("%w: %s had %d of them, and has %d", errWentBack, node, was, is)
}

// broke notes that the database has failed.
func (e *Engine) broke(cause error) {
	e.broken.once.Do(func() {
		e.broken.cause = cause
		close(e.broken.found)
	})
}

func (e *Engine) isBroken() bool {
	select {
	case <-e.broken.found:
		return true
	default:
		return false
	}
}

// Broken is closed when the database has failed to keep something. Nothing can be
// written any more: whoever serves from this database had better end, and start
// anew.
func (db *DB) Broken() <-chan struct{} { return db.engine.broken.found }

// Breakage is why Broken was closed.
func (db *DB) Breakage() error {
	if !db.engine.isBroken() {
		return nil
	}
	return fmt.Errorf("%w: %w", errBroken, db.engine.broken.cause)
}
