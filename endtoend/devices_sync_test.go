//go:build linux

package endtoend_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// TestDevicesKilledAtSync kills a server at the very system call with which it
// writes to its file or syncs it, the first, the second and so on, while devices
// beat and hotspots are registered. The file is sound, and nothing that was
// acknowledged is lost.
func TestDevicesKilledAtSync(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skipf("NOT TESTED: a kill at the very sync: %v; make test installs strace where it may", err)
	}
	db := filepath.Join(t.TempDir(), "beacon.db")
	admin := rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
	s := rig.Start(t, db)
	devices := rig.LinkDevices(t, admin, s, 0, 12)
	people := newHistory(rig.NewClient(t, rig.CreateKey(t, db, "hotspots:write").Key), 1000)
	warmUp(t, admin, s, devices, people)
	for _, calls := range []string{"fdatasync,fsync", "pwrite64"} {
		for _, nth := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20, 40} {
			rig.KillAt(t, s, calls, nth)
			load := beatFast(t, admin, s, devices)
			load.beating.Go(func() { people.write(t.Context(), s) })
			select {
			case <-s.Exited:
			case <-time.After(20 * time.Second):
				t.Fatalf("the server lives, and made no %s number %d", calls, nth)
			}
			load.wait()
			if status := s.Cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
				t.Fatalf("the server was not killed: %v; its log: %s", s.Cmd.ProcessState, rig.Remarks(s.Log(t)))
			}
			rig.CheckIntegrity(t, db)
			s = rig.Start(t, db)
			rig.CheckTraffic(t, devices, admin.Readings(t, s))
			repeatBeats(t, admin, s, devices)
			rig.CheckTraffic(t, devices, admin.Readings(t, s))
			people.check(t, s)
		}
	}
	people.report(t)
}

// warmUp makes sure that there is something to lose.
func warmUp(t testing.TB, c *rig.Client, s *rig.Server, devices []*rig.Device, people *history) {
	t.Helper()
	for _, d := range devices {
		d.Beat(t.Context(), c, s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() { people.write(ctx, s) })
	first := people.next.Load()
	rig.Eventually(t, 10*time.Second, "registrations", func() bool { return people.next.Load() > first+5 })
	cancel()
	writing.Wait()
}
