//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/rig/books"
)

// TestF11_SettleKilled kills a settlement in the middle of the transactions that it
// consists of, and between them; on SQLite also at the very system calls with which
// it syncs the file and writes to it. Another then settles the rest, and everyone
// has one statement (I5, I6).
func TestF11_SettleKilled(t *testing.T) {
	rig.Stores(t, func(t *testing.T, db string) {
		closedOctober(t, db)
		points := []string{"hotspot_totals 2", "statements 1", "ready 2"}
		if rounds(0, 1, 1) > 0 {
			points = append(points, "hotspot_totals 1", "hotspot_totals 3", "ready 1", "statements 2")
		}
		for _, point := range points {
			killAtPoint(t, rig.CopyDatabase(t, db), point)
		}
		if !rig.IsPostgres(db) {
			t.Run("calls", func(t *testing.T) { killAtCalls(t, db) })
		}
	})
}

// killAtPoint kills a settlement where it has stopped, and has another settle the
// rest.
func killAtPoint(t *testing.T, db, point string) {
	t.Helper()
	at := newStop(t, point)
	cmd := exec.CommandContext(t.Context(), controlled(t), settleCommand(db)...)
	cmd.Env = append(os.Environ(), at.environment()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	rig.Eventually(t, "the settlement is at "+point, func() bool {
		if len(ended) > 0 {
			t.Fatalf("the settlement ended before it came to %s: %v", point, <-ended)
		}
		return at.reached()
	})
	tables := rig.OpenSQL(t, db)
	written := books.Number(t, tables, `SELECT count(*) FROM statements`)
	tables.Close()
	_ = cmd.Process.Kill()
	<-ended
	if want := map[string]int64{"ready 2": int64(books.Page), "statements 2": int64(books.Page)}[point]; written != want {
		t.Errorf("at %s there are %d statements; want %d", point, written, want)
	}
	checkRest(t, db, point)
}

// checkRest has another settle what one that was killed has left, and wants that
// it left something.
func checkRest(t *testing.T, db, where string) {
	t.Helper()
	if !rig.IsPostgres(db) {
		rig.CheckIntegrity(t, db)
	}
	if said := settleNow(t, db); strings.Contains(said, "nothing to do") {
		t.Errorf("a settlement that was killed at %s had left nothing to do: %s", where, said)
	}
	checkSettled(t, db)
}

// killAtCalls kills settlements at system calls. How many there are is counted
// first. The last of them only tidy the file up, when all is settled; so the kills
// are in the first half.
func killAtCalls(t *testing.T, db string) {
	needStrace(t)
	for _, calls := range []string{"fdatasync,fsync", "pwrite64"} {
		all := countCalls(t, rig.CopyDatabase(t, db), calls)
		kills := min(rounds(1, 4, 30), all/2)
		if kills == 0 {
			t.Fatalf("a settlement does %s %d times", calls, all)
		}
		for i := range kills {
			nth := all / 2 * (i + 1) / kills
			killAtCall(t, rig.CopyDatabase(t, db), calls, nth)
		}
		t.Logf("%d settlements were killed at %s, of which there are %d", kills, calls, all)
	}
}

// countCalls counts the system calls of a settlement that nobody disturbs.
func countCalls(t *testing.T, db, calls string) int {
	t.Helper()
	seen := filepath.Join(t.TempDir(), "calls")
	if out, err := traced(t, db, "-o", seen, "-e", "trace="+calls).CombinedOutput(); err != nil {
		if strings.Contains(string(out), "not permitted") {
			t.Skipf("NOT TESTED: a settlement that is killed at a system call: %s", out)
		}
		t.Fatalf("a settlement under strace: %v %s", err, out)
	}
	text, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	return len(regexp.MustCompile(`(?m)^\d+ +\w+\(`).FindAll(text, -1)) // not those that are "resumed"
}

// traced is a settlement that strace watches.
func traced(t *testing.T, db string, flags ...string) *exec.Cmd {
	args := append([]string{"-f", "-qq", "-e", "signal=none"}, flags...)
	args = append(append(args, controlled(t)), settleCommand(db)...)
	cmd := exec.CommandContext(t.Context(), "strace", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// killAtCall kills a settlement when it enters the n-th of some system calls, and
// has another settle the rest.
func killAtCall(t *testing.T, db, calls string, nth int) {
	t.Helper()
	cmd := traced(t, db, "-o", "/dev/null", "-e", "trace="+calls, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", calls, nth))
	out, err := cmd.CombinedOutput()
	if err == nil || !cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() { // strace ends as its victim did
		t.Errorf("a settlement was not killed at %s %d: %v %s", calls, nth, err, out)
	}
	checkRest(t, db, fmt.Sprint(calls, " ", nth))
}
