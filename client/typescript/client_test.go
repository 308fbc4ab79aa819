// Package typescript holds the client for TypeScript. Its test builds it from what
// is committed, and uses it against a real server.
package typescript_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
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
	exampleOf(t, folder)
	harness.RunTool(t, folder, nil, "npm", "run", "build")
	server := harness.Start(t, harness.NewDatabase(t, "sqlite"))
	key := harness.CreateKey(t, server.DB, "admin")
	harness.RunTool(t, folder, []string{"BEACON_URL=" + server.URL, "BEACON_KEY=" + key.Key}, "npm", "test")
}

// exampleOf writes the example of the README beside the tests, whose types are checked as
// strictly as a program can ask for.
func exampleOf(t *testing.T, folder string) {
	t.Helper()
	guide, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(guide), "```ts\n")
	example, _, found := strings.Cut(example, "```")
	if !found {
		t.Fatal("the README has no example")
	}
	example = strings.ReplaceAll(example, `"@beacon-wifi/client"`, `"../dist/index.js"`)
	if err := os.WriteFile(filepath.Join(folder, "test", "readme.ts"), []byte(example), 0o644); err != nil {
		t.Fatal(err)
	}
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
