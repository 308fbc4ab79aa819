//go:build linux

package endtoend_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPowerCut takes the power from a machine under load: what its file system
// had not been told to sync is gone. Whatever devices and people heard of is
// there.
//
// The disk is a file with ext4 in it. While the server is stopped for a moment,
// and with it everything that would write, a copy of that file is what a power
// cut would leave behind.
func TestPowerCut(t *testing.T) {
	disk := newDisk(t)
	db := filepath.Join(disk.folder, "beacon.db")
	admin := newClient(t, createKey(t, db, "admin").Key)
	s := start(t, db)
	devices := linkDevices(t, admin, s, 0, 32)
	people := newHistory(newClient(t, createKey(t, db, "hotspots:write").Key), 1000)
	forgetful := openForgetful(t, disk.folder)
	for range 5 {
		warmUp(t, admin, s, devices, people)
		load := beatFast(t, admin, s, devices)
		load.beating.Go(func() { people.write(t.Context(), s) })
		enough := int64(100 + rand.IntN(500))
		eventually(t, 20*time.Second, "many beats", func() bool { return load.acked.Load() >= enough })
		s.freeze(t)
		forgetful.write(t)
		image := disk.cut(t)
		s.kill()
		load.wait()

		after := image.mount(t)
		forgetful.check(t, after)
		copied := filepath.Join(after, "beacon.db")
		checkIntegrity(t, copied)
		s = start(t, copied)
		checkTraffic(t, devices, admin.readings(t, s))
		people.check(t, s)
		s.kill()
		unmount(t, after)
		s = start(t, db)
	}
	people.report(t)
	t.Logf("without a sync, %d of %d writes would be lost", forgetful.lost, forgetful.written)
	if forgetful.lost == 0 {
		t.Error("a power cut loses nothing here: so it proves nothing")
	}
}

// disk is a file with a file system in it.
type disk struct{ image, folder string }

func newDisk(t *testing.T) disk {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: what a power cut leaves behind; only root may mount a file system to find out")
	}
	d := disk{image: filepath.Join(t.TempDir(), "disk")}
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, 128<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: what a power cut leaves behind; a file system cannot be made: %v %s", err, out)
	}
	d.folder = d.mount(t)
	return d
}

// mount gives a folder with what is on the disk. Of its own accord, the file
// system writes nothing down for a long time.
func (d disk) mount(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "loop,commit=300", d.image, folder).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: what a power cut leaves behind; a file system cannot be mounted: %v %s", err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) }) // if that was not done yet
	return folder
}

func unmount(t testing.TB, folder string) {
	t.Helper()
	if err := syscall.Unmount(folder, 0); err != nil {
		t.Errorf("unmount: %v", err)
	}
}

// cut gives the disk as it would be found after a power cut at this moment.
func (d disk) cut(t testing.TB) disk {
	t.Helper()
	after := disk{image: filepath.Join(t.TempDir(), "disk")}
	if out, err := exec.CommandContext(t.Context(), "cp", "--sparse=always", d.image, after.image).CombinedOutput(); err != nil {
		t.Fatalf("copy the disk: %v %s", err, out)
	}
	return after
}

// freeze stops a process and waits until each of its threads stands still, also
// those that are in the middle of a system call.
func (s *server) freeze(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGSTOP)
	eventually(t, 10*time.Second, "all threads stand still", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", s.cmd.Process.Pid))
		if err != nil || len(threads) == 0 {
			t.Fatalf("no threads: %v", err)
		}
		for _, thread := range threads {
			text, err := os.ReadFile(thread)
			_, state, found := strings.Cut(string(text), ") ")
			if err == nil && (!found || state[0] != 'T') {
				return false
			}
		}
		return true
	})
}

// forgetful is a database on the same disk that does not sync. It shows that the
// disk forgets.
type forgetful struct {
	db            *sql.DB
	written, lost int
}

const forgetfulFile = "forgetful.db"

func openForgetful(t *testing.T, folder string) *forgetful {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, forgetfulFile)+"?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	f := &forgetful{db: db}
	f.exec(t, `CREATE TABLE writes (n integer)`)
	return f
}

func (f *forgetful) exec(t testing.TB, statement string) {
	t.Helper()
	if _, err := f.db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func (f *forgetful) write(t testing.TB) {
	t.Helper()
	for range 20 {
		f.exec(t, `INSERT INTO writes VALUES (1)`)
		f.written++
	}
}

// check counts what a copy of the disk has lost.
func (f *forgetful) check(t testing.TB, folder string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, forgetfulFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	kept := 0
	// Without the table, or with a damaged one, all of it is lost.
	_ = db.QueryRowContext(t.Context(), `SELECT count(*) FROM writes`).Scan(&kept)
	f.lost = max(f.lost, f.written-kept)
}
