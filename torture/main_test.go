//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/beacon-wifi/beacon/rig"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(floodVariable); spec != "" {
		if err := beFlood(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(rig.Main(m))
}

// levelVariable says how much is done: nothing or "quick", what make test has
// time for; "full", what make torture does.
const levelVariable = "BEACON_TORTURE"

func full() bool { return os.Getenv(levelVariable) == "full" }

// rounds is how often a fault is done: the first number for make test, the
// second for make torture.
func rounds(quick, thorough int) int {
	if full() {
		return thorough
	}
	return quick
}

// onlyFull skips what make test has no time for.
func onlyFull(t *testing.T) {
	t.Helper()
	if !full() {
		t.Skip("only make torture and make mutants have the time for this")
	}
}
