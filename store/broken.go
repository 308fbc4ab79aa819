package store

import (
	"errors"
	"fmt"
	"sync"
)

// breakage is whether a sync of the disk has failed. The system forgets what it
// could not write, so that a later sync succeeds and means nothing: from then on
// nothing may be acknowledged any more, until someone has read anew what is
// really on the disk.
type breakage struct {
	once  sync.Once
	found chan struct{} // closed when cause is known
	cause error
}

var errBroken = errors.New("a sync of the disk has failed")

// broke notes that a sync has failed.
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

// Broken is closed when a sync of the disk has failed. Nothing can be written
// any more: whoever serves from this database had better end, and start anew.
func (db *DB) Broken() <-chan struct{} { return db.engine.broken.found }

// Breakage is why Broken was closed.
func (db *DB) Breakage() error {
	if !db.engine.isBroken() {
		return nil
	}
	return fmt.Errorf("%w: %w", errBroken, db.engine.broken.cause)
}
