package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Examination reads a database in which anything may be wrong. Unlike a DB it
// brings nothing up to date, takes nothing for granted and can write nothing.
// Packages store/sqlite and store/postgres open one.
type Examination struct {
	db     *DB // for its Engine and its ways to read
	probes Probes
}

// Probes are what only an engine can tell about itself.
type Probes struct {
	// Schema reads what the database is made of.
	Schema func(ctx context.Context, conn *sql.Conn) (Schema, error)

	// Durability looks at the settings on which it depends that an acknowledged
	// write survives. It answers what it looked at, and what is wrong.
	Durability func(ctx context.Context) (looked string, wrong []string, err error)

	// Storage has the engine look through its files: all of it, or what is quickly
	// done.
	Storage func(ctx context.Context, quick bool) (looked string, wrong []string, err error)
}

// Examine takes over an engine, of which it uses only Read, BeginRead, Scan and
// Classify.
func Examine(engine Engine, probes Probes) *Examination {
	return &Examination{db: &DB{engine: &engine, snapshots: newSnapshots(engine.Read)}, probes: probes}
}

// Close ends the examination.
func (x *Examination) Close() error { return x.db.engine.Read.Close() }

// Durability looks at the settings on which durability depends.
func (x *Examination) Durability(ctx context.Context) (looked string, wrong []string, err error) {
	return x.probes.Durability(ctx)
}

// Storage has the engine look through its files.
func (x *Examination) Storage(ctx context.Context, quick bool) (looked string, wrong []string, err error) {
	return x.probes.Storage(ctx, quick)
}

// SchemaState is how a database stands to this program.
type SchemaState struct {
	Version, Known int64    // what it is at, and what this program knows
	Lines          int      // of what it should be made of
	Missing        Schema   // of these
	Applied        []string // the migrations
}

// Schema compares what the database is made of with what its migrations make. The
// error tells that it is none of beacon's, or one that this program does not know.
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

// Snapshot is a database as of one moment, to be read by one goroutine.
type Snapshot struct{ *books }

// Snapshot lets read see everything as of one moment. An error of read is
// returned as it is, one of the database with what it said.
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

// ErrEnough ends a reading before its end.
var ErrEnough = errors.New("enough")

// each calls fn with every row that a query gives, and with what is wrong with it.
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
