//go:build unix

package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

// owners returns the files of a folder, with their owner, group and mode.
func owners(t *testing.T, folder string) (all []string) {
	t.Helper()
	for _, name := range strings.Fields(names(t, folder)) {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		stat := info.Sys().(*syscall.Stat_t)
		all = append(all, fmt.Sprintf("%s %d:%d %o", name, stat.Uid, stat.Gid, info.Mode().Perm()))
	}
	return all
}

// What root creates in the folder of a service is the service's. What is there already, and
// a folder that everyone may write to, is left alone.
func TestOpen_AsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: only root can give files away")
	}
	const user, group = 12345, 12346
	backup := filepath.Join(t.TempDir(), "backup.db")
	for _, step := range []struct {
		mode  os.FileMode
		owner string
	}{{0o700, "12345:12346"}, {0o755, "12345:12346"}, {0o777 | os.ModeSticky, "0:0"}} {
		folder := t.TempDir()
		if err := os.Chown(folder, user, group); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(folder, step.mode); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, "beacon.db")
		register(t, open(t, path), 1)
		if err := sqlite.Backup(t.Context(), path, backup, sqlite.Copying{Replace: true}); err != nil {
			t.Fatal(err)
		}
		if err := sqlite.Restore(t.Context(), backup, filepath.Join(folder, "restored.db"), sqlite.Copying{}); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, name := range []string{"beacon.db", "beacon.db-shm", "beacon.db-wal", "restored.db"} {
			want = append(want, fmt.Sprintf("%s %s 600", name, step.owner))
		}
		if got := owners(t, folder); !slices.Equal(got, want) {
			t.Errorf("in a folder of mode %v are %q; want %q", step.mode, got, want)
		}
	}
	if got := owners(t, filepath.Dir(backup)); !slices.Equal(got, []string{"backup.db 0:0 600"}) {
		t.Errorf("the backup is %q", got)
	}
}
