//go:build linux

package torture_test

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// TestF02_KillAtSync kills a server at the very system call with which it writes
// to its file or syncs it, the first, the second and so on, while hotspots are
// registered, changed, or heard of, and while what was heard is folded into the
// records. The file is sound, and nothing that was acknowledged is lost.
func TestF02_KillAtSync(t *testing.T) {
	needStrace(t)
	t.Parallel()
	db := rig.NewDatabase(t, "sqlite")
	clock := hurriedClock()
	s := rig.Start(t, db, clock()...)
	load := newLoad(t, s)
	warmUp(t, load, s)
	for _, work := range [][]share{{{register, 100}}, {{change, 100}}, {{beat, 100}}} {
		for _, calls := range []string{"fdatasync,fsync", "pwrite64"} {
			for _, nth := range load.sample(rounds(2, 2, 12), rounds(12, 12, 60)) {
				load.mix = work
				killAt(t, load, s, calls, nth)
				rig.CheckIntegrity(t, db)
				s = rig.Start(t, db, clock()...)
				load.check(t, s)
			}
		}
	}
	load.mix = mix
	load.checkAll(t, s)
}

// needStrace skips a test where there is none.
func needStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skipf("NOT TESTED: what happens at single system calls: %v; make torture installs strace where it may", err)
	}
}

// hurry is how much faster than ours a hurried clock runs: what is done every few
// minutes is then done every second.
const hurry = 300

// hurriedClock gives the flags of such a clock, which goes on from one start to
// the next.
func hurriedClock() (flags func() []string) { return rig.NewClock(time.Now().UTC(), hurry).Flags }

// sample chooses some of the numbers from 1 on, always the first.
func (l *load) sample(count, upTo int) []int {
	list := []int{1}
	for _, n := range l.rng.Perm(upTo - 1)[:count-1] {
		list = append(list, n+2)
	}
	return list
}

// warmUp makes sure that there is something to lose, of every kind.
func warmUp(t *testing.T, load *load, s *rig.Server) {
	t.Helper()
	running := load.on(t, s)
	running.until(300)
	running.stop()
	load.check(t, s)
}

// killAt lets a server work until it dies of its n-th system call of a kind.
func killAt(t *testing.T, load *load, s *rig.Server, calls string, nth int) {
	t.Helper()
	rig.KillAt(t, s, calls, nth)
	running := load.on(t, s)
	select {
	case <-s.Exited:
	case <-time.After(time.Minute):
		t.Fatalf("the server lives, and made no %s number %d", calls, nth)
	}
	running.stop()
	if status := s.Cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Fatalf("the server was not killed: %v; its log: %s", s.Cmd.ProcessState, rig.Remarks(s.Log(t)))
	}
}
