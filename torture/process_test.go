//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/rig"
)

// peak is the most memory that a process has used so far, in bytes.
func peak(t testing.TB, s *rig.Server) int { return kilobytes(t, s, "VmHWM:") << 10 }

// resident is the memory that a process uses now, in bytes.
func resident(t testing.TB, s *rig.Server) int { return kilobytes(t, s, "VmRSS:") << 10 }

func kilobytes(t testing.TB, s *rig.Server, line string) (n int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), line)
	if read, err := fmt.Sscan(rest, &n); !found || read != 1 {
		t.Fatalf("no %s %v", line, err)
	}
	return n
}

// openFiles is how many files and connections a process has open.
func openFiles(t testing.TB, s *rig.Server) int {
	t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
