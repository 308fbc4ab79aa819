//go:build linux

package endtoend_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/beacon-wifi/beacon/rig"
)

// TestDiskFull: files may not grow any further, as on a full disk. Writes are
// refused in the documented shape, reads go on, nothing crashes, and with room
// again so do writes; what was acknowledged is there after a restart too.
func TestDiskFull(t *testing.T) {
	db := filepath.Join(t.TempDir(), "beacon.db")
	s := rig.Start(t, db)
	c := rig.NewClient(t, rig.CreateKey(t, db, "hotspots:write").Key)
	acknowledged := map[string]bool{}
	n := 0
	register := func() rig.Answer {
		a := c.Register(t.Context(), s, n)
		if a.Outcome() == rig.Done {
			acknowledged[fmt.Sprintf("net-%d", n)] = true
		}
		n++
		return a
	}
	for range 50 {
		register()
	}
	wal, err := os.Stat(db + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	limitFileSize(t, s, uint64(wal.Size())+200<<10) // soon
	before := len(acknowledged)
	full := 0
	for full < 30 {
		switch a := register(); {
		case a.Status == http.StatusServiceUnavailable, a.Status == http.StatusInternalServerError:
			full++
		case a.Status != http.StatusCreated || n > 5000:
			t.Fatalf("registration %d answered %d %s %v", n, a.Status, a.Code, a.Err)
		}
	}
	if len(acknowledged) == before {
		t.Error("the disk was full from the start, so that it did not fill up under load")
	}
	if a := c.Do(t.Context(), http.MethodGet, s.URL+"/v1/hotspots/nearby?status=all&lat=40&lng=-74", nil); a.Status != http.StatusOK {
		t.Errorf("nearby on a full disk: %d %s", a.Status, a.Code)
	}
	if owned := c.Owned(t, s); len(owned) < len(acknowledged) {
		t.Errorf("%d hotspots can be read on a full disk; %d were acknowledged", len(owned), len(acknowledged))
	}
	s.Running(t)

	limitFileSize(t, s, unlimited)
	rig.Eventually(t, 5*time.Second, "registrations succeed once there is room", func() bool { return register().Status == http.StatusCreated })
	s.Kill()
	s = rig.Start(t, db)
	owned := c.Owned(t, s)
	for ssid := range acknowledged {
		if _, there := owned[ssid]; !there {
			t.Errorf("%s was acknowledged and is lost", ssid)
		}
	}
	t.Logf("%d registrations were acknowledged, %d refused on a full disk, %d are there", len(acknowledged), full, len(owned))
	c.Converges(t, s, rig.Truth(t, rig.OpenStore(t, db)), n, 2*time.Second)
}

const unlimited = ^uint64(0)

// limitFileSize sets RLIMIT_FSIZE of a running process.
func limitFileSize(t testing.TB, s *rig.Server, bytes uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: bytes, Max: unlimited}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(s.Cmd.Process.Pid), syscall.RLIMIT_FSIZE,
		uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		t.Fatalf("prlimit: %v", errno)
	}
}
