package browser_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/beacon-wifi/beacon/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }

// chromium finds the browser, or skips the test where there is none.
func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no chromium: the console was NOT tested in a browser")
	return ""
}
