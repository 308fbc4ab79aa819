package clients_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// workspace is a copy of a folder, beside the documents of a server that runs.
type workspace struct {
	server *harness.Server
	folder string
}

func newWorkspace(t *testing.T, folder string) *workspace {
	t.Helper()
	w := &workspace{harness.Start(t, filepath.Join(t.TempDir(), "beacon.db")), filepath.Join(t.TempDir(), folder)}
	if err := os.CopyFS(w.folder, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	w.download(t, "/v1/openapi.yaml", "network.yaml")
	w.download(t, "/api/v1/openapi.yaml", "preview.yaml")
	return w
}

func (w *workspace) download(t *testing.T, path, file string) {
	t.Helper()
	response, err := http.Get(w.server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	document, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, response.Status, err)
	}
	if err := os.WriteFile(filepath.Join(w.folder, file), document, 0o600); err != nil {
		t.Fatal(err)
	}
}

// key creates a key of a new user: what a client earns is its own.
func (w *workspace) key(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(harness.Command(t, "keys", "create", "--db", w.server.DB, "--user", "new", "--scopes", "admin"))
}

// run runs a command in the folder.
func (w *workspace) run(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	harness.RunTool(t, w.folder, env, name, args...)
}

// generate runs the commands of the guide that contain a text, for each API. The
// versions in the guide are those of the lock file, so nothing is downloaded.
func (w *workspace) generate(t *testing.T, text string) {
	t.Helper()
	guide, err := os.ReadFile("../../docs/quickstart-apps.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```sh\n.*?```").FindAllString(string(guide), -1) {
		if !strings.Contains(block, text) {
			continue
		}
		commands := strings.TrimSuffix(strings.TrimPrefix(block, "```sh\n"), "```")
		for _, api := range []string{"network", "preview"} {
			w.run(t, []string{"npm_config_offline=true"}, "sh", "-ec", strings.ReplaceAll(commands, "network", api))
		}
		return
	}
	t.Fatalf("the guide has no block of commands with %s", text)
}

func TestGo(t *testing.T) {
	level.Needs(t, level.Check)
	t.Parallel()
	w := newWorkspace(t, "golang")
	w.generate(t, "oapi-codegen")
	for _, name := range []string{"go.mod", "go.sum"} {
		want, err := os.ReadFile(filepath.Join("golang", name))
		if got, _ := os.ReadFile(filepath.Join(w.folder, name)); err != nil || string(got) != string(want) {
			t.Errorf("golang/%s does not name all that the guide needs: %v, %s", name, err, got)
		}
	}
	w.run(t, nil, "go", "vet", "./...")
	w.run(t, []string{"BEACON_URL=" + w.server.URL, "BEACON_KEY=" + w.key(t)}, "go", "run", ".")
}

func TestTypeScript(t *testing.T) {
	level.Tool(t, "npm", "npm")
	t.Parallel()
	w := newWorkspace(t, "typescript")
	w.run(t, nil, "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund")
	w.run(t, []string{"REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"}, "npm", "run", "lint")
	w.generate(t, "npx openapi-typescript")
	w.generate(t, "npx @hey-api/openapi-ts")
	w.run(t, nil, "npm", "run", "build")
	w.run(t, []string{"BEACON_URL=" + w.server.URL, "BEACON_KEYS=" + w.key(t) + " " + w.key(t)}, "npm", "test")
}
