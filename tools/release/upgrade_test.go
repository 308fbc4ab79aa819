//go:build linux

package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// An upgrade keeps what the older program wrote, and migrates it once; the older program
// then refuses the database, and serves the backup that was made before. The older one is
// of the last commit before the newest migration.
func TestUpgrade(t *testing.T) {
	if os.Getenv("BEACON_TEST_LEVEL") != "torture" {
		t.Skip("only make torture has the time to build another version")
	}
	project, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	migrations, err := filepath.Glob(filepath.Join(project, "internal/store/migrations/*.sql"))
	if err != nil || len(migrations) == 0 {
		t.Fatal(migrations, err)
	}
	slices.Sort(migrations)
	newest := strings.TrimSpace(command(t, project, "git", "log", "-1", "--format=%H", "--diff-filter=A", "--", migrations[len(migrations)-1]))
	if newest == "" || exec.Command("git", "-C", project, "rev-parse", "--verify", "-q", newest+"~").Run() != nil {
		t.Skip("the history has no older version")
	}
	before := t.TempDir()
	command(t, before, "git", "-C", project, "archive", "-o", filepath.Join(before, "source.tar"), newest+"~")
	command(t, before, "tar", "xf", "source.tar")
	older, newer := unpacked(t, before), unpacked(t, project)

	folder := t.TempDir()
	run := func(program string, args ...string) string {
		return strings.TrimSpace(command(t, folder, program, args...))
	}
	first := running(t, older, folder, "beacon.db")
	key := run(older, "keys", "create", "--user", "new", "--scopes", "hotspots:write")
	registered := first.register(t, key, "02:00:5e:10:00:01")
	run(older, "backup", "before.db")
	first.stop(t)

	second := running(t, newer, folder, "beacon.db")
	if got := second.hotspots(t, key); !strings.Contains(got, registered) {
		t.Errorf("upgraded, %s is not among %s", registered, got)
	}
	added := second.register(t, key, "02:00:5e:10:00:02")
	second.stop(t)

	refused := exec.Command(older, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "off")
	refused.Dir = folder
	if out, err := refused.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("use a newer beacon")) {
		t.Errorf("the older program takes the newer database: %v: %s", err, out)
	}
	run(older, "restore", "before.db", "--db", "back.db")
	third := running(t, older, folder, "back.db")
	if got := third.hotspots(t, key); !strings.Contains(got, registered) || strings.Contains(got, added) {
		t.Errorf("restored, there are %s", got)
	}
	third.stop(t)
}

// unpacked is the program out of the archive of a project.
func unpacked(t *testing.T, source string) string {
	t.Helper()
	here, err := platformOf("linux_" + runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	built, err := build(t.Context(), source, t.TempDir(), here)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := archive(built, folder); err != nil {
		t.Fatal(err)
	}
	command(t, folder, "tar", "xzf", the(t, folder, "*.tar.gz"))
	return the(t, folder, "*/beacon")
}

// server is one that a test started.
type server struct {
	program *exec.Cmd
	url     string
	log     *bytes.Buffer
}

func running(t *testing.T, program, folder, database string) server {
	t.Helper()
	s := server{exec.CommandContext(t.Context(), program, "serve", "--db", database, "--addr", "127.0.0.1:0", "--admin-addr", "off"), "", new(bytes.Buffer)}
	s.program.Dir, s.program.Stderr = folder, s.log
	said, err := s.program.StdoutPipe()
	if err == nil {
		err = s.program.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	_, url, ready := strings.Cut(strings.TrimSpace(line), "beacon: listening on ")
	if err != nil || !ready {
		t.Fatalf("%q, %v: %s", line, err, s.log)
	}
	s.url = url
	return s
}

func (s server) stop(t *testing.T) {
	t.Helper()
	_ = s.program.Process.Signal(syscall.SIGTERM)
	if err := s.program.Wait(); err != nil {
		t.Errorf("stopped, it says %v: %s", err, s.log)
	}
}

func (s server) ask(t *testing.T, method, path, key, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %s, %v", method, path, response.Status, text, err)
	}
	return string(text)
}

// register registers a hotspot and returns its address.
func (s server) register(t *testing.T, key, mac string) string {
	t.Helper()
	s.ask(t, http.MethodPost, "/v1/hotspots", key, `{"name": "One", "type": "business", "location": {"lat": 40.7, "lng": -73.9}, "device": {"ssid": "one", "mac_address": "`+mac+`"}}`)
	return mac
}

func (s server) hotspots(t *testing.T, key string) string {
	t.Helper()
	return s.ask(t, http.MethodGet, "/v1/users/me/hotspots", key, "")
}
