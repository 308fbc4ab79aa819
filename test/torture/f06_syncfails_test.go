//go:build linux

package torture_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF06_SyncFails lets the sync of a registration, a change and a beat fail, once or
// from then on. What is on the disk then, nobody knows, and a later
// sync that succeeds does not tell: the system has forgotten what it could not
// write. So the server acknowledges nothing any more, and ends; the next one finds a
// file that is sound.
func TestF06_SyncFails(t *testing.T) {
	needStrace(t)
	t.Parallel() // it mostly waits
	db := harness.NewDatabase(t, "sqlite")
	s := harness.Start(t, db)
	load := newLoad(t, s)
	w := newWriter(t, load, s)
	warmUp(t, load, s)
	for i, k := range []kind{register, change, beat} {
		for round := range rounds(1, 4, 12) {
			s = w.failSync(t, s, k, (i+round)%2 == 1)
			load.check(t, s)
		}
	}
	load.checkAll(t, s)
}

// failSync lets the sync of a write fail, and perhaps all that follow, sees the server
// end while many others write, and starts another. Servers also write by themselves,
// such as to renew a lease: which transaction a sync belongs to is told by the pages
// that were written, and this is done until it is the right one.
func (w *writer) failSync(t *testing.T, s *harness.Server, k kind, all bool) (next *harness.Server) {
	t.Helper()
	for began := time.Now(); time.Since(began) < harness.Patience; {
		struck := w.failNextSync(t, s, k, all)
		s = harness.Start(t, s.DB)
		if struck {
			return s
		}
		w.check(t, s)
	}
	t.Fatalf("no sync of a %s failed", k)
	return nil
}

// failNextSync reports whether the sync that failed was that of the write.
func (w *writer) failNextSync(t *testing.T, s *harness.Server, k kind, all bool) (struck bool) {
	t.Helper()
	when := "1"
	if all {
		when += "+"
	}
	began, pages := w.now(), harness.PagesOf(t, s.DB, tables[k])
	trace := harness.FailAt(t, s, harness.Syncs, "EIO", when)
	a := w.write(t.Context(), t, s, k)
	running := w.on(t, s)
	harness.Eventually(t, "a sync failed, and the server goes on", func() bool {
		if s.Runs() && w.wroteSince(w.firstFailure(began)) {
			t.Errorf("the sync of a %s failed, and the server goes on", k)
			s.Kill()
		}
		return !s.Runs()
	})
	running.stop()
	if code := s.Cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("after a sync failed, the server exited with %d: %s", code, harness.Remarks(s.Log(t)))
	}
	w.checkSilence(t, began)
	harness.CheckIntegrity(t, s.DB)
	return trace.FailedIn(pages) && a.Outcome() != harness.Done
}

// firstFailure is when somebody first heard that a write may not be on the disk, of
// those that were begun after a moment.
func (l *load) firstFailure(began time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	heard := unsettled
	for _, o := range l.all() {
		if o.call > began && o.status == http.StatusInternalServerError {
			heard = min(heard, o.heard)
		}
	}
	return heard
}

// checkSilence: once somebody has heard that a write may not be on the disk, no
// write that is begun later is acknowledged.
func (l *load) checkSilence(t *testing.T, began time.Duration) {
	t.Helper()
	heard := l.firstFailure(began)
	for _, o := range l.all() {
		if o.call > heard && o.outcome == harness.Done && slices.Contains(writes, o.kind) {
			t.Errorf("after a sync failed, this was acknowledged: %v", o)
		}
	}
}
