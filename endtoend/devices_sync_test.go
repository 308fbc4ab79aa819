//go:build linux

package endtoend_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
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
	admin := newClient(t, createKey(t, db, "admin").Key)
	s := start(t, db)
	devices := linkDevices(t, admin, s, 0, 12)
	people := newHistory(newClient(t, createKey(t, db, "hotspots:write").Key), 1000)
	warmUp(t, admin, s, devices, people)
	for _, calls := range []string{"fdatasync,fsync", "pwrite64"} {
		for _, nth := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20, 40} {
			killAt(t, s, calls, nth)
			load := beatFast(t, admin, s, devices)
			load.beating.Go(func() { people.write(t.Context(), s) })
			select {
			case <-s.exited:
			case <-time.After(20 * time.Second):
				t.Fatalf("the server lives, and made no %s number %d", calls, nth)
			}
			load.wait()
			if status := s.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
				t.Fatalf("the server was not killed: %v; its log: %s", s.cmd.ProcessState, remarks(s.log(t)))
			}
			checkIntegrity(t, db)
			s = start(t, db)
			checkTraffic(t, devices, admin.readings(t, s))
			repeatBeats(t, admin, s, devices)
			checkTraffic(t, devices, admin.readings(t, s))
			people.check(t, s)
		}
	}
	people.report(t)
}

// warmUp makes sure that there is something to lose.
func warmUp(t testing.TB, c *client, s *server, devices []*device, people *history) {
	t.Helper()
	for _, d := range devices {
		d.beat(t.Context(), c, s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() { people.write(ctx, s) })
	first := people.next.Load()
	eventually(t, 10*time.Second, "registrations", func() bool { return people.next.Load() > first+5 })
	cancel()
	writing.Wait()
}

// killAt lets a process be killed when it enters the n-th of some system calls.
func killAt(t testing.TB, s *server, calls string, n int) {
	t.Helper()
	tracer := exec.Command("strace", "-f", "-p", fmt.Sprint(s.cmd.Process.Pid),
		"-e", "trace="+calls, "-e", "signal=none", "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", calls, n))
	tracer.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	says, err := tracer.StderrPipe()
	if err == nil {
		err = tracer.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(says)
	attached := false
	for !attached && lines.Scan() {
		attached = strings.Contains(lines.Text(), "attached")
		if strings.Contains(lines.Text(), "not permitted") {
			t.Skipf("NOT TESTED: a kill at the very sync; strace may not watch processes here: %s", lines.Text())
		}
	}
	if !attached {
		t.Fatalf("strace cannot attach to the server: %v", tracer.Wait())
	}
	read := make(chan struct{})
	go func() { // or it would stop for want of a reader
		defer close(read)
		for lines.Scan() {
		}
	}()
	t.Cleanup(func() {
		_ = tracer.Process.Kill()
		<-read
		_ = tracer.Wait() // it ends as its victim did
	})
}

// checkIntegrity has SQLite look through its whole file.
func checkIntegrity(t testing.TB, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the integrity check says %s, %v", verdict, err)
	}
}
