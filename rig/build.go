package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Binary is the beacon that all tests of a package run. Main makes it.
var Binary string

// BinaryVariable names a binary to test instead of what the sources build: so
// that a test can be run again on a broken one, and must fail.
const BinaryVariable = "BEACON_TEST_BINARY"

// Main builds the binary, runs the tests of a package that calls it from its
// TestMain, and answers the code to exit with.
func Main(m *testing.M) int {
	if Binary = os.Getenv(BinaryVariable); Binary != "" {
		return m.Run()
	}
	folder, err := os.MkdirTemp("", "beacon-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	Binary = filepath.Join(folder, "beacon")
	if err := Build(Binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Build makes the binary as it is delivered; flags go to "go build".
func Build(binary string, flags ...string) error {
	build := exec.Command("go", append(append([]string{"build"}, flags...), "-o", binary, "./cmd/beacon")...)
	build.Dir = Root()
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	return nil
}

// Root is the folder of the project.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(file))
}
