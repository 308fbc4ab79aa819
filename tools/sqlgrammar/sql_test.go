package sqlgrammar_test

import (
	"regexp"
	"strings"
	"testing"

	crdb "github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
)

// atLeast is how many statements there were when this was written. A check
// that finds fewer looks in the wrong place.
const atLeast = 250

// TestGrammar: CockroachDB reads every statement, and as one.
func TestGrammar(t *testing.T) {
	for _, text := range statements(t) {
		parsed, err := crdb.Parse(text)
		if err != nil || len(parsed) != 1 {
			t.Errorf("%d statements, %v in\n%s", len(parsed), err, text)
		}
	}
}

// denied are words that some engine lacks although CockroachDB's grammar has
// them: to parse is not to support. Each has an example that it must find.
var denied = []struct{ pattern, why, example string }{
	{`pg_\w+`, "PostgreSQL's own functions", `SELECT pg_advisory_lock(1)`},
	{`notify|listen|lock table|for update|for share|skip locked`, "locks and signals: absent or without effect elsewhere", `SELECT id FROM x FOR UPDATE`},
	{`\w*serial|identity|sequence|nextval|unique_rowid`, "sequences: gaps, hot spots, none in DSQL", `CREATE TABLE x (id bigserial)`},
	{`trigger|function|procedure|rule|domain|extension|enum|inherits|exclude|generated|view`, "not in every engine", `CREATE EXTENSION postgis`},
	{`timestamptz|timestamp|interval|date|time|now\(\)|jsonb?|uuid|numeric|decimal|real`, "types that engines keep differently", `SELECT now()`},
	{`array|unnest|any\(`, "arrays", `SELECT 1 WHERE id = ANY($1)`},
	{`merge|truncate|temp|temporary|savepoint|vacuum|lateral`, "not in every engine", `TRUNCATE x`},
	{`without rowid|autoincrement|pragma|glob`, "SQLite's own", `CREATE TABLE x (id text) WITHOUT ROWID`},
	{`references|foreign key`, "foreign keys: none in DSQL", `CREATE TABLE x (a text REFERENCES y)`},
	{`ilike|similar to|collate`, "text in the language of the database", `SELECT 1 WHERE a ILIKE $1`},
	{`concurrently|async|tablespace|using gist|using gin|partition (?:of|by range|by list|by hash)`, "ways to build a table that only one engine has", `CREATE TABLE x (a bigint) PARTITION BY RANGE (a)`},
}

func TestDenied(t *testing.T) {
	for _, d := range denied {
		word := regexp.MustCompile(`(?i)(?:^|[^a-z_])(?:` + d.pattern + `)(?:[^a-z_]|$)`)
		if !word.MatchString(d.example) {
			t.Errorf("%s does not find %s", d.pattern, d.example)
		}
		for _, text := range statements(t) {
			if found := word.FindString(text); found != "" {
				t.Errorf("%q (%s) in\n%s", found, d.why, text)
			}
		}
	}
}

// partialIndex: a partial index cannot be had everywhere either, and has no
// word of its own.
var partialIndex = regexp.MustCompile(`(?is)create\s.*index.*\swhere\s`)

func TestShapes(t *testing.T) {
	for _, text := range statements(t) {
		if partialIndex.MatchString(text) {
			t.Errorf("a partial index:\n%s", text)
		}
		if strings.Contains(text, "?") || strings.Contains(text, ";") {
			t.Errorf("placeholders are $n, and a statement is one:\n%s", text)
		}
	}
}
