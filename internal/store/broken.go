package store

import (
	"errors"
	"fmt"
	"sync"
)

// breakage records whether the database failed to keep what was written, so that the
// memory of this process is no longer correct. After that nothing may be acknowledged,
// until what is really stored has been read again.
type breakage struct {
	once  sync.Once
	found chan struct{} // closed when cause is set
	cause error
}

var (
	errBroken = errors.New("the database lost data that it had accepted")

	// errSyncFailed: the operating system discards what it could not write, so that a
	// later sync succeeds and means nothing.
	errSyncFailed = errors.New("a disk sync failed")

	// errWentBack: another server replaced the previous one without all of its data, or
	// a backup was restored. A follower of the change stream would keep changes that
	// are gone, and miss those that reuse their numbers.
	errWentBack = errors.New("changes are gone")
)

// wentBack returns the error for a stream that has become shorter.
func wentBack(node string, was, is int64) error {
	return fmt.Errorf("%w: %s had %d, and now has %d", errWentBack, node, was, is)
}

// broke records that the database has failed.
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

// Broken returns a channel that is closed when the database has failed to keep
// something. Nothing can be written after that: a server should exit and restart.
func (db *DB) Broken() <-chan struct{} { return db.engine.broken.found }

// Breakage returns why Broken was closed, or nil if it is open.
func (db *DB) Breakage() error {
	if !db.engine.isBroken() {
		return nil
	}
	return fmt.Errorf("%w: %w", errBroken, db.engine.broken.cause)
}
