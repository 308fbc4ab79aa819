// Package store is the durable state of Beacon: hotspots, keys, idempotency records,
// heartbeats, rewards, and the stream of changes that records every write. It holds the
// SQL once, in the subset shared by SQLite, PostgreSQL and engines that speak
// PostgreSQL's protocol. Packages store/sqlite and store/postgres open a database and
// supply an Engine with what really differs.
//
//	db, err := sqlite.Open(ctx, "beacon.db", sqlite.Options{Now: time.Now()})
//	...
//	h, err := db.Hotspots.Hotspot(ctx, id)
//
// Who may do what, and which input is valid, is decided before a call arrives here, or in
// the transaction by a function of the caller, which is given the rows and counts that
// others may be changing at the same time. The store itself refuses only conflicts: a MAC
// address that is taken or reserved, a page that does not follow the last closed one. It
// has no words for people: use cases add them. It reads no clock; times are passed in, and stored in UTC to the
// microsecond.
//
// Its invariant: a call that returned nil is durable, together with its row in the
// change stream; and the stream of a node has no gaps and becomes visible in order.
package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/id"
)

// DB is an open database. It is safe for concurrent use and shares no memory with its
// callers. Its errors are *beacon.Error: Overloaded if the database is unavailable and
// nothing was written, Internal if a write has an unknown outcome or something is
// wrong, and those that each method names.
type DB struct {
	*core

	Hotspots HotspotTable
	Keys     KeyTable
	Users    UserTable
	People   PeopleTable
	CheckIns CheckInTable
	Flags    FlagTable
	Settings SettingTable
	Requests RequestTable
	Changes  ChangeTable
	Events   EventTable
	Journal  JournalTable
	Records  RecordTable
	Clocks   ClockTable
	Leases   LeaseTable
	Ledger   LedgerTable
	Holds    HoldTable
}

// The tables of a DB by subject. A use case is given those that it needs.
type (
	HotspotTable struct{ *core } // with link codes and reserved MAC addresses
	KeyTable     struct{ *core }
	UserTable    struct{ *core } // quotas, and wishes to be erased
	PeopleTable  struct{ *core } // with memberships, invitations, sessions and tickets
	CheckInTable struct{ *core } // with the addresses of devices
	FlagTable    struct{ *core }
	SettingTable struct{ *core }
	RequestTable struct{ *core } // those with an Idempotency-Key
	ChangeTable  struct{ *core } // the streams of all nodes
	EventTable   struct{ *core } // with the last announced statuses
	JournalTable struct{ *core } // of heartbeats
	RecordTable  struct{ *core } // of days
	ClockTable   struct{ *core } // with the spans in which nodes were up
	LeaseTable   struct{ *core }
	LedgerTable  struct{ *core } // with policies and standings
	HoldTable    struct{ *core }
)

// RewardTables are what rewards are computed from and written to.
type RewardTables struct {
	LedgerTable
	HoldTable
	RecordTable
	HotspotTable
	ClockTable
	PeopleTable
}

// Rewards returns the tables that rewards are computed from and written to.
func (db *DB) Rewards() RewardTables {
	return RewardTables{db.Ledger, db.Holds, db.Records, db.Hotspots, db.Clocks, db.People}
}

// core is what the subjects share.
type core struct {
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

const journalHeadSQL = `SELECT coalesce((SELECT max(seq) FROM journal WHERE node = $1),
		(SELECT journal_trimmed FROM nodes WHERE node = $1), 0)`

// Open brings the schema up to date, within what is allowed, and starts the committers.
// If node is empty, the DB gets a new stream. Open takes ownership of the engine, and closes
// it if Open fails. It is called by packages store/sqlite and store/postgres.
func Open(ctx context.Context, engine Engine, allowed Upgrade, node string, now time.Time) (*DB, error) {
	if err := migrate(ctx, &engine, allowed, now); err != nil {
		if allowed == ToCurrent && !errors.Is(err, ErrHalfMoved) {
			err = fmt.Errorf("migrate the database: %w", err)
		}
		return nil, errors.Join(err, engine.close())
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
	db := &core{engine: &engine, node: node, seen: seen{most: map[string]int64{}}}
	db.snapshots = make(chan struct{}, max(1, engine.Read.Stats().MaxOpenConnections/2))
	db.committer = startCommitter(&engine, seat, numbering{node: node, opened: now, last: `SELECT coalesce(max(seq), 0) FROM changes WHERE node = $1`}, db.watched(Changes))
	db.journal = startCommitter(&engine, beats, numbering{node: node, opened: now, last: journalHeadSQL}, db.watched(Journal))
	return &DB{
		db,
		HotspotTable{db},
		KeyTable{db},
		UserTable{db},
		PeopleTable{db},
		CheckInTable{db},
		FlagTable{db},
		SettingTable{db},
		RequestTable{db},
		ChangeTable{db},
		EventTable{db},
		JournalTable{db},
		RecordTable{db},
		ClockTable{db},
		LeaseTable{db},
		LedgerTable{db},
		HoldTable{db},
	}, nil
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
	_, err := readRow(ctx, db, []any{&n}, `SELECT count(*) FROM schema_versions`)
	return err
}

// commit runs one write and waits until it is durable. Order names the row that it
// contends for (see operation).
func (db *core) commit(ctx context.Context, order string, run func(*transaction) (changes, error)) error {
	return db.committer.do(ctx, &operation{order: order, run: run})
}

// exec commits one statement, and records the changes that it makes.
func (db *core) exec(ctx context.Context, order string, made changes, text string, args ...any) error {
	return db.commit(ctx, order, func(tx *transaction) (changes, error) { return made, tx.write(text, args...) })
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
