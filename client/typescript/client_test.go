// Package typescript holds the client for TypeScript. Its test builds it from what
// is committed, and uses it against a real server.
package typescript_test

import (
	"bufio"
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

//go:generate go test -run TestClient -update .

var update = flag.Bool("update", false, "rewrite src/schema.ts from the OpenAPI document")

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

func TestClient(t *testing.T) {
	if !*update { // go generate is no test
		level.Tool(t, "npm", "npm")
	}
	folder := filepath.Join(t.TempDir(), "typescript") // what npm installs may hold Go packages, which do not belong in the tree
	if err := os.CopyFS(folder, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	harness.RunTool(t, folder, nil, "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund")
	checkGenerated(t, folder)
	harness.RunTool(t, folder, nil, "npm", "run", "build")
	url, key := serve(t)
	harness.RunTool(t, folder, []string{"BEACON_URL=" + url, "BEACON_KEY=" + key}, "npm", "test")
}

// checkGenerated holds the types to the document.
func checkGenerated(t *testing.T, folder string) {
	t.Helper()
	document, err := filepath.Abs("../../internal/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(folder, "fresh.ts")
	harness.RunTool(t, folder, nil, "npx", "openapi-typescript", document, "-o", fresh)
	want, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("src/schema.ts", want, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "src/schema.ts"), want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("src/schema.ts")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("src/schema.ts is not what the OpenAPI document says: run go generate ./client/typescript (%v)", err)
	}
}

// serve starts a server, and makes a key that permits everything.
func serve(t *testing.T) (url, key string) {
	t.Helper()
	db := filepath.Join(t.TempDir(), "beacon.db")
	var log bytes.Buffer
	cmd := exec.Command(harness.Binary, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "off", "--rate-limit", "off", "--db", db)
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v: %s", err, &log)
		}
	})
	line, _ := bufio.NewReader(out).ReadString('\n')
	url, ready := strings.CutPrefix(strings.TrimSpace(line), "beacon: listening on ")
	if !ready {
		t.Fatalf("the server said %q", line)
	}
	made, err := exec.Command(harness.Binary, "keys", "create", "--db", db, "--user", "new", "--scopes", "admin").Output()
	if err != nil {
		t.Fatal(err)
	}
	return url, strings.TrimSpace(string(made))
}
