//go:build linux

package torture_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// peak is the most memory that a process has used so far, in bytes.
func peak(t testing.TB, s *harness.Server) int { return kilobytes(t, s, "VmHWM:") << 10 }

// resident is the memory that a process uses now, in bytes.
func resident(t testing.TB, s *harness.Server) int { return kilobytes(t, s, "VmRSS:") << 10 }

func kilobytes(t testing.TB, s *harness.Server, line string) (n int) {
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
func openFiles(t testing.TB, s *harness.Server) int {
	t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// openSockets is how many connections a process has, and sockets that listen.
func openSockets(t testing.TB, s *harness.Server) (n int) {
	t.Helper()
	folder := fmt.Sprintf("/proc/%d/fd", s.Cmd.Process.Pid)
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range list {
		if to, err := os.Readlink(filepath.Join(folder, file.Name())); err == nil && strings.HasPrefix(to, "socket:") { // else it was closed just now
			n++
		}
	}
	return n
}

// metrics is the address at which a server shows its metrics.
type metrics string

var adminLine = regexp.MustCompile(`"msg":"admin interface","addr":"([^"]+)"`)

// metricsOf finds the metrics of a server that was started with an --admin-addr and
// logs at least at level info.
func metricsOf(t testing.TB, s *harness.Server) metrics {
	t.Helper()
	var found []string
	harness.Eventually(t, "the log names the admin interface", func() bool {
		found = adminLine.FindStringSubmatch(s.Log(t))
		return found != nil
	})
	return metrics("http://" + found[1] + "/metrics")
}

// read returns the value of a metric without labels.
func (m metrics) read(t testing.TB, name string) (n int) {
	t.Helper()
	response, err := http.Get(string(m))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	text, err := io.ReadAll(response.Body)
	_, value, found := strings.Cut(string(text), "\n"+name+" ")
	if read, scanErr := fmt.Sscan(value, &n); err != nil || !found || read != 1 {
		t.Fatalf("no metric %s: %v %v", name, err, scanErr)
	}
	return n
}
