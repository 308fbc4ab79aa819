//go:build linux

package torture_test

import (
	"path/filepath"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF03_PowerCut takes the power from a machine under load: what its file
// system had not been told to sync is gone. Whatever devices and people heard of
// is there.
//
// The disk is a file with ext4 in it. While everything that would write is
// stopped for a moment, a copy of that file is what a power cut would leave
// behind. Life goes on with the copy.
func TestF03_PowerCut(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { testPowerCut(t, &fileOnDisk{}, rounds(1, 4, 20)) })
	t.Run("postgres", func(t *testing.T) {
		onlyFull(t)
		testPowerCut(t, &clusterOnDisk{}, 10)
	})
}

// machine is a database on a disk.
type machine interface {
	boot(t *testing.T, d harness.Disk) (db string) // on a disk that is empty, or was cut off
	freeze(t *testing.T)
	kill(t *testing.T)
}

func testPowerCut(t *testing.T, m machine, times int) {
	disk := harness.NewDisk(t)
	s := harness.Start(t, m.boot(t, disk))
	load := newLoad(t, s)
	disk.Sync(t)
	lost := 0
	for range times {
		running := load.on(t, s)
		running.until(100 + load.rng.IntN(500))
		s.Freeze(t)
		m.freeze(t)
		forgetful := harness.WriteForgetful(t, disk)
		after := disk.Cut(t)
		s.Kill()
		m.kill(t)
		running.stop()
		disk.Discard(t)

		disk = after
		lost += forgetful.Lost(t, disk)
		s = harness.Start(t, m.boot(t, disk))
		load.check(t, s)
	}
	load.checkAll(t, s)
	s.Kill()
	m.kill(t)
	t.Logf("without a sync, %d writes would be lost", lost)
	if lost == 0 {
		t.Error("a power cut loses nothing here: so it proves nothing")
	}
}

// fileOnDisk is a SQLite file: the server is all that writes to it.
type fileOnDisk struct{ booted bool }

func (f *fileOnDisk) boot(t *testing.T, d harness.Disk) string {
	t.Helper()
	db := filepath.Join(d.Folder, "beacon.db")
	if f.booted {
		harness.CheckIntegrity(t, db)
	}
	f.booted = true
	return db
}

func (*fileOnDisk) freeze(*testing.T) {}
func (*fileOnDisk) kill(*testing.T)   {}

// clusterOnDisk is a PostgreSQL server.
type clusterOnDisk struct{ *harness.Cluster }

func (c *clusterOnDisk) boot(t *testing.T, d harness.Disk) string {
	t.Helper()
	if c.Cluster == nil {
		c.Cluster = harness.NewClusterOn(t, d)
	} else {
		c.Cluster = harness.ClusterOn(t, d)
	}
	return c.URL()
}

func (c *clusterOnDisk) freeze(t *testing.T) { c.Freeze(t) }
func (c *clusterOnDisk) kill(t *testing.T)   { c.Kill(t) }
