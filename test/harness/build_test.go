package harness

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Of what was written after a test was built, the sources of the server are named.
func TestWrittenAfter(t *testing.T) {
	root, built := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{
		"old.go": time.Minute, "roll/list.go": -time.Minute, "roll/list_test.go": -time.Minute, "README.md": -time.Minute, ".git/hidden.go": -time.Minute,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, built.Add(-age), built.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := writtenAfter(built, root), []string{filepath.Join(root, "roll", "list.go")}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}
