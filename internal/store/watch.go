package store

import (
	"database/sql"
	"time"
)

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

func (db *DB) watched(stream string) func(outcome, time.Duration) {
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
