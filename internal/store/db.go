// Package store is the durable state of Beacon: hotspots, keys, idempotency records,
// heartbeats, rewards, and the stream of changes that records every write. It holds the
// SQL once, in the subset shared by SQLite, PostgreSQL and engines that speak
// PostgreSQL's protocol. Packages store/sqlite and store/postgres open a database and
// supply an Engine with what really differs.
//
//	db, err := sqlite.Open(ctx, "beacon.db", sqlite.Options{Now: time.Now()})
//	...
//	h, err := db.Hotspot(ctx, id)
//
// It makes no decisions: who may do what, and which input is valid, is settled before a
// call arrives here. It reads no clock; times are passed in, and stored in UTC to the
// microsecond.
//
// Its invariant: a call that returned nil is durable, together with its row in the
// change stream; and the stream of a node has no gaps and becomes visible in order.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
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
	snapshots chan struct{} // a slot for each open snapshot; the other half of the connections is left to other reads

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
	engine.full = new(atomic.Bool)
	seat, beats := newSeat(), newSeat()
	if engine.Write.Stats().MaxOpenConnections == 1 {
		beats = seat // a single connection writes: the committers take turns
	}
	db := &DB{engine: &engine, node: node, seen: seen{most: map[string]int64{}}}
	db.snapshots = make(chan struct{}, max(1, engine.Read.Stats().MaxOpenConnections/2))
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

// errFull is why Ping fails while there is no room on disk. The first write that
// succeeds ends that: a server writes something every few seconds.
var errFull = errors.New("there is no room on disk for writes")

// Ping returns an error if the database does not respond, or if the last write found no
// room on disk.
func (db *DB) Ping(ctx context.Context) error {
	if db.engine.full.Load() {
		return errFull
	}
	var n int
	_, err := db.queryRow(ctx, []any{&n}, sqlText.ping)
	return err
}

// commit runs one write and waits until it is durable. Order names the row that it
// contends for (see operation).
func (db *DB) commit(ctx context.Context, order string, run func(*transaction) (changes, error)) error {
	return db.committer.do(ctx, &operation{order: order, run: run})
}

// exec commits one statement, and records the changes that it makes.
func (db *DB) exec(ctx context.Context, order string, made changes, text string, args ...any) error {
	return db.commit(ctx, order, func(tx *transaction) (changes, error) { return made, tx.write(text, args...) })
}

// queryRow reads the single row of a query into the targets, outside of any explicit
// transaction, and reports whether there was one.
func (db *DB) queryRow(ctx context.Context, targets []any, text string, args ...any) (found bool, err error) {
	err = db.retrying(ctx, func() error {
		return db.engine.Read.QueryRowContext(ctx, text, args...).Scan(targets...)
	})
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err == nil, nil
	}
	return false, db.readFailed(err)
}

// queryFirst reads the single row of a query, and reports whether there was one.
func queryFirst[T any](ctx context.Context, db *DB, row rowReader[T], text string, args ...any) (one T, found bool, err error) {
	var none T
	targets, finish := row(&one)
	if found, err = db.queryRow(ctx, targets, text, args...); err != nil || !found {
		return none, false, err
	}
	if err := finish(); err != nil {
		return none, false, db.readFailed(err)
	}
	return one, true, nil
}

// query reads all rows of a query.
func query[T any](ctx context.Context, db *DB, row rowReader[T], text string, args ...any) ([]T, error) {
	var all []T
	err := db.retrying(ctx, func() (err error) {
		all, err = queryOn(ctx, db.engine.Read, row, text, args...)
		return err
	})
	if err != nil {
		return nil, db.readFailed(err)
	}
	return all, nil
}

// queryer is a connection, or a pool of them.
type queryer interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// ReadRows reads all rows of a query, each into the targets in a T.
func ReadRows[T any](ctx context.Context, on queryer, targets func(*T) []any, text string) ([]T, error) {
	return queryOn(ctx, on, func(row *T) ([]any, func() error) { return targets(row), done }, text)
}

// queryOn is query without retries.
func queryOn[T any](ctx context.Context, on queryer, row rowReader[T], text string, args ...any) (all []T, err error) {
	rows, err := on.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var one T
	targets, finish := row(&one)
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		if err := finish(); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// queryMap reads rows of a key and a value.
func queryMap[K comparable, V any](ctx context.Context, db *DB, text string, args ...any) (map[K]V, error) {
	type pair struct {
		key   K
		value V
	}
	all, err := query(ctx, db, func(p *pair) ([]any, func() error) { return []any{&p.key, &p.value}, done }, text, args...)
	if err != nil {
		return nil, err
	}
	values := make(map[K]V, len(all))
	for _, p := range all {
		values[p.key] = p.value
	}
	return values, nil
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
