//go:build linux

package torture_test

import (
	"fmt"
	"net/http"
	"slices"
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
	for i, nth := range load.sample(rounds(4, 4, 20), rounds(10, 10, 50)) {
		when := fmt.Sprint(nth)
		if i%2 == 1 {
			when += "+"
		}
		rig.FailAt(t, s, "fdatasync,fsync", "EIO", when)
		began := load.now()
		running := load.on(t, s)
		select {
		case <-s.Exited:
		case <-time.After(15 * time.Second):
			t.Fatalf("sync %s failed, and the server goes on", when)
		}
		running.stop()
		if code := s.Cmd.ProcessState.ExitCode(); code != 1 {
			t.Errorf("after a sync failed, the server exited with %d: %s", code, rig.Remarks(s.Log(t)))
		}
		load.checkSilence(t, began)
		rig.CheckIntegrity(t, db)
		s = rig.Start(t, db)
		load.check(t, s)
	}
	load.checkAll(t, s)
}

// checkSilence: once somebody has heard that a write may not be on the disk, no
// write that is begun later is acknowledged.
func (l *load) checkSilence(t *testing.T, began time.Duration) {
	t.Helper()
	heard := unsettled
	for _, o := range l.all() {
		if o.call > began && o.status == http.StatusInternalServerError {
			heard = min(heard, o.heard)
		}
	}
	for _, o := range l.all() {
		if o.call > heard && o.outcome == rig.Done && slices.Contains(writes, o.kind) {
			t.Errorf("after a sync failed, this was acknowledged: %v", o)
		}
	}
}
