package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// large makes a database of more pages than are copied at once.
func large(t testing.TB) (path string, db *store.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "beacon.db")
	db = open(t, path)
	register(t, db, 1)
	raw(t, path, `CREATE TABLE filler (x)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 100) INSERT INTO filler SELECT randomblob(200000) FROM n`)
	return path, db
}

func register(t testing.TB, db *store.DB, n int) {
	t.Helper()
	if err := db.Hotspots.InsertHotspot(context.WithoutCancel(t.Context()), registration(n), storetest.Actor, nil); err != nil {
		t.Fatal(err)
	}
}

// hotspots counts those in a file, past the store.
func hotspots(t testing.TB, path string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(`SELECT count(*) FROM hotspots`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// names lists what is in a folder.
func names(t testing.TB, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// A backup is the state of its beginning: it keeps no writer waiting, and no
// writer makes it begin anew.
func TestBackup_WhileOthersWrite(t *testing.T) {
	path, db := large(t)
	to := filepath.Join(t.TempDir(), "backup.db")
	written, last := 1, 0.0
	err := sqlite.Backup(t.Context(), path, to, sqlite.Copying{Progress: func(what string, share float64) {
		if what != "copied" {
			return
		}
		if share < last {
			t.Errorf("after %v, %v is copied", last, share)
		}
		last = share
		written++
		register(t, db, written)
	}})
	if err != nil || last != 1 || written < 4 {
		t.Fatalf("%v; %v was copied, with %d writes in between", err, last, written)
	}
	if n := hotspots(t, to); n != 1 {
		t.Errorf("the backup has %d hotspots; it began when there was 1", n)
	}
	info, err := os.Stat(to)
	if err != nil || info.Mode().Perm() != 0o600 || names(t, filepath.Dir(to)) != "backup.db" {
		t.Errorf("the backup is %v in %s, %v", info.Mode(), names(t, filepath.Dir(to)), err)
	}

	restored := filepath.Join(t.TempDir(), "restored.db")
	if err := sqlite.Restore(t.Context(), to, restored, sqlite.Copying{}); err != nil {
		t.Fatal(err)
	}
	if names(t, filepath.Dir(restored)) != "restored.db" || names(t, filepath.Dir(to)) != "backup.db" {
		t.Errorf("there are %s and %s", names(t, filepath.Dir(restored)), names(t, filepath.Dir(to)))
	}
	again := open(t, restored)
	register(t, again, 1000)
	if err := again.Close(); err != nil || hotspots(t, restored) != 2 {
		t.Errorf("what was restored has %d hotspots, %v", hotspots(t, restored), err)
	}
}

// What is there is not replaced, unless that is wanted, and never the database.
func TestBackup_Replaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	db := open(t, path)
	register(t, db, 1)
	to := filepath.Join(t.TempDir(), "backup.db")
	precious := []byte("precious")
	if err := os.WriteFile(to, precious, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Backup(t.Context(), path, to, sqlite.Copying{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if text, _ := os.ReadFile(to); !bytes.Equal(text, precious) || names(t, filepath.Dir(to)) != "backup.db" {
		t.Errorf("the file is %q, among %s", text, names(t, filepath.Dir(to)))
	}
	if err := sqlite.Backup(t.Context(), path, to, sqlite.Copying{Replace: true}); err != nil || hotspots(t, to) != 1 {
		t.Errorf("replaced: %v", err)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("what was replaced is %v, %v", info, err)
	}
	alias := filepath.Join(t.TempDir(), "alias.db")
	if err := os.Symlink(path, alias); err != nil {
		t.Fatal(err)
	}
	for _, self := range []string{path, alias} {
		if err := sqlite.Backup(t.Context(), path, self, sqlite.Copying{Replace: true}); err == nil || !strings.Contains(err.Error(), "is the database itself") {
			t.Errorf("over itself as %s: %v", self, err)
		}
	}
	other := filepath.Join(t.TempDir(), "other.db")
	register(t, open(t, other), 2) // it is in use, and has a log
	if err := sqlite.Backup(t.Context(), path, other, sqlite.Copying{Replace: true}); err == nil || !strings.Contains(err.Error(), "a database is in use there") {
		t.Errorf("over a database in use: %v", err)
	}
	if err := sqlite.Restore(t.Context(), to, path, sqlite.Copying{}); err == nil {
		t.Error("a backup was restored over a database in use")
	}
	if err := sqlite.Backup(t.Context(), filepath.Join(t.TempDir(), "none.db"), to+"2", sqlite.Copying{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nothing: %v", err)
	}
}

// A backup that is given up leaves nothing behind.
func TestBackup_GivenUp(t *testing.T) {
	path, _ := large(t)
	folder := t.TempDir()
	for _, step := range []string{"copied", "checked"} {
		ctx, cancel := context.WithCancel(t.Context())
		err := sqlite.Backup(ctx, path, filepath.Join(folder, "backup.db"), sqlite.Copying{Progress: func(what string, _ float64) {
			if what == step {
				cancel()
			}
		}})
		if err == nil || names(t, folder) != "" {
			t.Errorf("given up when %s: %v, and there is %s", step, err, names(t, folder))
		}
	}
}

// What is damaged is found out, on the way out and on the way in.
func TestBackup_FindsDamage(t *testing.T) {
	path, db := large(t)
	good := filepath.Join(t.TempDir(), "good.db")
	if err := sqlite.Backup(t.Context(), path, good, sqlite.Copying{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	page := func(damage func(text []byte) []byte) []byte { return damage(bytes.Clone(text)) }
	folder := t.TempDir()
	for name, content := range map[string][]byte{
		"a page of zeros":   page(func(text []byte) []byte { clear(text[5*4096 : 6*4096]); return text }),
		"cut off":           text[:len(text)/2],
		"cut off in a page": text[:len(text)-100],
		"empty":             {},
		"something else":    []byte(strings.Repeat("not a database ", 1000)),
	} {
		bad := filepath.Join(folder, "bad.db")
		if err := os.WriteFile(bad, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := sqlite.Restore(t.Context(), bad, filepath.Join(folder, "restored.db"), sqlite.Copying{}); err == nil {
			t.Errorf("%s was restored", name)
		}
		if err := sqlite.Backup(t.Context(), bad, filepath.Join(folder, "backup.db"), sqlite.Copying{}); err == nil {
			t.Errorf("%s was backed up", name)
		}
		if found := names(t, folder); found != "bad.db" {
			t.Errorf("%s: there is %s", name, found)
		}
	}
}

func TestRestore_Refuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	db := open(t, path)
	register(t, db, 1)
	folder := t.TempDir()
	backup, to := filepath.Join(folder, "backup.db"), filepath.Join(folder, "new.db")
	if err := sqlite.Backup(t.Context(), path, backup, sqlite.Copying{}); err != nil {
		t.Fatal(err)
	}
	refused := func(from, why string) {
		t.Helper()
		copied := false
		err := sqlite.Restore(t.Context(), from, to, sqlite.Copying{Progress: func(string, float64) { copied = true }})
		if err == nil || !strings.Contains(err.Error(), why) || copied {
			t.Errorf("%v, copied: %t; want %s before anything is copied", err, copied, why)
		}
	}
	refused(path, "beacon.db-wal: this is a database, not a backup") // its log has the latest
	if err := os.WriteFile(to+"-wal", []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(backup, "new.db-wal: it belongs to another database")
	if err := os.Remove(to + "-wal"); err != nil {
		t.Fatal(err)
	}
	raw(t, backup, `INSERT INTO schema_versions VALUES (99, '0099_future.sql', 'x', 0)`)
	refused(backup, "use a newer beacon")
	raw(t, backup, `DELETE FROM schema_versions WHERE version > 1`, `UPDATE schema_versions SET checksum = 'x'`)
	refused(backup, "another build of beacon")
	raw(t, backup, `DELETE FROM schema_versions`)
	refused(backup, "this is not a Beacon database")
	raw(t, backup, `DROP TABLE schema_versions`)
	refused(backup, "this is not a Beacon database")
	if found := names(t, folder); found != "backup.db" {
		t.Errorf("there is %s", found)
	}
}
