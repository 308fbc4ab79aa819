//go:build linux

package torture_test

import (
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
)

// TestF11_SettleKilled kills a settlement in the middle of the transactions that it
// consists of, and between them; on SQLite also when it is about to write or to sync
// what a COMMIT writes. Another then settles the rest, and everyone has one statement
// (I5, I6).
func TestF11_SettleKilled(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		closedOctober(t, db)
		points, commits := []string{"hotspot_totals 2", "statements 1", "ready 2"}, []string{"statements 1"}
		if rounds(0, 1, 1) > 0 {
			points = append(points, "hotspot_totals 1", "hotspot_totals 3", "ready 1", "statements 2")
			commits = append(commits, "hotspot_totals 1", "hotspot_totals 2", "hotspot_totals 3")
		}
		for _, point := range points {
			killAtPoint(t, harness.CopyDatabase(t, db), point)
		}
		if harness.IsPostgres(db) {
			return
		}
		t.Run("calls", func(t *testing.T) {
			needStrace(t)
			for _, point := range commits {
				for _, calls := range []string{"pwrite64", "fdatasync,fsync"} {
					killAtCall(t, harness.CopyDatabase(t, db), point, calls)
				}
			}
		})
	})
}

// killAtPoint kills a settlement where it has stopped, and has another settle the
// rest.
func killAtPoint(t *testing.T, db, point string) {
	t.Helper()
	r := startRacer(t, db, point)
	harness.Eventually(t, "the settlement is at "+point, func() bool { return r.waits(t) })
	tables := harness.OpenSQL(t, db)
	written := audit.Number(t, tables, `SELECT count(*) FROM statements`)
	tables.Close()
	_ = r.Process.Kill()
	if !r.wasKilled(t) {
		t.Errorf("a settlement was not killed at %s", point)
	}
	if want := map[string]int64{"ready 2": int64(audit.Page), "statements 2": int64(audit.Page)}[point]; written != want {
		t.Errorf("at %s there are %d statements; want %d", point, written, want)
	}
	checkRest(t, db, point)
}

// killAtCall kills a settlement at the first of some system calls after a point: it
// is one of the COMMIT that follows. (strace counts the calls of each thread by
// itself: only the first of all is certain.)
func killAtCall(t *testing.T, db, point, calls string) {
	t.Helper()
	r := startRacer(t, db, point)
	harness.Eventually(t, "the settlement is at "+point, func() bool { return r.waits(t) })
	harness.KillAt(t, &harness.Server{Cmd: r.Cmd}, calls, 1)
	r.release(t)
	if !r.wasKilled(t) {
		t.Errorf("a settlement was not killed at %s after %s", calls, point)
	}
	checkRest(t, db, calls+" after "+point)
}

// checkRest has another settle what one that was killed has left, and wants that
// it left something.
func checkRest(t *testing.T, db, where string) {
	t.Helper()
	if !harness.IsPostgres(db) {
		harness.CheckIntegrity(t, db)
	}
	if said := settleNow(t, db); strings.Contains(said, "nothing to do") {
		t.Errorf("a settlement that was killed at %s had left nothing to do: %s", where, said)
	}
	checkSettled(t, db)
}
