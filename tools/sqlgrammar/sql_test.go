package sqlgrammar_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	crdb "github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"

	"github.com/beacon-wifi/beacon/internal/store/postgres"
)

// atLeast is how many statements there were when this was written. A check
// that finds fewer looks in the wrong place.
const atLeast = 100

func statements(t *testing.T) []string {
	t.Helper()
	all, err := postgres.Statements()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < atLeast {
		t.Fatalf("found %d statements; want at least %d", len(all), atLeast)
	}
	return all
}

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
	{`concurrently|async|tablespace|using gist|using gin|partition`, "ways to build a table that only one engine has", `CREATE INDEX CONCURRENTLY a ON x (b)`},
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

// looksLikeSQL begins like a statement.
var looksLikeSQL = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|FROM|SHOW|SET|WITH)\s`)

// TestNothingForgotten reads the sources: each literal that looks like SQL is
// part of a statement that was checked, or of what is asked of PostgreSQL alone.
func TestNothingForgotten(t *testing.T) {
	all := strings.Join(append(statements(t), postgres.Diagnostics()...), "\n")
	found := 0
	for _, literal := range literals(t, "../../internal/store", "../../internal/store/postgres") {
		if !looksLikeSQL.MatchString(literal) {
			continue
		}
		found++
		if !strings.Contains(all, literal) {
			t.Errorf("not among the checked statements:\n%s", literal)
		}
	}
	if found < atLeast/2 {
		t.Errorf("found %d literals; want at least %d", found, atLeast/2)
	}
}

// literals are the string literals of the Go files in folders, but for tests.
func literals(t *testing.T, folders ...string) (all []string) {
	t.Helper()
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(node ast.Node) bool {
				if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					if text, err := strconv.Unquote(literal.Value); err == nil {
						all = append(all, text)
					}
				}
				return true
			})
		}
	}
	return all
}
