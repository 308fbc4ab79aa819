//go:build linux

// Package agent_test runs the real agent, under BusyBox ash and under dash, in a
// sandbox: a folder stands for the root of a device, and stubs for the programs of
// OpenWrt and for the time that passes while it sleeps. The programs for HTTP are
// real where Debian has them. It knows nothing of how the server works inside.
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
