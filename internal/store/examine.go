package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Examination reads a database in which anything may be wrong. Unlike a DB it runs no
// migration, trusts nothing and cannot write. Packages store/sqlite and store/postgres
// open one.
type Examination struct {
	db     *DB // for its Engine and its read methods
	probes Probes
}

// Probes are the checks that only an engine can do.
type Probes struct {
	// Schema reads the schema of the database.
	Schema func(ctx context.Context, conn *sql.Conn) (Schema, error)

	// Durability checks the settings that acknowledged writes depend on to survive. It
	// returns what it checked, and what is wrong.
	Durability func(ctx context.Context) (looked string, wrong []string, err error)

	// Storage has the engine check its files: completely, or quickly.
	Storage func(ctx context.Context, quick bool) (looked string, wrong []string, err error)
}

// Examine takes ownership of an engine, of which it uses only Read, BeginRead, Scan and
// Classify.
func Examine(engine Engine, probes Probes) *Examination {
	return &Examination{db: &DB{engine: &engine, snapshots: newSnapshots(engine.Read)}, probes: probes}
}

// Close ends the examination.
func (x *Examination) Close() error { return x.db.engine.Read.Close() }

// Durability checks the settings that durability depends on.
func (x *Examination) Durability(ctx context.Context) (looked string, wrong []string, err error) {
	return x.probes.Durability(ctx)
}

// Storage has the engine check its files.
func (x *Examination) Storage(ctx context.Context, quick bool) (looked string, wrong []string, err error) {
	return x.probes.Storage(ctx, quick)
}

// SchemaState compares the schema of a database with what this program expects.
type SchemaState struct {
	Version, Known int64    // of the database, and of this program
	Lines          int      // number of lines expected
	Missing        Schema   // those that are missing
	Applied        []string // names of the applied migrations
}

// Schema compares the schema of the database with what its migrations create. It
// returns an error if the database does not belong to beacon, or this program does not
// know its version.
func (x *Examination) Schema(ctx context.Context) (s SchemaState, err error) {
	conn, err := x.db.engine.Read.Conn(ctx)
	if err != nil {
		return s, err
	}
	defer conn.Close()
	if err := CheckSchema(ctx, conn); err != nil {
		return s, err
	}
	steps, err := Migrations()
	if err != nil {
		return s, err
	}
	applied, err := appliedVersions(ctx, conn)
	if err != nil {
		return s, err
	}
	s.Version, s.Known = int64(len(applied)), int64(len(steps))
	for _, m := range applied {
		s.Applied = append(s.Applied, m.Name)
	}
	want, err := SchemaOf(steps[:len(applied)])
	if err != nil {
		return s, err
	}
	is, err := x.probes.Schema(ctx, conn)
	if err != nil {
		return s, err
	}
	s.Lines, s.Missing = len(want), is.Missing(want)
	return s, nil
}

// Snapshot is a database as of one moment, for use by one goroutine.
type Snapshot struct{ *books }

// Snapshot calls read with a snapshot of the database. An error of read is returned
// unchanged; an error of the database includes its message.
func (x *Examination) Snapshot(ctx context.Context, read func(Snapshot) error) error {
	conn, err := x.db.engine.Read.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, x.db.engine.BeginRead); err != nil {
		return err
	}
	defer endSnapshot(ctx, conn)
	b := &books{db: x.db, conn: conn}
	err = read(Snapshot{b})
	if b.failed != nil && err != nil {
		return fmt.Errorf("cannot be read: %w", b.failed)
	}
	return err
}

// ErrEnough, returned by a callback, stops the iteration without an error.
var ErrEnough = errors.New("enough")

// each calls fn with every row of a query, and the error found in it, if any.
func each[T any](ctx context.Context, b *books, rows bulk, row rowReader[T], fn func(T, error) error, args ...any) error {
	targets, value := row()
	err := b.scan(ctx, rows, targets, func() (stopped, failed error) {
		one, err := value()
		return fn(one, err), nil
	}, args...)
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}
