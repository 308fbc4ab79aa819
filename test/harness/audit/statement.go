//go:build linux

package audit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// SaveStatement keeps a statement as it was answered, and verifies it without
// the server.
func SaveStatement(t testing.TB, c *harness.Client, s *harness.Server, user, month string) (Statement, bool) {
	t.Helper()
	statement, a, ok := Fetch[Statement](t, c, s.URL+"/v1/users/"+user+"/rewards/statements/"+month)
	if !ok {
		return statement, false
	}
	file := filepath.Join(t.TempDir(), month+".json")
	if err := os.WriteFile(file, a.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	harness.Command(t, "rewards", "verify", file)
	return statement, true
}
