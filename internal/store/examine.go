package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Examination reads a database in which anything may be wrong. Unlike a DB it runs no
// migration, trusts nothing and cannot write. Packages store/sqlite and store/postgres
// open one.
type Examination struct {
	db *core // for its Engine and its read methods
	Probes
}

// Probes are the checks that only an engine can do.
type Probes struct {
	// SchemaParts is a query for the columns of tables and indexes (see readSchema).
	SchemaParts string

	// Durability checks the settings that acknowledged writes depend on to survive. It
	// returns what it checked, and what is wrong.
	Durability func(ctx context.Context) (looked string, wrong []string, err error)

	// Storage has the engine check its files: completely, or quickly.
	Storage func(ctx context.Context, quick bool) (looked string, wrong []string, err error)
}

// Examine takes ownership of an engine, of which it uses only Read, BeginRead, Scan,
// Classify and Foreign.
func Examine(engine Engine, probes Probes) *Examination {
	return &Examination{db: &core{engine: &engine}, Probes: probes}
}

// Close ends the examination.
func (x *Examination) Close() error { return x.db.engine.Read.Close() }

// SchemaState compares the schema of a database with what this program expects.
type SchemaState struct {
	Version, Known int64    // of the database, and of this program
	Hotspots       int64    // the version since which hotspots have all their columns
	Lines          int      // number of lines expected
	Missing        Schema   // those that are missing
	Foreign        []string // see Engine.Foreign
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
	applied, steps, err := checkedSchema(ctx, conn)
	if err != nil {
		return s, err
	}
	s.Version, s.Known = int64(len(applied)), int64(len(steps))
	for _, step := range steps {
		if slices.ContainsFunc(step.Statements, func(sql string) bool { return strings.Contains(sql, "TABLE hotspots {add column}") }) {
			s.Hotspots = step.Version
		}
	}
	want, err := SchemaOf(steps[:len(applied)])
	if err != nil {
		return s, err
	}
	is, err := readSchema(ctx, conn, x.SchemaParts)
	if err != nil {
		return s, err
	}
	s.Lines, s.Missing = len(want), is.Missing(want)
	s.Foreign, err = x.db.engine.Foreign(ctx, conn)
	return s, err
}

// Snapshot is a database as of one moment, for use by one goroutine.
type Snapshot struct{ *books }

// Snapshot calls read with a snapshot of the database. An error of read is returned
// unchanged; an error of the database includes its message.
func (x *Examination) Snapshot(ctx context.Context, read func(Snapshot) error) error {
	return x.db.snapshot(ctx, func(b *books) error {
		err := read(Snapshot{b})
		if b.failed != nil && err != nil {
			return fmt.Errorf("cannot be read: %w", b.failed)
		}
		return err
	})
}

// each calls fn with every row of a query, and the error found in it, if any.
func each[T any](ctx context.Context, b *books, text string, row fields[T], fn func(T, error) error, args ...any) error {
	return scanRows(ctx, b, row, func(one *T, damage error) (stopped, failed error) {
		if e, ok := errors.AsType[*rowError](damage); ok {
			damage = e.err // fn knows which row it is
		}
		return fn(*one, damage), nil
	}, text, args...)
}

// sound is for rows in which no error can be found.
func sound[T any](fn func(T) error) func(T, error) error {
	return func(row T, _ error) error { return fn(row) }
}

// strays are the queries for dangling references, and what is wrong with what they find.
var strays = []struct {
	what string
	text string
}{
	{"is live but its MAC address is not in the index", `SELECT id FROM hotspots WHERE deleted_at = 0 AND coalesce(mac_live, '') = ''`},
	{"has records but is not a hotspot", `SELECT hotspot FROM record_heads WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = record_heads.hotspot)`},
	{"has a record that no reader would find", `SELECT hotspot FROM records WHERE NOT EXISTS (SELECT 1 FROM record_heads
		WHERE record_heads.hotspot = records.hotspot AND record_heads.day >= records.day)`},
	{"has no record of the day given as its newest", `SELECT hotspot FROM record_heads WHERE NOT EXISTS (SELECT 1 FROM records
		WHERE records.day = record_heads.day AND records.hotspot = record_heads.hotspot)`},
	{"has a status but is not a hotspot", `SELECT hotspot FROM statuses WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = statuses.hotspot)`},
	{"has a link code but is not a hotspot", `SELECT hotspot FROM link_codes WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = link_codes.hotspot)`},
	{"has a monthly sum but is not a hotspot", `SELECT hotspot FROM hotspot_months WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = hotspot_months.hotspot)`},
	{"has a total but is not a hotspot", `SELECT hotspot FROM hotspot_totals WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = hotspot_totals.hotspot)`},
	{"has a monthly sum but no account", `SELECT user_id FROM user_months WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.user_id = user_months.user_id)`},
	{"has a statement but no account", `SELECT user_id FROM statements WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.user_id = statements.user_id)`},
	{"has changes but is not a node", `SELECT node FROM changes WHERE seq = 1 AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.node = changes.node)`},
	{"has a journal but is not a node", `SELECT node FROM journal WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.node = journal.node)`},
	{"has a position in the events but is not a node", `SELECT node FROM event_places WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.node = event_places.node)`},
}
