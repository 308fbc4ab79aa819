//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func init() { level.FixRapid() }

func TestMain(m *testing.M) {
	if spec := os.Getenv(floodVariable); spec != "" {
		if err := beFlood(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(harness.Main(m))
}

// rounds is how often a fault is done in make test, make check and make torture.
func rounds(test, check, torture int) int { return level.Rounds(test, check, torture) }

// full reports whether this is make torture.
func full() bool { return level.Now() == level.Torture }

// onlyFull skips what only make torture has the time for.
func onlyFull(t *testing.T) {
	t.Helper()
	level.Needs(t, level.Torture)
}
