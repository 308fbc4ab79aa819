package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migration is one numbered step of the schema.
type Migration struct {
	Version    int64
	Name       string // of its file
	Checksum   string
	Statements []string // one DDL statement each, safe to repeat, in portable words
}

// SchemaTable is the statement that creates the table of applied migrations.
const SchemaTable = `CREATE TABLE IF NOT EXISTS schema_versions (
	version    bigint NOT NULL,
	name       text NOT NULL,
	checksum   text NOT NULL,
	applied_at bigint NOT NULL,
	CONSTRAINT schema_versions_pk PRIMARY KEY (version)
)`

// Migrations returns the steps in order.
func Migrations() ([]Migration, error) {
	return readMigrations(migrationFiles)
}

// readMigrations reads files named 0001_what.sql, numbered from 1.
func readMigrations(files fs.FS) ([]Migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var all []Migration
	for i, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		base := strings.TrimPrefix(name, "migrations/")
		number, _, _ := strings.Cut(base, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version != int64(i)+1 {
			return nil, fmt.Errorf("migration %s: want number %04d", base, i+1)
		}
		sum := sha256.Sum256(text)
		all = append(all, Migration{
			Version: version, Name: base, Checksum: hex.EncodeToString(sum[:]), Statements: splitStatements(string(text)),
		})
	}
	return all, nil
}

// splitStatements splits at each line that ends in a semicolon, and drops comments. Our
// migrations contain no text literals, so this is enough.
func splitStatements(text string) []string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "--")
		kept.WriteString(strings.TrimRight(line, " \t\n") + "\n")
	}
	var all []string
	for statement := range strings.SplitSeq(kept.String(), ";\n") {
		if statement = strings.TrimSpace(statement); statement != "" {
			all = append(all, statement)
		}
	}
	return all
}

// Upgrade says what Open may do to the schema of a database.
type Upgrade int

// What Open may do.
const (
	ToCurrent Upgrade = iota // create it, or bring an older one up to date
	FromEmpty                // create it, and refuse an older one
	Never                    // refuse a database without one, or with an older one
	ToReceive                // create it, or continue one that Move has begun; refuse an older one
)

var (
	errEmpty = errors.New("this is not a Beacon database; if it is to become one, start a server on it, or run beacon migrate")
	errOlder = errors.New("this database is of an older version: stop its servers and run beacon migrate, or use the program of that version")
)

// migrate brings the schema up to date, within what is allowed. If two processes start
// at once, the engine runs one after the other.
func migrate(ctx context.Context, engine *Engine, allowed Upgrade, now time.Time) error {
	steps, err := Migrations()
	if err != nil {
		return err
	}
	if done, err := upToDate(ctx, engine, allowed, steps); done {
		return err // without a lock, and for a user who may not change the schema
	}
	if allowed == Never {
		return refusal(ctx, engine, steps)
	}
	return engine.Exclusive(ctx, func(conn *sql.Conn) error {
		if err := ownSchema(ctx, conn, engine.Foreign); err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, SchemaTable); err != nil {
			return err
		}
		applied, err := appliedVersions(ctx, conn)
		if err != nil {
			return err
		}
		if allowed == ToReceive {
			applied = unmarked(applied)
		}
		if err := compatible(applied, steps); err != nil {
			return err
		}
		if allowed != ToCurrent && len(applied) > 0 && len(applied) < len(steps) {
			return errOlder
		}
		for _, step := range steps[len(applied):] {
			if err := apply(ctx, conn, engine.Words, step, now); err != nil {
				return fmt.Errorf("migration %s: %w", step.Name, err)
			}
		}
		return nil
	})
}

// refusal returns why a database cannot be used as it is. It writes nothing.
func refusal(ctx context.Context, engine *Engine, steps []Migration) error {
	conn, err := engine.Write.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	applied, err := appliedVersions(ctx, conn)
	switch {
	case err != nil && engine.classify(err) != Refused:
		return err
	case err != nil:
		return fmt.Errorf("%w (%w)", errEmpty, err)
	case len(applied) == 0:
		return errEmpty
	}
	if err := compatible(applied, steps); err != nil {
		return err
	}
	return errOlder
}

