package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// A server says so when others may open its database; one that it makes is its
// owner's alone.
func TestServe_ExposedDatabase(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "beacon.db")
	for _, step := range []struct {
		mode os.FileMode // 0: as it is
		want string
	}{
		{0, ""}, {0o640, `"mode":"0640"`}, {0o604, `"mode":"0604"`}, {0o602, `"mode":"0602"`}, {0o600, ""},
	} {
		if step.mode != 0 {
			if err := os.Chmod(file, step.mode); err != nil {
				t.Fatal(err)
			}
		}
		p := startServer(t, nil, "--db", file)
		p.stop(t)
		if said := strings.Contains(p.log.String(), "readable by other users"); said != (step.want != "") || !strings.Contains(p.log.String(), step.want) {
			t.Errorf("the database has the mode %o; the log says %s", step.mode, p.log)
		}
	}
}

// TestCommand_AnotherWrites shows that a command waits for a process that writes to the
// same database for longer than a server would.
func TestCommand_AnotherWrites(t *testing.T) {
	level.Needs(t, level.Check)
	harness.Stores(t, func(t *testing.T, db string) {
		beaconCommand(t, "keys", "create", "--db", db, "--user", "new")
		other, err := harness.OpenSQL(t, db).Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		lock := []string{"BEGIN IMMEDIATE"}
		if harness.IsPostgres(db) {
			lock = []string{"BEGIN", "LOCK TABLE api_keys IN EXCLUSIVE MODE"}
		}
		for _, statement := range lock {
			if _, err := other.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		var ended sync.WaitGroup
		ended.Go(func() {
			time.Sleep(6 * time.Second) // a server gives up after 5
			if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
				t.Error(err)
			}
		})
		beaconCommand(t, "keys", "create", "--db", db, "--user", "new")
		ended.Wait()
	})
}
