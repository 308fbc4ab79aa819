package node

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// The ballast is reserved, not used: it takes next to no RAM, also when the heap ends
// in memory that was used before. Only a new process has a heap as a start finds it,
// so the test runs itself again.
func TestBallastTakesNoMemory(t *testing.T) {
	const child = "BEACON_TEST_BALLAST"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}

	used := make([]byte, 3<<20)
	for i := range used {
		used[i] = 1
	}
	runtime.KeepAlive(used)
	used = nil
	runtime.GC()

	before := anonymousBytes(t)
	ballast := TuneCollector()
	taken := anonymousBytes(t) - before
	runtime.KeepAlive(ballast)
	if taken > 8<<20 {
		t.Errorf("the ballast takes %d MB of RAM", taken>>20)
	}
}

// anonymousBytes is the RAM of this process that no file backs.
func anonymousBytes(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
