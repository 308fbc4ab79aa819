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

	// Words translates the portable text of a migration to the engine's own.
	Words *strings.Replacer

	// Rewrite, if not nil, converts a statement of the committer to the form that is
	// fastest with the driver.
	Rewrite func(text string) string

	// Classify returns what an error of the driver means, by its code.
	Classify func(error) Failure

	// Exclusive runs a migration while no other process runs one. If fn fails, as much
	// is undone as the engine can undo.
	Exclusive func(ctx context.Context, fn func(*sql.Conn) error) error

	// Scan reads columns of many rows in the driver's fastest way. Tail is the query
	// from FROM on, and each of its arguments is a string, int64 or []byte. Each is
	// called for one row after another, with a function like sql.Rows.Scan that takes a
	// *string, *int, *int64, *float64 or *[]byte for each column, or a sql.Scanner of an
	// integer. The caller may keep what it is given.
	Scan Scan

	// Confirm, if not nil, is called after each COMMIT, before anything of it is
	// acknowledged. An error means that what was written is not where the next process
	// will look for it.
	Confirm func() error

	// Clock is a query for the database's own time, in microseconds since 1970. It is
	// empty if the database has no clock other than this machine's.
	Clock string

	// Patience limits how long one group of writes may take, retries included. Zero
	// means no limit: for a database that is not behind a network.
	Patience time.Duration

	broken *breakage    // set by Open
	full   *atomic.Bool // set by Open: whether the last write found no room on disk
}

// Scan is the signature of Engine.Scan, which reads many rows on one connection.
type Scan func(
	ctx context.Context, conn *sql.Conn, columns []Column, tail string, args []any, each func(scan func(...any) error) error,
) error

// Column is a column and its type. Text never contains a NUL.
type Column struct {
	Name string
	Type ColumnType
}

// ColumnType is the type of a column.
type ColumnType int

// The column types that are read in bulk.
const (
	Text ColumnType = iota
	Integer
	Real
	Blob
)

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

// retryAfter is how long a client should wait when the database is unavailable.
const retryAfter = time.Second

// unavailable is the error if it is certain that nothing was written.
func unavailable(cause error) error {
	return &beacon.Error{
		Kind:       beacon.Overloaded,
		Message:    "the service cannot reach its database right now; nothing was changed, try again",
		RetryAfter: retryAfter,
		Err:        cause,
	}
}

// unknown is the error if a write may or may not have happened. We must not repeat it:
// measured, 9 of 10 such commits had reached the disk. The client repeats it under its
// Idempotency-Key (decision N12).
func unknown(cause error) error {
	return &beacon.Error{
		Message: "it is not known whether the change was made; repeat it under the same Idempotency-Key",
		Err:     fmt.Errorf("outcome unknown: %w", cause),
	}
}

func internal(doing string, cause error) error {
	return &beacon.Error{Message: "internal error", Err: fmt.Errorf("%s: %w", doing, cause)}
}

func notFound(what string) error {
	return &beacon.Error{Kind: beacon.NotFound, Message: "no such " + what}
}

// macTaken does not reveal whose MAC it is (decision N8).
func macTaken(cause error) error {
	return &beacon.Error{
		Kind:    beacon.Conflict,
		Message: "a hotspot with this MAC address is already registered",
		Err:     cause,
	}
}

// leaseLost is the error for a holder that was replaced. Nothing was written.
func leaseLost(name string) error {
	return &beacon.Error{
		Kind:    beacon.Conflict,
		Message: "another server has taken over",
		Err:     fmt.Errorf("the lease %q is lost", name),
	}
}

// codeTaken is only for our own code, which then generates another code.
func codeTaken(cause error) error {
	return &beacon.Error{Kind: beacon.Conflict, Message: "the link code is in use: create another", Err: cause}
}
