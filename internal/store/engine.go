package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// Engine is what differs between databases. Packages store/sqlite and
// store/postgres make one; a DB owns it and closes its pools.
type Engine struct {
	// Write serves the committer, Read everything else, so that a crowd of
	// readers never keeps a write waiting.
	Write, Read *sql.DB

	// Begin is the statement that opens a transaction which will write.
	Begin string

	// BeginRead is the statement that opens a transaction whose reads all see one
	// state of the database.
	BeginRead string

	// Words turns the portable text of a migration into the engine's own.
	Words *strings.Replacer

	// Rewrite turns a statement of the committer into the form that the driver is
	// fastest with. Nil leaves it as it is.
	Rewrite func(text string) string

	// Classify tells what an error of the driver means, by its code.
	Classify func(error) Failure

	// Exclusive runs a migration while no other process runs one. A failure of
	// fn undoes as much as the engine can undo.
	Exclusive func(ctx context.Context, fn func(*sql.Conn) error) error

	// Scan reads columns of many rows in the fastest way the driver has: tail is
	// the query from FROM on, and its arguments are a string, int64 or []byte each.
	// Each is called for one row after the other, with a function like
	// sql.Rows.Scan that takes a *string, *int, *int64, *float64 or *[]byte for
	// each column. What it hands out is the caller's to keep.
	Scan Scan

	// Patience bounds how long one group of writes may take, retries included.
	// Zero is no bound: for a database without a network in between.
	Patience time.Duration

	broken *breakage // Open makes it
}

// Scan is how an Engine reads many rows from one of its connections.
type Scan func(
	ctx context.Context, conn *sql.Conn, columns []Column, tail string, args []any, each func(scan func(...any) error) error,
) error

// Column is a column with what it holds. Texts never hold a NUL.
type Column struct {
	Name string
	Type ColumnType
}

// ColumnType is what a column holds.
type ColumnType int

// The types of columns that are read in bulk.
const (
	Text ColumnType = iota
	Integer
	Real
	Blob
)

// Failure is what an error means for the transaction that met it.
type Failure int

// The meanings of a failure. All but the first are of errors that left nothing
// written, when met before COMMIT.
const (
	Refused   Failure = iota // the database understood and said no: another try will not help
	Duplicate                // refused by a unique index
	Contended                // lost against another transaction: try again
	Busy                     // it answers, but has no time or room for this now
	Away                     // the connection is lost, or there is none to be had
	Full                     // no room on disk
	Broken                   // the disk did not keep what it was told to keep: see Engine.broke
)

// classify sorts out what is the same for every driver, then asks the engine.
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

// close ends the readers first: the last connection to a SQLite file folds the
// log back into it, and a connection for reading could not.
func (e *Engine) close() error {
	return errors.Join(e.Read.Close(), e.Write.Close())
}
