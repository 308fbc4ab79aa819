//go:build unix

package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// TestWrite_WhenReplaced: the file is taken away from under an open database. SQLite
// would go on writing to it; here nothing more is acknowledged.
func TestWrite_WhenReplaced(t *testing.T) {
	for what, do := range map[string]func(path string) error{
		"moved":       func(path string) error { return os.Rename(path, path+".old") },
		"deleted":     os.Remove,
		"log deleted": func(path string) error { return os.Remove(path + "-wal") },
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("another"), 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"overwritten": func(path string) error { return os.WriteFile(path, []byte("another"), 0o600) },
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "beacon.db")
			db := open(t, path)
			register(t, db, 1)
			if err := do(path); err != nil {
				t.Fatal(err)
			}
			if err := db.Hotspots.InsertHotspot(t.Context(), registration(2), storetest.Actor, nil); err == nil {
				t.Error("a write was acknowledged")
			}
			if err := db.Breakage(); err == nil || !strings.Contains(err.Error(), "moved, deleted or replaced") {
				t.Errorf("Breakage = %v", err)
			}
		})
	}
}

// TestRestore_OpenElsewhere: a server has the database open, though its file was moved
// away.
func TestRestore_OpenElsewhere(t *testing.T) {
	folder := t.TempDir()
	path, backup := filepath.Join(folder, "beacon.db"), filepath.Join(folder, "backup.db")
	db := open(t, path)
	register(t, db, 1)
	if err := sqlite.Backup(t.Context(), path, backup, sqlite.Copying{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	child, in, out := startOpener(t)
	fmt.Fprintln(in, path)
	if said, err := out.ReadString('\n'); err != nil || said != "<nil>\n" {
		t.Fatalf("the other process says %q, %v", said, err)
	}
	for _, left := range []string{path, path + "-wal"} {
		if err := os.Rename(left, left+".moved"); err != nil {
			t.Fatal(err)
		}
	}

	err := sqlite.Restore(t.Context(), backup, path, sqlite.Copying{})
	if want := fmt.Sprintf("process %d has the database", child.Process.Pid); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Restore = %v; want %q", err, want)
	}
	in.Close()
	_ = child.Wait()
	if err := sqlite.Restore(t.Context(), backup, path, sqlite.Copying{}); err != nil {
		t.Errorf("after the other process ended: %v", err)
	}
}

// TestBackup_SweepsDrafts: what a killed backup leaves is deleted by the next, and the
// draft of one that runs is not.
func TestBackup_SweepsDrafts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	register(t, open(t, path), 1)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, ".beacon-copy-1"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	running, err := os.Create(filepath.Join(folder, ".beacon-copy-2"))
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	if err := syscall.Flock(int(running.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Backup(t.Context(), path, filepath.Join(folder, "backup.db"), sqlite.Copying{}); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, folder), ".beacon-copy-2 backup.db"; got != want {
		t.Errorf("the folder holds %s; want %s", got, want)
	}
}
