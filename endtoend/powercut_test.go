//go:build linux

package endtoend_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// TestPowerCut takes the power from a machine under load: what its file system
// had not been told to sync is gone. Whatever devices and people heard of is
// there.
//
// The disk is a file with ext4 in it. While the server is stopped for a moment,
// and with it everything that would write, a copy of that file is what a power
// cut would leave behind.
func TestPowerCut(t *testing.T) {
	disk := rig.NewDisk(t)
	db := filepath.Join(disk.Folder, "beacon.db")
	admin := rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
	s := rig.Start(t, db)
	devices := rig.LinkDevices(t, admin, s, 0, 32)
	people := newHistory(rig.NewClient(t, rig.CreateKey(t, db, "hotspots:write").Key), 1000)
	forgetful := rig.OpenForgetful(t, disk.Folder)
	for range 5 {
		warmUp(t, admin, s, devices, people)
		load := beatFast(t, admin, s, devices)
		load.beating.Go(func() { people.write(t.Context(), s) })
		enough := int64(100 + rand.IntN(500))
		rig.Eventually(t, 20*time.Second, "many beats", func() bool { return load.acked.Load() >= enough })
		s.Freeze(t)
		forgetful.Write(t)
		image := disk.Cut(t)
		s.Kill()
		load.wait()

		after := image.Mount(t)
		forgetful.Check(t, after)
		copied := filepath.Join(after, "beacon.db")
		rig.CheckIntegrity(t, copied)
		s = rig.Start(t, copied)
		rig.CheckTraffic(t, devices, admin.Readings(t, s))
		people.check(t, s)
		s.Kill()
		rig.Unmount(t, after)
		s = rig.Start(t, db)
	}
	people.report(t)
	t.Logf("without a sync, %d of %d writes would be lost", forgetful.Lost, forgetful.Written)
	if forgetful.Lost == 0 {
		t.Error("a power cut loses nothing here: so it proves nothing")
	}
}
