//go:build linux

package torture_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// TestF06_SyncFails lets a sync of the disk fail, once or from then on. What is
// on the disk then, nobody knows, and a later sync that succeeds does not tell:
// the system has forgotten what it could not write. So the server acknowledges
// nothing any more, and ends; the next one finds a file that is sound.
func TestF06_SyncFails(t *testing.T) {
	needStrace(t)
	t.Parallel()
	db := rig.NewDatabase(t, "sqlite")
	s := rig.Start(t, db)
	load := newLoad(t, s)
	warmUp(t, load, s)
	for i, nth := range sample(rounds(4, 20), rounds(10, 50)) {
		when := fmt.Sprint(nth)
		if i%2 == 1 {
			when += "+"
		}
		failed := rig.FailAt(t, s, "fdatasync,fsync", "EIO", when)
		running := load.on(t, s)
		select {
		case <-s.Exited:
		case <-time.After(15 * time.Second):
			t.Fatalf("sync %s failed at %v, and the server goes on", when, failed.At())
		}
		running.stop()
		if code := s.Cmd.ProcessState.ExitCode(); code != 1 {
			t.Errorf("after a sync failed, the server exited with %d: %s", code, rig.Remarks(s.Log(t)))
		}
		load.checkSilence(t, failed.At())
		rig.CheckIntegrity(t, db)
		s = rig.Start(t, db)
		load.check(t, s)
	}
	load.checkAll(t, s)
}

// checkSilence: no write that was begun after a moment was acknowledged by the
// server that lived then.
func (l *load) checkSilence(t *testing.T, since time.Time) {
	t.Helper()
	if since.IsZero() {
		t.Error("no sync has failed")
		return
	}
	for _, o := range l.all() {
		writes := o.kind == beat || o.kind == register || o.kind == change
		if writes && o.outcome == rig.Done && l.began.Add(o.call).After(since) {
			t.Errorf("after a sync failed, this was acknowledged: %v", o)
			return
		}
	}
}
