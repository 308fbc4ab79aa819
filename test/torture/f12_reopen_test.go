//go:build linux

package torture_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestF12_Reopen lets a clock that is three days ahead close days, which staff open
// again beside a running server once it is right. One that is killed meanwhile has done
// nothing. Devices then earn on those days, every check of the books passes, and so
// does the statement of the month.
func TestF12_Reopen(t *testing.T) {
	level.Needs(t, level.Check)
	harness.Stores(t, func(t *testing.T, db string) {
		w := newWrongClock(t, db)
		right := w.clock.Now()
		w.closeAhead(t, right.Add(3*day))
		w.clock.hold(t, right.Add(time.Hour))
		w.start(t)
		before := audit.Fingerprint(t, w.tables)
		for _, point := range []string{"corrections 1", "user_months 1"} {
			w.killReopening(t, point)
			if audit.Fingerprint(t, w.tables) != before {
				t.Fatalf("a reopening that was killed at %s has changed the books", point)
			}
		}
		said := w.reopen(t)
		if audit.Fingerprint(t, w.tables) != before || !strings.Contains(said, "this would open 3 days again: 2026-11-10 to 2026-11-12") {
			t.Errorf("looking at it changed the books, or it said %s", said)
		}
		if said = w.reopen(t, "--confirm"); !strings.Contains(said, "opened 3 days again") {
			t.Errorf("it said %s", said)
		}
		if said := w.clock.Command(t, "audit", "--db", db); !strings.Contains(said, "rewards.reopened") {
			t.Errorf("the audit says %s", said)
		}
		w.sound(t)
		w.goOn(t, "2026-11-10")
		carried := w.goOn(t, "2026-11-11")
		if counted := audit.Number(t, w.tables, `SELECT CAST(sum(bytes) AS bigint) FROM ledger_again`); counted < int64(carried) {
			t.Errorf("%d bytes are counted; %d had been sent; the rows are %q", counted, carried,
				audit.Lines(t, w.tables, `SELECT day, revision, served, expected, excused, bytes FROM ledger UNION ALL
					SELECT day, revision, served, expected, excused, bytes FROM ledger_again`))
		}
		w.sound(t)
		w.server.Stop(t)
		w.checkNovember(t)
	})
}

// closeAhead lets a server close days by a wrong clock that staff have confirmed.
func (w *wrongClock) closeAhead(t *testing.T, wrong time.Time) {
	t.Helper()
	w.server.Stop(t)
	audit.ConfirmDate(t, w.db, wrong)
	w.clock.run(t, wrong, wrong.Add(6*time.Hour))
	w.start(t)
	harness.Eventually(t, "three days are closed", func() bool {
		w.beat(t)
		return w.closed(t) >= 3
	})
	w.server.Stop(t)
}

func (w *wrongClock) reopenCommand(more ...string) []string {
	return append([]string{"rewards", "reopen", "--db", w.db, "--from", "2026-11-10", "--clock-start", w.clock.Now().Format(time.RFC3339)}, more...)
}

func (w *wrongClock) reopen(t *testing.T, more ...string) string {
	t.Helper()
	return harness.Command(t, w.reopenCommand(more...)...)
}

// killReopening kills one in the middle of its transaction.
func (w *wrongClock) killReopening(t *testing.T, point string) {
	t.Helper()
	r := race(t, point, w.reopenCommand("--confirm"))
	harness.Eventually(t, "the reopening is at "+point, func() bool { return r.waits(t) })
	_ = r.Process.Kill()
	if !r.wasKilled(t) {
		t.Errorf("a reopening was not killed at %s", point)
	}
}

// checkNovember closes and settles the month, and verifies its statement as its owner
// would.
func (w *wrongClock) checkNovember(t *testing.T) {
	t.Helper()
	december := time.Date(2026, 12, 1, 0, 10, 0, 0, time.UTC)
	audit.CloseAll(t, harness.Program{Binary: harness.Binary}, w.db, audit.DayOf(december)-1)
	harness.Command(t, "rewards", "settle", "--db", w.db, "--month", "2026-11", "--force", "--clock-start", december.Add(12*time.Hour).Format(time.RFC3339))
	w.sound(t)
	clock := harness.NewClock(december.Add(day), 1)
	s := harness.Start(t, w.db, clock.Flags()...)
	user := audit.Users(t, w.tables, 1)[0]
	answer := w.staff.Do(t.Context(), "GET", s.URL+"/v1/users/"+user+"/rewards/statements/2026-11", nil)
	if answer.Status != 200 {
		t.Fatalf("the statement is answered %d %s", answer.Status, answer.Code)
	}
	file := filepath.Join(t.TempDir(), "2026-11.json")
	if err := os.WriteFile(file, answer.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := harness.Command(t, "rewards", "verify", file); !strings.Contains(said, "1 correction") {
		t.Errorf("it said %s", said)
	}
	audit.Compare(t, w.staff, s, w.tables, user)
	s.Stop(t)
}

// sound wants the doctor to find nothing wrong.
func (w *wrongClock) sound(t *testing.T) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), harness.Binary, "doctor", "--db", w.db).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if err == nil || strings.HasPrefix(line, "ok") || strings.Contains(line, " settings ") { // PostgreSQL does not sync in tests
			continue
		}
		if fields := strings.Fields(line); len(fields) > 0 && !strings.HasPrefix(line, " ") && fields[0] != "beacon:" && fields[0] != "checking" { // which a slow machine is told
			t.Errorf("doctor: %v\n%s", err, out)
			return
		}
	}
}
