package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// What the program tells to do with PostgreSQL, in its own words, does it.
func TestBackup_PostgresAsTold(t *testing.T) {
	t.Parallel()
	from, to := storetest.Postgres(t), storetest.Postgres(t)
	p := startServer(t, nil, "--db", from)
	key := beaconCommand(t, "keys", "create", "--user", "new", "--scopes", "admin", "--db", from)
	key = key[:len(key)-1]
	staff, err := client.New(p.url, key)
	if err != nil {
		t.Fatal(err)
	}
	l := &load{staff: staff, ids: map[string]string{}}
	id := l.register(t, t.Context(), 1)
	file := filepath.Join(t.TempDir(), "beacon's.dump")
	doAsTold(t, "pg_dump", "backup", file, "--db", from)
	p.stop(t)
	doAsTold(t, "pg_restore", "restore", file, "--db", to)

	p = startServer(t, nil, "--db", to)
	defer p.stop(t)
	restored, err := client.New(p.url, key)
	if err != nil {
		t.Fatal(err)
	}
	if h, err := restored.Hotspot(t.Context(), id); err != nil || h.Name != l.ids[id] {
		t.Errorf("in what was restored is %+v, %v", h, err)
	}
}

// doAsTold runs a command that names another, and then that one.
func doAsTold(t *testing.T, tool string, args ...string) {
	t.Helper()
	var said bytes.Buffer
	if code := run(t.Context(), args, &said, &said); code != exitUsage {
		t.Fatalf("exit code %d: %s", code, &said)
	}
	command := regexp.MustCompile(`(?m)^  (` + tool + ` .*)$`).FindStringSubmatch(said.String())
	if command == nil {
		t.Fatalf("no %s in %s", tool, &said)
	}
	if out, err := exec.Command("sh", "-c", command[1]).CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", command[1], err, out)
	}
}
