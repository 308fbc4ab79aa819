package store_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/beacon-wifi/beacon/internal/store"
)

func TestMigrations(t *testing.T) {
	steps, err := store.Migrations()
	if err != nil || len(steps) == 0 {
		t.Fatalf("Migrations = %d, %v", len(steps), err)
	}
	for _, step := range steps {
		if len(step.Statements) == 0 {
			t.Errorf("%s holds no statement", step.Name)
		}
		for _, statement := range step.Statements {
			// A step that broke off half-way is run again where DDL cannot be undone.
			if !strings.Contains(statement, "IF NOT EXISTS") && !strings.Contains(statement, "IF EXISTS") &&
				!strings.Contains(statement, "{add column}") {
				t.Errorf("%s: cannot be repeated:\n%s", step.Name, statement)
			}
			if strings.ContainsAny(strings.ReplaceAll(statement, "''", ""), ";'") { // nothing hides in an empty literal
				t.Errorf("%s: not split, or with a text literal:\n%s", step.Name, statement)
			}
		}
	}
}

func TestReadMigrations(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	steps, err := store.ReadMigrations(fstest.MapFS{
		"migrations/0001_a.sql": file("-- why; and how\nCREATE TABLE a ( -- this;\n\tb text\n);\n\nCREATE INDEX i ON a (b);\n"),
		"migrations/0002_b.sql": file("DROP INDEX i"),
	})
	if err != nil || len(steps) != 2 {
		t.Fatalf("%d steps, %v; want 2", len(steps), err)
	}
	want := []string{"CREATE TABLE a (\n\tb text\n)", "CREATE INDEX i ON a (b)"}
	if !slices.Equal(steps[0].Statements, want) || steps[0].Checksum == steps[1].Checksum {
		t.Errorf("statements %q, checksums %s and %s; want %q", steps[0].Statements, steps[0].Checksum, steps[1].Checksum, want)
	}
	for _, names := range [][]string{{"0002_a"}, {"0001_a", "0003_b"}, {"0001_a", "0001_b"}, {"first"}} {
		files := fstest.MapFS{}
		for _, name := range names {
			files["migrations/"+name+".sql"] = file("")
		}
		if _, err := store.ReadMigrations(files); err == nil {
			t.Errorf("files %v are accepted", names)
		}
	}
}
