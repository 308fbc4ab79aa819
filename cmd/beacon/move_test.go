package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness"
)

// moveBetween opens two databases as the command does, and moves one to the other.
func moveBetween(ctx context.Context, from, to string, opts store.Moving) (store.Moved, error) {
	out := &console{ctx: ctx}
	source, err := moveCmd{From: from, To: to}.source(out.ctx)
	if err != nil {
		return store.Moved{}, err
	}
	defer source.Close()
	target, err := database{DB: to}.open(ctx, store.ToReceive, store.SharedNode, time.Now(), moveWait)
	if err != nil {
		return store.Moved{}, err
	}
	defer target.Close()
	opts.Now = time.Now()
	return store.Move(ctx, source, target, opts)
}

// everyColumn makes a database in which each column of each table has values of all kinds
// that its type can have. It asks SQLite what there is, not the migrations.
func everyColumn(t *testing.T, path string, rows int) {
	t.Helper()
	beaconCommand(t, "migrate", "--db", touched(t, path))
	db := harness.OpenSQL(t, path)
	defer db.Close()
	for _, table := range tablesIn(t, db) {
		columns, err := store.ReadRows(t.Context(), db, func(c *tableColumn) []any { return []any{&c.name, &c.kind, &c.notNull, &c.key} },
			fmt.Sprintf(`SELECT name, type, "notnull", pk > 0 FROM pragma_table_info('%s')`, table))
		if err != nil {
			t.Fatal(err)
		}
		for n := range rows {
			var values []any
			for i, c := range columns {
				values = append(values, c.value(t, n, i))
			}
			marks := strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ")
			if _, err := db.ExecContext(t.Context(), "INSERT INTO "+table+" VALUES ("+marks+")", values...); err != nil {
				t.Fatalf("%s: %v", table, err)
			}
		}
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE leases SET expires_at = 0`); err != nil { // no server runs
		t.Fatal(err)
	}
}

type tableColumn struct {
	name, kind   string
	notNull, key bool
}

// value returns the value of a column in the n-th row. A column of a key, or of a unique
// index, has another one in each row.
func (c tableColumn) value(t *testing.T, n, i int) any {
	if !c.notNull && n%3 == 0 {
		return nil
	}
	if c.key || !c.notNull || c.name == "id" || strings.HasSuffix(c.name, "hash") && strings.EqualFold(c.kind, "text") {
		n = n*1000 + i // sorts neither as text nor as bytes as it sorts as a number
	} else {
		n += i
	}
	numbers := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 53, 1<<53 + 1}
	reals := []float64{0, -0.1, 52.520008, math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-300, 3, math.Pi}
	texts := []string{"", "a", "Z", "é", "e\u0301", "日本", "\U0010FFFF", "'\"\\", "{\"a\": 1}", "\n\t"}
	blobs := [][]byte{{}, {0}, {0, 1, 0}, {255, 254}, []byte("text")}
	unique := c.key || !c.notNull || n >= 1000
	switch strings.ToLower(c.kind) {
	case "bigint":
		if unique {
			return int64(n) - 500
		}
		return numbers[n%len(numbers)]
	case "double precision":
		return reals[n%len(reals)]
	case "text":
		if unique {
			return texts[n%len(texts)] + strconv.Itoa(n)
		}
		return texts[n%len(texts)]
	case "bytea":
		if unique {
			return append(slices.Clone(blobs[n%len(blobs)]), strconv.Itoa(n)...)
		}
		return blobs[n%len(blobs)]
	}
	t.Fatalf("column %s: nobody decided how a %s is moved", c.name, c.kind)
	return nil
}

// touched makes an empty file, which beacon migrate takes for a database without tables.
func touched(t *testing.T, path string) string {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func tablesIn(t *testing.T, db *sql.DB) []string {
	t.Helper()
	all, err := store.ReadRows(t.Context(), db, func(name *string) []any { return []any{name} },
		`SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_versions' ORDER BY name`)
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	return all
}

// contents writes out a SQLite database, with nothing of the product.
func contents(t *testing.T, path string) string {
	t.Helper()
	db := harness.OpenSQL(t, path)
	defer db.Close()
	var all strings.Builder
	for _, table := range tablesIn(t, db) {
		columns, err := store.ReadRows(t.Context(), db, func(name *string) []any { return []any{name} }, `SELECT name FROM pragma_table_info('`+table+`')`)
		if err != nil {
			t.Fatal(err)
		}
		quoted := `typeof(` + strings.Join(columns, `) || quote(`) + `)`
		quoted = strings.Replace(quoted, `typeof(`+columns[0]+`)`, `quote(`+columns[0]+`)`, 1)
		rows, err := store.ReadRows(t.Context(), db, func(row *string) []any { return []any{row} }, `SELECT `+quoted+` FROM `+table+` ORDER BY 1`)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s (%s)\n%s\n", table, strings.Join(columns, ", "), strings.Join(rows, "\n"))
	}
	return all.String()
}

// Every column of every table arrives as it was, whatever it holds, on the way to either
// kind of database and back.
func TestMove_EveryColumn(t *testing.T) {
	harness.Stores(t, func(t *testing.T, between string) {
		folder := t.TempDir()
		from, back := filepath.Join(folder, "from.db"), filepath.Join(folder, "back.db")
		everyColumn(t, from, 40)
		there, err := moveBetween(t.Context(), from, between, store.Moving{Batch: 7})
		if err != nil {
			t.Fatal(err)
		}
		again, err := moveBetween(t.Context(), between, back, store.Moving{})
		if err != nil {
			t.Fatal(err)
		}
		if there != again || there.Rows != int64(40*there.Tables) {
			t.Errorf("there %+v, and back %+v", there, again)
		}
		if was, is := contents(t, from), contents(t, back); was != is {
			t.Errorf("%s", firstDifference(was, is))
		}
	})
}

func firstDifference(was, is string) string {
	for w, line := range strings.Split(was, "\n") {
		if lines := strings.Split(is, "\n"); w >= len(lines) || lines[w] != line {
			return fmt.Sprintf("line %d was\n%s\nand is\n%s", w, line, strings.Join(lines[min(w, len(lines)):min(w+1, len(lines))], ""))
		}
	}
	return "more rows than there were"
}

// moveKilled is a command of the tests: it moves a database, and is killed when so many
// rows are written, committed or not, or compared.
func moveKilled() {
	left, err := strconv.ParseInt(os.Args[4], 10, 64)
	if err != nil {
		panic(err)
	}
	_, err = moveBetween(context.Background(), os.Args[1], os.Args[2], store.Moving{Batch: 60, Progress: func(what string, done, _ int64) {
		if what == os.Args[3] && done >= left {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}})
	fmt.Println("not killed:", err)
	os.Exit(1)
}

// A move that is killed anywhere continues, and ends as one that was not. Until then, no
// server starts on what there is, and no command uses it.
func TestMove_Killed(t *testing.T) {
	harness.Stores(t, func(t *testing.T, to string) {
		from := filepath.Join(t.TempDir(), "from.db")
		everyColumn(t, from, 100)
		db := harness.OpenSQL(t, from)
		total := 100 * len(tablesIn(t, db))
		db.Close()
		for _, at := range []string{"rows copied 1", "rows copied 97", "rows copied 310", fmt.Sprint("rows copied ", total-3), "rows compared 1", fmt.Sprint("rows compared ", total)} {
			what, row := at[:strings.LastIndex(at, " ")], at[strings.LastIndex(at, " ")+1:]
			out, err := exec.Command("move-killed", from, to, what, row).CombinedOutput()
			if err == nil || len(out) > 0 {
				t.Fatalf("killed at %s: %v: %s", at, err, out)
			}
			for _, command := range [][]string{{"serve", "--addr", "127.0.0.1:0", "--admin-addr", "off"}, {"migrate"}, {"keys", "create", "--user", "new"}, {"doctor"}} {
				var out bytes.Buffer
				code := run(t.Context(), append(command, "--db", to), &out, &out)
				if code != exitFailed || strings.Contains(out.String(), "migrate the database") || strings.Contains(out.String(), "changed by hand") || !strings.Contains(out.String(), "this database is a half moved copy of another one: run the same beacon move again to complete it") {
					t.Fatalf("%v after %s ends with %d: %s", command, at, code, &out)
				}
			}
		}
		fresh := filepath.Join(t.TempDir(), "fresh.db")
		want, err := moveBetween(t.Context(), from, fresh, store.Moving{})
		if err != nil {
			t.Fatal(err)
		}
		first := int64(-1)
		got, err := moveBetween(t.Context(), from, to, store.Moving{Progress: func(_ string, done, of int64) {
			if first < 0 {
				first = done
			}
			if done > of {
				t.Errorf("%d rows of %d", done, of)
			}
		}})
		if err != nil || got != want {
			t.Errorf("continued: %+v, %v; want %+v", got, err, want)
		}
		if first <= 60 {
			t.Errorf("it began anew, with %d rows", first)
		}
		back := filepath.Join(t.TempDir(), "back.db")
		if _, err := moveBetween(t.Context(), to, back, store.Moving{}); err != nil || contents(t, back) != contents(t, from) {
			t.Errorf("what was continued is not the source: %v", err)
		}
	})
}
