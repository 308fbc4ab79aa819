//go:build linux

package torture_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF06_SyncFails lets the sync of a registration, a change, a beat and a fold
// fail, once or from then on. What is on the disk then, nobody knows, and a later
// sync that succeeds does not tell: the system has forgotten what it could not
// write. So the server acknowledges nothing any more, and ends; the next one finds a
// file that is sound.
func TestF06_SyncFails(t *testing.T) {
	needStrace(t)
	t.Parallel() // it mostly waits
	db := harness.NewDatabase(t, "sqlite")
	s := harness.Start(t, db)
	load := newLoad(t, s)
	w := &writer{load: load, spot: load.reserve(t, s)}
	warmUp(t, load, s)
	clock := func() []string { return nil }
	for i, k := range []kind{register, change, beat, fold} {
		if k == fold {
			clock = hurriedClock()
			s.Stop(t) // in order: the next one may fold at once
			s = harness.Start(t, db, clock()...)
		}
		for round := range rounds(1, 2, 8) {
			w.failSync(t, s, k, (i+round)%2 == 1)
			harness.CheckIntegrity(t, db)
			s = harness.Start(t, db, clock()...)
			load.check(t, s)
		}
	}
	load.checkAll(t, s)
}

// failSync lets the sync of a write fail, and perhaps all that follow, and sees the
// server end. Many others write meanwhile.
func (w *writer) failSync(t *testing.T, s *harness.Server, k kind, all bool) {
	t.Helper()
	began := w.now()
	held, answered := w.hold(t, s, k)
	held.FailSync(t, all)
	running := w.on(t, s)
	held.Continue(t)
	harness.Eventually(t, "the sync of a "+string(k)+" failed, and the server goes on", func() bool {
		if k != fold && !all && s.Runs() && w.wroteSince(w.firstFailure(began)) {
			t.Errorf("the sync of a %s failed, and the server goes on", k)
			s.Kill()
		}
		return !s.Runs()
	})
	running.stop()
	if a := <-answered; k != fold && a.Outcome() != harness.Unknown && k != beat {
		t.Errorf("the sync of a %s failed; it was answered %d %s %v", k, a.Status, a.Code, a.Err)
	}
	if code := s.Cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("after the sync of a %s failed, the server exited with %d: %s", k, code, harness.Remarks(s.Log(t)))
	}
	w.checkSilence(t, began)
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
