package browser_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// chromium finds the browser. Where there is none, make test skips the test and make
// check fails it.
func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if level.Now() >= level.Check {
		t.Fatal("there is no browser: install the Debian package chromium")
	}
	t.Skip("there is no chromium: the console was NOT tested in a browser")
	return ""
}
