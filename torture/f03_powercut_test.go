//go:build linux

package torture_test

import (
	"path/filepath"
	"testing"

	"github.com/beacon-wifi/beacon/rig"
)

// TestF03_PowerCut takes the power from a machine under load: what its file
// system had not been told to sync is gone. Whatever devices and people heard of
// is there.
//
// The disk is a file with ext4 in it. While the server is stopped for a moment,
// and with it everything that would write, a copy of that file is what a power
// cut would leave behind. Life goes on with the copy.
func TestF03_PowerCut(t *testing.T) {
	t.Parallel()
	disk := rig.NewDisk(t)
	s := rig.Start(t, filepath.Join(disk.Folder, "beacon.db"))
	load := newLoad(t, s)
	disk.Sync(t)
	lost := 0
	for range rounds(4, 20) {
		running := load.on(t, s)
		running.until(100 + load.rng.IntN(500))
		s.Freeze(t)
		forgetful := rig.WriteForgetful(t, disk)
		after := disk.Cut(t)
		s.Kill()
		running.stop()
		disk.Discard(t)

		disk = after
		lost += forgetful.Lost(t, disk)
		db := filepath.Join(disk.Folder, "beacon.db")
		rig.CheckIntegrity(t, db)
		s = rig.Start(t, db)
		load.check(t, s)
	}
	load.checkAll(t, s)
	s.Kill()
	t.Logf("without a sync, %d writes would be lost", lost)
	if lost == 0 {
		t.Error("a power cut loses nothing here: so it proves nothing")
	}
}
