//go:build linux

package torture_test

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/beacon-wifi/beacon/rig"
)

// TestF11_SettleKilled kills a settlement at the very system call with which it
// syncs the file, writes to it, or asks the database server: at the first, the
// second, and so on, until one comes to its end. Another then settles the rest,
// and everyone has one statement (I5, I6).
func TestF11_SettleKilled(t *testing.T) {
	needStrace(t)
	rig.Stores(t, func(t *testing.T, db string) {
		closedOctober(t, db)
		calls := []string{"fdatasync,fsync", "pwrite64"}
		if rig.IsPostgres(db) {
			calls = []string{"write"}
		}
		for _, kind := range calls {
			killed, unfinished := 0, 0
			for nth := rounds(3, 3, 1); killAtCall(t, rig.CopyDatabase(t, db), kind, nth, &unfinished); nth += step(kind, nth) {
				if killed++; killed == rounds(2, 2, 30) {
					break
				}
			}
			t.Logf("%d settlements were killed at %s, %d of them with something to do for the next", killed, kind, unfinished)
			if killed == 0 || unfinished == 0 {
				t.Errorf("no settlement was killed in the midst of %s", kind)
			}
		}
	})
}

// step is how far it is to the next system call at which a settlement is killed.
func step(kind string, nth int) int {
	if kind == "fdatasync,fsync" {
		return 1
	}
	return rounds(4, 4, 1+nth/20)
}

// killAtCall reports whether a settlement was killed at a system call, and not
// done before it made it. It has the next settle the rest.
func killAtCall(t *testing.T, db, calls string, nth int, unfinished *int) (killed bool) {
	t.Helper()
	args := append([]string{
		"-f", "-qq", "-o", "/dev/null", "-e", "trace=" + calls, "-e", "signal=none",
		"-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", calls, nth), rig.Binary,
	}, settleCommand(db)...)
	cmd := exec.CommandContext(t.Context(), "strace", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "not permitted") {
		t.Skipf("NOT TESTED: a settlement that is killed at a system call: %s", out)
	}
	killed = err != nil && cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() // strace ends as its victim did
	if err != nil && !killed {
		t.Errorf("a settlement failed: %v %s", err, out)
	}
	if !rig.IsPostgres(db) {
		rig.CheckIntegrity(t, db)
	}
	if said := rig.Command(t, settleCommand(db)...); !strings.Contains(said, "nothing to do") {
		*unfinished++
	}
	checkSettled(t, db)
	return killed
}
