package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
