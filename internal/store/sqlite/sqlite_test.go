package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

func open(t testing.TB, path string) *store.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: storetest.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// raw works on the file behind the store's back.
func raw(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func TestOpen_OnlyTheOwnerMayRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	db := open(t, path)
	if err := db.Hotspots.InsertHotspot(t.Context(), storetest.Hotspot(1), storetest.Actor, nil); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 3 { // the file, its log, its shared memory
		t.Fatalf("files %v, %v; want 3", files, err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v; want 0600", file, info.Mode(), err)
		}
	}
}

func TestOpen_Refuses(t *testing.T) {
	folder := t.TempDir()
	noDatabase := filepath.Join(folder, "letter.txt")
	if err := os.WriteFile(noDatabase, []byte(strings.Repeat("Dear Sir or Madam, ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"":                                  "give the path of a file",
		":memory:":                          "give the path of a file",
		folder:                              "is a directory",
		filepath.Join(folder, "no", "a.db"): "no such file or directory",
		noDatabase:                          "not a database",
	} {
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: storetest.Now})
		if err == nil {
			db.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q) = %v; want %q", path, err, want)
		}
	}
}

func TestOpen_RefusesADatabaseItDoesNotKnow(t *testing.T) {
	for name, test := range map[string]struct{ change, want string }{
		"newer": {
			`INSERT INTO schema_versions VALUES (9000, '9000_future.sql', 'x', 0)`, "use a newer beacon",
		},
		"changed": {
			`UPDATE schema_versions SET checksum = 'deadbeef' WHERE version = 1`, "different contents",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "beacon.db")
			if err := open(t, path).Close(); err != nil {
				t.Fatal(err)
			}
			raw(t, path, test.change)
			_, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: storetest.Now})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Open = %v; want %q", err, test.want)
			}
		})
	}
}

// TestOpen_Durable: what a power cut asks for is in force where we write.
func TestOpen_Durable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	open(t, path)
	db, err := sql.Open("sqlite", sqlite.Writing(path, sqlite.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "busy_timeout": "5000"} {
		var got string
		if err := db.QueryRow(`PRAGMA ` + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %s, %v; want %s", pragma, got, err, want)
		}
	}
}

// TestOpen_Draft: a draft is not synced at every commit; what it becomes is.
func TestOpen_Draft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	for _, test := range []struct {
		opts sqlite.Options
		want string
	}{{sqlite.Options{Draft: true}, "0"}, {sqlite.Options{}, "2"}} {
		db, err := sql.Open("sqlite", sqlite.Writing(path, test.opts))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := db.QueryRow(`PRAGMA synchronous`).Scan(&got); err != nil || got != test.want {
			t.Errorf("%+v: synchronous = %s, %v; want %s", test.opts, got, err, test.want)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWrite_WhileLocked: another process holds the file for longer than we
// wait. Nothing is written, the client is told so, and later all is well.
func TestWrite_WhileLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: storetest.Now, Wait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	err = db.Hotspots.InsertHotspot(t.Context(), storetest.Hotspot(1), storetest.Actor, nil)
	if e, ok := err.(*beacon.Error); !ok || e.Kind != beacon.Overloaded || e.RetryAfter <= 0 { //nolint:errorlint // as it is
		t.Errorf("InsertHotspot = %v; want Overloaded, with a time to wait", err)
	}
	if _, err := other.Exec(`ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if err := db.Hotspots.InsertHotspot(t.Context(), storetest.Hotspot(1), storetest.Actor, nil); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

// TestClassify provokes the errors in a real database: codes, not texts.
func TestClassify(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{
		`PRAGMA max_page_count = 4`, `CREATE TABLE x (a text PRIMARY KEY, b text UNIQUE)`, `INSERT INTO x VALUES ('a', 'b')`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	for statement, want := range map[string]store.Failure{
		`INSERT INTO x VALUES ('a', 'c')`:                  store.Duplicate,
		`INSERT INTO x VALUES ('c', 'b')`:                  store.Duplicate,
		`INSERT INTO x VALUES (hex(zeroblob(99999)), 'd')`: store.Full,
		`SELECT * FROM nowhere`:                            store.Refused,
	} {
		if _, err := db.Exec(statement); err == nil || sqlite.Classify(err) != want {
			t.Errorf("%s: %v is classified as %d; want %d", statement, err, sqlite.Classify(err), want)
		}
	}
}

func TestPositional(t *testing.T) {
	for text, want := range map[string]string{
		`SELECT 1`:                        `SELECT 1`,
		`VALUES ($1, $2), ($3, $4)`:       `VALUES (?, ?), (?, ?)`,
		`a = $1 AND b = $1`:               `a = $1 AND b = $1`,
		`a = $2 AND b = $1`:               `a = $2 AND b = $1`,
		`$1 $2 $3 $4 $5 $6 $7 $8 $9 $10`:  `? ? ? ? ? ? ? ? ? ?`,
		`$1 $2 $3 $4 $5 $6 $7 $8 $9 $100`: `$1 $2 $3 $4 $5 $6 $7 $8 $9 $100`,
		`$10`:                             `$10`,
		`$x`:                              `$x`,
		`a > $1 LIMIT $2`:                 `a > ? LIMIT 0+?`,
		`a > $1 AND b > $1 LIMIT $2`:      `a > $1 AND b > $1 LIMIT 0+$2`,
	} {
		if got := sqlite.Positional(text); got != want {
			t.Errorf("Positional(%q) = %q; want %q", text, got, want)
		}
	}
}
