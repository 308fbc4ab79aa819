package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

// reader returns a connection of readers to a database with a table t of the numbers 1
// to 3, and a pool that may write to it.
func reader(tb testing.TB) (conn *sql.Conn, write *sql.DB) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "beacon.db")
	write, err := sql.Open("sqlite", sqlite.Writing(path, sqlite.Options{}))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { write.Close() })
	if _, err := write.Exec("CREATE TABLE t (n integer); INSERT INTO t VALUES (1), (2), (3)"); err != nil {
		tb.Fatal(err)
	}
	pool, err := sqlite.OpenReaders("file:" + path + "?mode=ro")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := pool.Close(); err != nil {
			tb.Error(err)
		}
	})
	if conn, err = pool.Conn(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	return conn, write
}

func numbers(tb testing.TB, conn *sql.Conn, text string, args ...any) (found []int) {
	tb.Helper()
	rows, err := conn.QueryContext(tb.Context(), text, args...)
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			tb.Fatal(err)
		}
		found = append(found, n)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return found
}

func kept(tb testing.TB, conn *sql.Conn) (n int) {
	tb.Helper()
	if err := conn.Raw(func(raw any) error { n = sqlite.Kept(raw); return nil }); err != nil {
		tb.Fatal(err)
	}
	return n
}

const above = "SELECT n FROM t WHERE n > ? ORDER BY n"

func TestReaders_KeepStatements(t *testing.T) {
	conn, write := reader(t)
	for least, want := range [][]int{{1, 2, 3}, {2, 3}, {3}, nil} {
		if got := numbers(t, conn, above, least); !slices.Equal(got, want) {
			t.Errorf("above %d: %v, want %v", least, got, want)
		}
	}
	if got := kept(t, conn); got != 1 {
		t.Errorf("%d statements are kept, want 1", got)
	}
	// A kept statement sees what is written since, and changes of the schema.
	if _, err := write.Exec("ALTER TABLE t ADD COLUMN m integer; INSERT INTO t VALUES (4, 40)"); err != nil {
		t.Fatal(err)
	}
	if got, want := numbers(t, conn, above, 2), []int{3, 4}; !slices.Equal(got, want) {
		t.Errorf("after a change: %v, want %v", got, want)
	}
}

// A query that runs within itself has a statement for each of the two.
func TestReaders_QueryWithinItself(t *testing.T) {
	conn, _ := reader(t)
	rows, err := conn.QueryContext(t.Context(), above, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for want := 1; rows.Next(); want++ {
		var n int
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n != want {
			t.Fatalf("row %d is %d", want, n)
		}
		if got, want := numbers(t, conn, above, 1), []int{2, 3}; !slices.Equal(got, want) {
			t.Errorf("within row %d: %v, want %v", n, got, want)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	if got := kept(t, conn); got != 1 {
		t.Errorf("%d statements are kept, want 1", got)
	}
}

func TestReaders_KeepOnlySoMany(t *testing.T) {
	conn, _ := reader(t)
	for n := range 2 * sqlite.KeptStatements {
		if got := numbers(t, conn, fmt.Sprintf("SELECT %d", n)); !slices.Equal(got, []int{n}) {
			t.Fatalf("SELECT %d: %v", n, got)
		}
	}
	if got := kept(t, conn); got != sqlite.KeptStatements {
		t.Errorf("%d statements are kept, want %d", got, sqlite.KeptStatements)
	}
}

func TestReaders_AfterErrors(t *testing.T) {
	conn, _ := reader(t)
	const absolute = "SELECT abs(?)"
	if got := numbers(t, conn, absolute, -1); !slices.Equal(got, []int{1}) {
		t.Fatalf("abs(-1): %v", got)
	}
	if _, err := conn.QueryContext(t.Context(), absolute, int64(math.MinInt64)); err == nil {
		t.Error("an overflow is no error")
	}
	if _, err := conn.QueryContext(t.Context(), "SELECT FROM"); err == nil {
		t.Error("a text that is no query is no error")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := conn.QueryContext(cancelled, absolute, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if got := numbers(t, conn, absolute, -2); !slices.Equal(got, []int{2}) {
		t.Errorf("abs(-2): %v", got)
	}
}

// BenchmarkReaders compares a short query on readers with the bare driver, which parses it
// each time. They take turns.
func BenchmarkReaders(b *testing.B) {
	conn, write := reader(b)
	bare, err := write.Conn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	var kept, parsed stopwatch
	for b.Loop() {
		const queries = 100
		ask := func(conn *sql.Conn) func() {
			return func() {
				for range queries {
					numbers(b, conn, above, 1)
				}
			}
		}
		kept.measure(queries, ask(conn))
		parsed.measure(queries, ask(bare))
	}
	b.ReportMetric(kept.rate(), "queries/s")
	b.ReportMetric(kept.rate()/parsed.rate(), "of-bare")
}
