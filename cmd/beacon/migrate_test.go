package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness"
)

// onOlder is what each command with a database does with one of an older version.
var onOlder = map[string]struct {
	args    string // after its name
	accepts bool   // it uses the database as it is, or brings it up to date
}{
	"serve":          {"--addr 127.0.0.1:0 --admin-addr off", true},
	"migrate":        {"", true},
	"doctor":         {"", true},
	"backup":         {"", true},
	"restore":        {"", true}, // it creates a database
	"demo":           {"", true}, // it creates one, and continues only its own
	"keys create":    {"--user new", false},
	"keys invite":    {"", false},
	"keys list":      {"", false},
	"keys revoke":    {"key_00000000000000000000000000", false},
	"people list":    {"", false},
	"people invite":  {"--post admin", false},
	"people link":    {"Ada", false},
	"people suspend": {"Ada", false},
	"people restore": {"Ada", false},
	"people export":  {"Ada", false},
	"people erase":   {"Ada", false},
	"audit":          {"", false},
	"settings":       {"", false},
	"macs release":   {"02:00:5e:10:00:01 --reason sold", false},
	"rewards settle": {"--month 2026-01", false},
	"rewards status": {"", false},
	"rewards clock":  {"", false},
	"rewards adopt":  {"--from 2030-01-01", false},
	"rewards replay": {"--from 2026-01-01 --to 2026-01-01", false},
	"rewards reopen": {"--day 2026-01-01", false},
}

// commandsWithDatabase returns the names of all commands that have the flag --db.
func commandsWithDatabase(t *testing.T) (names []string) {
	t.Helper()
	parser, err := kong.New(new(cli), kong.Name("beacon"), kong.Vars{"rate_limit": "off", "basemap_builds": "x"}, kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(false) {
		for _, flag := range leaf.Flags {
			if flag.Name == "db" {
				names = append(names, strings.TrimPrefix(leaf.Path(), "beacon "))
			}
		}
	}
	return names
}

// undo is what undoes a statement of a migration, by how it begins.
var undo = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`(?s)^CREATE TABLE IF NOT EXISTS (\w+) .*`), `DROP TABLE $1`},
	{regexp.MustCompile(`(?s)^CREATE (?:UNIQUE )?INDEX IF NOT EXISTS (\w+) .*`), `DROP INDEX IF EXISTS $1`},
	{regexp.MustCompile(`(?s)^ALTER TABLE (\w+) \{add column\} (\w+) .*`), `ALTER TABLE $1 DROP COLUMN $2`},
}

// undoLast makes a database one of the version before, and returns the newest version.
func undoLast(t *testing.T, db *sql.DB) (known int64) {
	t.Helper()
	steps, err := store.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	last := steps[len(steps)-1]
	statements := []string{fmt.Sprint(`DELETE FROM schema_versions WHERE version = `, last.Version)}
	for _, made := range slices.Backward(last.Statements) { // an index goes before its column
		for _, u := range undo {
			if u.what.MatchString(made) {
				statements = append(statements, u.what.ReplaceAllString(made, u.by))
			}
		}
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return last.Version
}

// Only a server and beacon migrate bring a database of an older version up to date: the
// servers of that version may be running on it.
func TestCommands_OlderDatabase(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		beaconCommand(t, "keys", "create", "--user", "new", "--db", db)
		handle := harness.OpenSQL(t, db)
		known := undoLast(t, handle)
		version := func() (n int) {
			t.Helper()
			if err := handle.QueryRowContext(t.Context(), `SELECT count(*) FROM schema_versions`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		older := version()
		names := commandsWithDatabase(t)
		for name := range onOlder {
			if !slices.Contains(names, name) {
				t.Errorf("there is no command %s with a database", name)
			}
		}
		for _, name := range names {
			want, known := onOlder[name]
			if !known {
				t.Errorf("nobody decided what %s does with an older database", name)
			}
			if want.accepts {
				continue
			}
			args := append(strings.Fields(name), strings.Fields(want.args)...)
			var out bytes.Buffer
			if code := run(t.Context(), append(args, "--db", db), &out, &out); code != exitFailed || !strings.Contains(out.String(), "this database is of an older version: stop its servers and run beacon migrate") {
				t.Errorf("%s ends with %d: %s", name, code, &out)
			}
			if version() != older {
				t.Fatalf("%s has migrated the database", name)
			}
		}
		var out bytes.Buffer
		if run(t.Context(), []string{"doctor", "--db", db}, &out, &out); !strings.Contains(out.String(), fmt.Sprintf("version %d of %d", known-1, known)) || version() != older {
			t.Errorf("the doctor has migrated the database, or says %s", &out)
		}
		if out := beaconCommand(t, "migrate", "--db", db); version() <= older || !strings.Contains(out, "which is current") {
			t.Errorf("after beacon migrate it is at version %d: %s", version(), out)
		}
		beaconCommand(t, "keys", "list", "--db", db)
	})
}

// A database without tables is none that a command could read; the first key may make them.
func TestCommands_EmptyDatabase(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		if !harness.IsPostgres(db) {
			if err := os.WriteFile(db, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		if code := run(t.Context(), []string{"keys", "list", "--db", db}, &out, &out); code != exitFailed || !strings.Contains(out.String(), "start a server on it, or run beacon migrate") {
			t.Errorf("keys list ends with %d: %s", code, &out)
		}
		beaconCommand(t, "keys", "create", "--user", "new", "--db", db)
		beaconCommand(t, "keys", "list", "--db", db)
	})
}
