package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Engine is what differs between databases. Packages store/sqlite and store/postgres
// create one; a DB owns it and closes its pools.
type Engine struct {
	// Write serves the committers and Read everything else, so that many readers never
	// delay a write.
	Write, Read *sql.DB

	// Begin is the statement that starts a transaction that writes.
	Begin string

	// BeginRead is the statement that starts a transaction whose reads all see one
	// snapshot of the database.
	BeginRead string

	// Pooled says that each transaction may be in another session of the database, so that
	// statements are not prepared.
	Pooled bool

	// Words translates the portable text of a migration to the engine's own.
	Words *strings.Replacer

	// Rewrite, if not nil, converts a statement of the committer to the form that is
	// fastest with the driver.
	Rewrite func(text string) string

	// Classify returns what an error of the driver means, by its code.
	Classify func(error) Failure

	// Foreign returns what the schema has beside tables and indexes, such as "view totals"
	// or "trigger audit on hotspots". No migration makes such a thing.
	Foreign Foreign

	// Exclusive runs a migration while no other process runs one. If fn fails, as much
	// is undone as the engine can undo.
	Exclusive func(ctx context.Context, fn func(*sql.Conn) error) error

	// Scan reads the rows of a query in the driver's fastest way, each into the targets: a
	// *string, *int, *int64, *float64 or *[]byte for each column. It calls each after every
	// row. Each of the arguments is a string, int64 or []byte. The caller may keep what it is
	// given. Text never contains a NUL.
	Scan Scan

	// Confirm, if not nil, is called after each COMMIT, before anything of it is
	// acknowledged. An error means that what was written is not where the next process
	// will look for it.
	Confirm func() error

	// InDoubt, if not nil, is asked after each COMMIT that succeeded whether it may be lost all
	// the same. The connection is not used again then.
	InDoubt func(*sql.Conn) bool

	// Clock is a query for the database's own time, in microseconds since 1970. It is
	// empty if the database has no clock other than this machine's.
	Clock string

	// Patience limits how long one group of writes may take, retries included. Zero
	// means no limit: for a database that is not behind a network.
	Patience time.Duration

	broken *breakage    // set by Open
	full   *atomic.Bool // set by Open: whether the last write found no room on disk
}

// Scan is the signature of Engine.Scan.
type Scan func(ctx context.Context, conn *sql.Conn, text string, targets, args []any, each func() error) error

// Foreign is the signature of Engine.Foreign.
type Foreign func(ctx context.Context, conn *sql.Conn) ([]string, error)

// Failure is what an error means for the transaction in which it occurred.
type Failure int

// The meanings of a failure. All but Refused mean that nothing was written, if the
// error occurred before COMMIT.
const (
	Refused   Failure = iota // the database rejects it: a retry will not help
	Duplicate                // rejected by a unique index
	Contended                // lost against another transaction: retry
	Busy                     // it responds, but has no time or room for this now
	Away                     // the connection is lost, or none can be opened
	Full                     // no room on disk
	Broken                   // the disk did not keep what was written: see Engine.broke
)

// classify handles what is common to all drivers, then asks the engine.
func (e *Engine) classify(err error) Failure {
	switch _, network := errors.AsType[net.Error](err); {
	case network,
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled),
		errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Away
	}
	return e.Classify(err)
}

// close closes the readers first: the last connection to a SQLite file checkpoints the
// log into it, and a read-only connection cannot.
func (e *Engine) close() error {
	return errors.Join(e.Read.Close(), e.Write.Close())
}

func internal(doing string, cause error) error {
	return beacon.Unexpected(fmt.Errorf("%s: %w", doing, cause))
}

// absent returns the error for a row that does not exist, which a use case has words for.
func absent(what string) error { return &beacon.Error{Kind: beacon.NotFound, Err: errors.New(what)} }

// leaseLost is the error for a holder that was replaced. Nothing was written.
func leaseLost(name string) error {
	return beacon.Conflicting(fmt.Errorf("another server has taken over: the lease %q is lost", name))
}
