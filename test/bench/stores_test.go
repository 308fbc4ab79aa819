package bench

import (
	"cmp"
	"context"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// engine is a store that a world was copied to.
type engine struct {
	db string // for --db

	// size is what a table takes on disk, in bytes, and how many rows it has.
	size func(table string) (bytes, rows float64)

	// cpu is the processor time of the database's own processes, in seconds.
	cpu func() float64
}

// onSQLite copies a world to a file of its own.
func onSQLite(b *testing.B, file string) engine {
	b.Helper()
	name := filepath.Join(b.TempDir(), "beacon.db")
	if err := copyFile(name, file); err != nil {
		b.Fatal(err)
	}
	return engine{
		db:  name,
		cpu: func() float64 { return 0 }, // it has none
		size: func(table string) (bytes, rows float64) {
			db := openFile(b, name)
			defer db.Close()
			row := db.QueryRow(`SELECT (SELECT sum(pgsize) FROM dbstat WHERE name = $1), (SELECT count(*) FROM `+table+`)`, table)
			if err := row.Scan(&bytes, &rows); err != nil {
				b.Fatal(err)
			}
			return bytes, rows
		},
	}
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return cmp.Or(err, out.Sync(), out.Close())
}

func openFile(b *testing.B, file string) *sql.DB {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	return db
}

// onPostgres copies a world to a database of its own, table by table, on a server
// that syncs its disk as one must that keeps what it acknowledged.
func onPostgres(b *testing.B, file string) engine {
	b.Helper()
	url := storetest.Postgres(b)
	db, err := postgres.Open(b.Context(), url, postgres.Options{Now: monthEnds}) // makes the tables
	if err != nil {
		b.Fatal(err)
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.Background()) })
	var fsync string
	if err := conn.QueryRow(b.Context(), `SHOW fsync`).Scan(&fsync); err != nil || fsync != "on" {
		b.Fatalf("fsync is %q, %v: run make bench, or BEACON_TEST_POSTGRES_FSYNC=on scripts/with-postgres go test ./test/bench …", fsync, err)
	}
	from := openFile(b, file)
	defer from.Close()
	for _, table := range []string{
		"hotspots", "records", "record_heads", "ledger", "hotspot_months", "user_months", "accounts", "reward_days", "reward_policies",
	} {
		copyTable(b, conn, from, table)
	}
	for _, statement := range []string{`VACUUM (ANALYZE)`, `CHECKPOINT`} { // as one that has run for long
		if _, err := conn.Exec(b.Context(), statement); err != nil {
			b.Fatal(err)
		}
	}
	server := serverOf(b, conn)
	return engine{
		db:  url,
		cpu: func() float64 { return familyCPU(b, server) },
		size: func(table string) (bytes, rows float64) {
			row := conn.QueryRow(b.Context(), `SELECT pg_total_relation_size($1::text::regclass)::float8, (SELECT count(*) FROM `+table+`)::float8`, table)
			if err := row.Scan(&bytes, &rows); err != nil {
				b.Fatal(err)
			}
			return bytes, rows
		},
	}
}

// copyTable copies all rows of a table, which has the same columns on both.
func copyTable(b *testing.B, to *pgx.Conn, from *sql.DB, table string) {
	b.Helper()
	rows, err := from.QueryContext(b.Context(), `SELECT * FROM `+table)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		b.Fatal(err)
	}
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	_, err = to.CopyFrom(b.Context(), pgx.Identifier{table}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		if !rows.Next() {
			return nil, rows.Err()
		}
		return values, rows.Scan(targets...)
	}))
	if err != nil {
		b.Fatalf("copy %s: %v", table, err)
	}
}

// opened gives the store itself, for what is best done through it.
func (e engine) opened(b *testing.B) *store.DB {
	b.Helper()
	var db *store.DB
	var err error
	if strings.HasPrefix(e.db, "postgres://") {
		db, err = postgres.Open(b.Context(), e.db, postgres.Options{Now: monthEnds})
	} else {
		db, err = sqlite.Open(b.Context(), e.db, sqlite.Options{Now: monthEnds})
	}
	if err != nil {
		b.Fatal(err)
	}
	return db
}