// upToDate returns false if in doubt: the path that takes the lock reports what is
// wrong. The error is that of a schema that is not only ours.
func upToDate(ctx context.Context, engine *Engine, allowed Upgrade, steps []Migration) (bool, error) {
	conn, err := engine.Write.Conn(ctx)
	if err != nil {
		return false, nil //nolint:nilerr // in doubt
	}
	defer conn.Close()
	applied, err := appliedVersions(ctx, conn)
	if allowed == ToReceive {
		applied = unmarked(applied)
	}
	if err != nil || len(applied) != len(steps) || compatible(applied, steps) != nil {
		return false, nil //nolint:nilerr // in doubt
	}
	return true, ownSchema(ctx, conn, engine.Foreign)
}

// ownSchema rejects a schema that is not only ours. A trigger, a rule or a view can change
// or hide rows without a trace, and no check of rows would say who did.
func ownSchema(ctx context.Context, conn *sql.Conn, foreign Foreign) error {
	found, err := foreign(ctx, conn)
	if err != nil || len(found) == 0 {
		return err
	}
	return fmt.Errorf("the database has what no version of beacon makes, and what may change or hide rows: %s. "+
		"Find out who made it; to use the database, drop it and run beacon doctor", strings.Join(found, ", "))
}

func appliedVersions(ctx context.Context, conn *sql.Conn) (applied []Migration, err error) {
	return ReadRows(ctx, conn, func(m *Migration) []any { return []any{&m.Version, &m.Name, &m.Checksum} }, `SELECT version, name, checksum FROM schema_versions ORDER BY version`)
}

// CheckSchema rejects a database that this program does not know how to use, or that
// does not belong to beacon alone. An older one is accepted: opening it brings it up to date.
func CheckSchema(ctx context.Context, conn *sql.Conn, foreign Foreign) error {
	if _, _, err := checkedSchema(ctx, conn); err != nil {
		return err
	}
	return ownSchema(ctx, conn, foreign)
}

func checkedSchema(ctx context.Context, conn *sql.Conn) (applied, known []Migration, err error) {
	if known, err = Migrations(); err != nil {
		return nil, nil, err
	}
	applied, err = writtenVersions(ctx, conn)
	return applied, known, cmp.Or(err, compatible(applied, known))
}

// writtenVersions rejects a database in which nothing is applied.
func writtenVersions(ctx context.Context, conn *sql.Conn) ([]Migration, error) {
	applied, err := appliedVersions(ctx, conn)
	switch {
	case err != nil:
		return nil, fmt.Errorf("this is not a Beacon database: %w", err)
	case len(applied) == 0:
		return nil, errors.New("this is not a Beacon database: it has no schema")
	}
	return applied, nil
}

// compatible rejects a database that this program does not know how to use.
func compatible(applied, known []Migration) error {
	for i, m := range applied {
		switch {
		case m.Version == halfMoved:
			return ErrHalfMoved
		case i >= len(known):
			return fmt.Errorf("the database is at version %d (%s) and this program knows only version %d: use a newer beacon",
				applied[len(applied)-1].Version, applied[len(applied)-1].Name, len(known))
		case m.Version != known[i].Version:
			return fmt.Errorf("the database has no record of migration %s: restore it from a backup", known[i].Name)
		case m.Checksum != known[i].Checksum:
			return fmt.Errorf("migration %s was applied with different contents (checksum %.12s…, this program has %.12s…): "+
				"the database was made by another build of beacon", m.Name, m.Checksum, known[i].Checksum)
		}
	}
	return nil
}

const insertVersionSQL = `INSERT INTO schema_versions (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)`

// apply runs one step. Not every engine can roll back DDL, so each statement is safe to
// repeat, and the version is written last.
func apply(ctx context.Context, conn *sql.Conn, words *strings.Replacer, step Migration, now time.Time) error {
	for _, statement := range step.Statements {
		if _, err := conn.ExecContext(ctx, words.Replace(statement)); err != nil {
			return err
		}
	}
	_, err := conn.ExecContext(ctx, insertVersionSQL, step.Version, step.Name, step.Checksum, micros(now))
	return err
}
