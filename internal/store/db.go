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

// DB is an open database. It is safe for concurrent use and shares no memory with its
// callers. Its errors are *beacon.Error: Overloaded if the database is unavailable and
// nothing was written, Internal if a write has an unknown outcome or something is
// wrong, and those that each method names.
type DB struct {
	engine    *Engine
	node      string
	committer *committer
	journal   *committer // of heartbeats

	seen      seen
	snapshots chan struct{} // a slot for each open snapshot

	watch atomic.Pointer[func(Commit)]
}

// nodePrefix starts the name of a node: one opened DB and its change stream.
const nodePrefix = "node_"

// SharedNode is the stream of occasional short-lived writers, such as the command line.
// They share one, because a stream of its own would outlive each call and every server
// would follow it forever. If two write to it at once, one of them retries.
const SharedNode = nodePrefix + "shared"

// Open brings the schema up to date and starts the committers. If node is empty, the DB
// gets a new stream. Open takes ownership of the engine, and closes it if Open fails.
// It is called by packages store/sqlite and store/postgres.
func Open(ctx context.Context, engine Engine, node string, now time.Time) (*DB, error) {
	if err := migrate(ctx, &engine, now); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate the database: %w", err), engine.close())
	}
	if node == "" {
		node = id.New(nodePrefix, now)
	}
	engine.broken = &breakage{found: make(chan struct{})}
	seat, beats := newSeat(), newSeat()
	if engine.Write.Stats().MaxOpenConnections == 1 {
		beats = seat // a single connection writes: the committers take turns
	}
	db := &DB{engine: &engine, node: node, snapshots: newSnapshots(engine.Read), seen: seen{most: map[string]int64{}}}
	db.committer = startCommitter(&engine, seat, numbering{node: node, opened: now, last: sqlText.head}, db.watched(Changes))
	db.journal = startCommitter(&engine, beats, numbering{node: node, opened: now, last: sqlText.journalHead}, db.watched(Journal))
	return db, nil
}

// Node returns the name of the stream that this DB writes its changes to.
func (db *DB) Node() string { return db.node }

// Waiting returns the number of writes that are queued.
func (db *DB) Waiting() int { return int(db.committer.waiting.Load() + db.journal.waiting.Load()) }

// Close commits the queued writes, then closes the database.
func (db *DB) Close() error {
	db.journal.close()
	db.committer.close()
	return db.engine.close()
}

// Ping returns an error if the database does not respond.
func (db *DB) Ping(ctx context.Context) error {
	var n int
	return db.queryRow(ctx, func(scan func(...any) error) error { return scan(&n) }, sqlText.ping)
}

// queryRow reads one row outside of any explicit transaction. It returns sql.ErrNoRows
// unchanged.
func (db *DB) queryRow(ctx context.Context, read func(scan func(...any) error) error, text string, args ...any) error {
	err := db.retrying(ctx, func() error {
		return read(db.engine.Read.QueryRowContext(ctx, text, args...).Scan)
	})
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return db.readFailed(err)
}

// query reads all rows of a query.
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

// retrying repeats a read that lost against a write, which happens to reads too where
// everything is serializable. It also repeats a read whose connection turned out to be
// dead, once for each connection that the pool may hold.
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
