//go:build linux

package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// NewClusterOn makes a cluster on a disk and starts it. From then on it syncs
// what it acknowledges; what was there before is to be synced by the caller.
func NewClusterOn(t testing.TB, d Disk) *Cluster {
	t.Helper()
	c := clusterOn(t, d)
	c.create(t, "--wal-segsize=1")
	return c
}

// ClusterOn starts the cluster that is on a disk.
func ClusterOn(t testing.TB, d Disk) *Cluster {
	t.Helper()
	c := clusterOn(t, d)
	// It says that a server is ready: the one before the cut.
	if err := os.Remove(filepath.Join(c.data(), "postmaster.pid")); err != nil {
		t.Fatal(err)
	}
	c.Start(t)
	return c
}

func clusterOn(t testing.TB, d Disk) *Cluster {
	t.Helper()
	handOver(t, d.Folder)
	if err := os.Chmod(filepath.Dir(d.Folder), 0o711); err != nil { // it must be able to get there
		t.Fatal(err)
	}
	return &Cluster{folder: d.Folder, settings: []string{"-c", "fsync=on", "-c", "max_wal_size=32MB", "-c", "min_wal_size=8MB"}}
}

// Freeze stops the server with all its processes, and waits until they stand
// still.
func (c *Cluster) Freeze(t testing.TB) {
	t.Helper()
	for _, pid := range c.processes(t) {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Errorf("stop process %d of PostgreSQL: %v", pid, err)
		}
		awaitStillness(t, pid)
	}
}

// Kill ends all processes of the server in the hardest way.
func (c *Cluster) Kill(t testing.TB) {
	t.Helper()
	all := c.processes(t)
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-c.exited
	for _, pid := range all {
		Eventually(t, "a process of PostgreSQL is gone", func() bool {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			_, state, _ := strings.Cut(string(text), ") ")
			return err != nil || strings.HasPrefix(state, "Z")
		})
	}
}

// processes are the one that was started, which comes first, and those that it
// started itself.
func (c *Cluster) processes(t testing.TB) []int {
	t.Helper()
	parent := c.server.Process.Pid
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	if err != nil {
		t.Fatal(err)
	}
	all := []int{parent}
	for word := range strings.FieldsSeq(string(text)) {
		pid := 0
		if _, err := fmt.Sscan(word, &pid); err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}
