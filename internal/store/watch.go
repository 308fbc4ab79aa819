package store

import (
	"database/sql"
	"time"
)

// Commit is what became of writes that went to the database in one transaction.
type Commit struct {
	Stream  string // Changes or Journal
	Outcome string // one of Outcomes
	Took    time.Duration
}

// The streams that a DB writes: heartbeats, and all the rest.
const (
	Changes = "changes"
	Journal = "journal"
)

// Outcomes are the words for what can become of a transaction: it was committed;
// it lost against others until it gave up; the database refused one of its writes,
// as when a name is taken; the database was away; nobody knows.
func Outcomes() []string { return []string{"committed", "contended", "refused", "away", "uncertain"} }

func (o outcome) String() string { return Outcomes()[o] }

// Watch has fn called after every transaction of the two streams. It is for
// monitoring, and must return soon: others wait.
func (db *DB) Watch(fn func(Commit)) { db.watch.Store(&fn) }

func (db *DB) watched(stream string) func(outcome, time.Duration) {
	return func(o outcome, took time.Duration) {
		if fn := db.watch.Load(); fn != nil {
			(*fn)(Commit{stream, o.String(), took})
		}
	}
}

// Pools tells how busy the connections are that writes and reads go through.
func (db *DB) Pools() (write, read sql.DBStats) {
	return db.engine.Write.Stats(), db.engine.Read.Stats()
}
