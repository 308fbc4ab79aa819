package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// DB is an open database. It is safe for concurrent use and shares no memory
// with its callers. Its errors are *beacon.Error: Overloaded when the database
// is away and nothing was written, Internal when a write has an unknown outcome
// or something is wrong, and what each method names.
type DB struct {
	engine    *Engine
	node      string
	committer *committer
	journal   *committer // of heartbeats

	seen      seen
	snapshots chan struct{} // one for each that is open

	watch atomic.Pointer[func(Commit)]
}

// nodePrefix begins the name of a node: one opened DB, and its stream of changes.
const nodePrefix = "node_"

// SharedNode is a stream for those who write seldom and briefly, such as the
// command line: one for all of them, or every call would leave a stream behind
// that all servers follow for ever. Two who write to it at once get in each
// other's way, and one of them tries again.
const SharedNode = nodePrefix + "shared"

// Open brings the schema up to date and starts the committer, on a stream of
// its own when node is empty. It takes over the engine and closes it, also when
// it fails. Packages store/sqlite and store/postgres call it.
func Open(ctx context.Context, engine Engine, node string, now time.Time) (*DB, error) {
	if err := migrate(ctx, &engine, now); err != nil {
		return nil, errors.Join(fmt.Errorf("bring the database up to date: %w", err), engine.close())
	}
	if node == "" {
		node = id.New(nodePrefix, now)
	}
	engine.broken = &breakage{found: make(chan struct{})}
	seat, beats := newSeat(), newSeat()
	if engine.Write.Stats().MaxOpenConnections == 1 {
		beats = seat // there is one connection that writes: they take turns
	}
	db := &DB{engine: &engine, node: node, snapshots: newSnapshots(engine.Read), seen: seen{most: map[string]int64{}}}
	db.committer = startCommitter(&engine, seat, numbering{node: node, opened: now, last: sqlText.head}, db.watched(Changes))
	db.journal = startCommitter(&engine, beats, numbering{node: node, opened: now, last: sqlText.journalHead}, db.watched(Journal))
	return db, nil
}

// Node names the stream in which the changes made through this DB stand.
func (db *DB) Node() string { return db.node }

// Waiting is how many writes stand in a queue right now.
func (db *DB) Waiting() int { return int(db.committer.waiting.Load() + db.journal.waiting.Load()) }

// Close commits what is waiting, then closes the database.
func (db *DB) Close() error {
	db.journal.close()
	db.committer.close()
	return db.engine.close()
}

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	var n int
	return db.queryRow(ctx, func(scan func(...any) error) error { return scan(&n) }, sqlText.ping)
}

// queryRow reads one row outside of any transaction of ours; it answers
// sql.ErrNoRows as it is.
func (db *DB) queryRow(ctx context.Context, read func(scan func(...any) error) error, text string, args ...any) error {
	err := db.retrying(ctx, func() error {
		return read(db.engine.Read.QueryRowContext(ctx, text, args...).Scan)
	})
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return db.readFailed(err)
}

// query reads all the rows of a query.
func query[T any](ctx context.Context, db *DB, read func(scan func(...any) error) (T, error), text string, args ...any) ([]T, error) {
	var all []T
	err := db.retrying(ctx, func() error {
		all = nil
		rows, err := db.engine.Read.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			one, err := read(rows.Scan)
			if err != nil {
				return err
			}
			all = append(all, one)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, db.readFailed(err)
	}
	return all, nil
}

// retrying repeats a read that lost against a write: where everything is
// serializable, that happens to reads too. It also repeats one whose connection
// turned out to be dead, once for each that the pool may hold.
func (db *DB) retrying(ctx context.Context, read func() error) (err error) {
	for try := range maxTries {
		err = read()
		if err == nil || errors.Is(err, sql.ErrNoRows) || !db.worthRepeating(err, try) || !pause(ctx, try) {
			return err
		}
	}
	return err
}

func (db *DB) worthRepeating(err error, try int) bool {
	switch db.engine.classify(err) {
	case Contended:
		return true
	case Away:
		return try < db.engine.Read.Stats().MaxOpenConnections
	default:
		return false
	}
}

func (db *DB) readFailed(err error) error {
	if _, ours := errors.AsType[*beacon.Error](err); ours {
		return err
	}
	switch db.engine.classify(err) {
	case Contended, Busy, Away:
		return unavailable(err)
	default:
		return internal("read", err)
	}
}
