//go:build linux

package torture_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF05_DiskFull fills the disk under load, and frees it again. Meanwhile
// writes are refused in the documented shape, reads go on, and nothing crashes;
// with room again so do writes, without a restart.
func TestF05_DiskFull(t *testing.T) {
	t.Parallel()
	room := harness.NewRoom(t, 24)
	db := filepath.Join(room.Folder, "beacon.db")
	s := harness.Start(t, db)
	load := newLoad(t, s)
	for range rounds(1, 2, 20) {
		running := load.on(t, s)
		running.until(100)
		room.Fill(t)
		full := load.now()
		harness.Eventually(t, "writes are refused, and reads go on", func() bool {
			refused, reads := load.since(full)
			return refused > 50 && reads > 50
		})
		harness.Eventually(t, "/readyz sends clients elsewhere", func() bool { return readiness(t, s) == http.StatusServiceUnavailable })
		freed := load.now()
		room.Free(t)
		harness.Eventually(t, "there is room, and writes go on", func() bool { return load.wroteSince(freed) })
		harness.Eventually(t, "/readyz takes clients again", func() bool { return readiness(t, s) == http.StatusOK })
		running.stop()
		s.Running(t)
		load.checkFull(t, full, freed)
		load.check(t, s)
	}
	s.Kill()
	s = harness.Start(t, db)
	load.checkAll(t, s)
	s.Kill()
}

// readiness returns the status of /readyz.
func readiness(t *testing.T, s *harness.Server) int {
	t.Helper()
	response, err := http.Get(s.URL + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

var writes = []kind{beat, register, change}

// since counts writes that were refused and reads that were answered after a
// moment.
func (l *load) since(moment time.Duration) (refused, reads int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.all() {
		switch write := slices.Contains(writes, o.kind); {
		case o.call < moment:
		case write && o.status >= http.StatusInternalServerError:
			refused++
		case !write && o.outcome == harness.Done:
			reads++
		}
	}
	return refused, reads
}

// wroteSince tells whether writes of every kind were acknowledged after a moment.
func (l *load) wroteSince(moment time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	missing := slices.Clone(writes)
	for _, o := range l.all() {
		if o.call >= moment && o.outcome == harness.Done {
			missing = slices.DeleteFunc(missing, func(k kind) bool { return k == o.kind })
		}
	}
	return len(missing) == 0
}

// checkFull: while the disk was full, every read was answered, and every write
// was done or refused with a status that says so.
func (l *load) checkFull(t *testing.T, full, freed time.Duration) {
	t.Helper()
	for _, o := range l.all() {
		if o.call < full || o.end > freed || o.client == checker {
			continue
		}
		taken := o.status == http.StatusConflict && o.kind == register
		refused := o.status == http.StatusServiceUnavailable || o.status == http.StatusInternalServerError
		if ok := o.outcome == harness.Done || slices.Contains(writes, o.kind) && (refused || taken); !ok {
			t.Errorf("on a full disk: %v", o)
		}
	}
}
