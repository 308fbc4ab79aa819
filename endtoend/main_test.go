//go:build linux

package endtoend_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// binary is the beacon that all tests run.
var binary string

func TestMain(m *testing.M) {
	if spec := os.Getenv(floodVariable); spec != "" {
		if err := beFlood(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "beacon-endtoend")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	binary = filepath.Join(folder, "beacon")
	build := exec.Command("go", "build", "-o", binary, "../cmd/beacon")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is delivered
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the binary: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// eventually waits until a condition holds, and answers how long that took.
func eventually(t testing.TB, within time.Duration, what string, holds func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !holds() {
		if time.Since(began) > within {
			t.Fatalf("after %v, still not: %s", within, what)
		}
		time.Sleep(5 * time.Millisecond) // between two looks, up to a deadline
	}
	return time.Since(began)
}
