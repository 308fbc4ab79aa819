//go:build linux

package harness

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// Stores runs a test on both kinds of database at once, beside other tests. make test has
// it on SQLite alone: what the two have in common is held by store/storetest, and to each
// other by TestF22_Model.
func Stores(t *testing.T, test func(t *testing.T, db string)) {
	t.Parallel() // it mostly waits
	var running sync.WaitGroup
	for _, kind := range []string{"sqlite", "postgres"}[:level.Rounds(1, 2, 2)] {
		running.Go(func() {
			t.Run(kind, func(t *testing.T) { test(t, NewDatabase(t, kind)) })
		})
	}
	running.Wait()
}

// NewDatabase makes a fresh database of a kind, "sqlite" or "postgres".
func NewDatabase(t *testing.T, kind string) string {
	if kind == "postgres" {
		return storetest.Postgres(t)
	}
	return filepath.Join(t.TempDir(), "beacon.db")
}

// IsPostgres tells the kind of a database from its address.
func IsPostgres(db string) bool { return strings.HasPrefix(db, "postgres") }

// OpenSQL opens a database without any code of the server.
func OpenSQL(t testing.TB, db string) *sql.DB {
	t.Helper()
	driver, name := "sqlite", "file:"+db+fmt.Sprintf("?_pragma=busy_timeout(%d)", Patience.Milliseconds())
	if IsPostgres(db) {
		driver, name = "pgx", db
		if throughPooler(db) {
			name += "&default_query_exec_mode=exec"
		}
	}
	handle, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { handle.Close() })
	return handle
}

// CheckIntegrity has SQLite look through its whole file.
func CheckIntegrity(t testing.TB, file string) {
	t.Helper()
	db := OpenSQL(t, file)
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the integrity check says %s, %v", verdict, err)
	}
}

// OpenStore opens a database beside the servers that run on it.
func OpenStore(t testing.TB, db string) *store.DB {
	t.Helper()
	if IsPostgres(db) {
		return storetest.Opened(t)(postgres.Open(t.Context(), storetest.Patient(t, db), postgres.Options{Now: time.Now()}))
	}
	return storetest.Opened(t)(sqlite.Open(t.Context(), db, sqlite.Options{Now: time.Now(), Wait: Patience}))
}

// CopyDatabase makes a copy of a database that nobody uses.
func CopyDatabase(t *testing.T, db string) string {
	t.Helper()
	if !IsPostgres(db) {
		file := NewDatabase(t, "sqlite")
		for _, suffix := range []string{"", "-wal", "-shm"} {
			copyFile(t, db+suffix, file+suffix)
		}
		return file
	}
	fresh := storetest.Postgres(t)
	name, source := strings.TrimPrefix(parseURL(t, fresh).Path, "/"), strings.TrimPrefix(parseURL(t, db).Path, "/")
	server := OpenSQL(t, os.Getenv(storetest.PostgresVariable))
	defer server.Close()
	if _, err := server.ExecContext(t.Context(), `DROP DATABASE `+name); err != nil { // an empty one
		t.Fatal(err)
	}
	Eventually(t, "nobody uses the database that is to be copied", func() bool {
		_, err := server.ExecContext(t.Context(), `CREATE DATABASE `+name+` TEMPLATE `+source)
		return err == nil
	})
	return fresh
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if os.IsNotExist(err) {
		return
	}
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
