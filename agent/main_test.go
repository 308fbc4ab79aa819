//go:build linux

package agent_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestMain also is every stub: a sandbox has links to this binary under their names.
func TestMain(m *testing.M) {
	if stub, ok := stubs[filepath.Base(os.Args[0])]; ok {
		os.Exit(stub(os.Args[1:]))
	}
	os.Exit(harness.Main(m))
}
