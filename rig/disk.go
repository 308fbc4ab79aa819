//go:build linux

package rig

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Disk is a file with a file system in it.
type Disk struct{ image, Folder string }

// NewDisk makes a disk and mounts it; it skips the test where that is not allowed.
func NewDisk(t *testing.T) Disk {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: what a power cut leaves behind; only root may mount a file system to find out")
	}
	d := Disk{image: filepath.Join(t.TempDir(), "disk")}
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, 128<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: what a power cut leaves behind; a file system cannot be made: %v %s", err, out)
	}
	d.Folder = d.Mount(t)
	return d
}

// Mount gives a folder with what is on the disk. Of its own accord, the file
// system writes nothing down for a long time.
func (d Disk) Mount(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "loop,commit=300", d.image, folder).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: what a power cut leaves behind; a file system cannot be mounted: %v %s", err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) }) // if that was not done yet
	return folder
}

// Unmount takes a folder off its disk.
func Unmount(t testing.TB, folder string) {
	t.Helper()
	if err := syscall.Unmount(folder, 0); err != nil {
		t.Errorf("unmount: %v", err)
	}
}

// Cut gives the disk as it would be found after a power cut at this moment.
func (d Disk) Cut(t testing.TB) Disk {
	t.Helper()
	after := Disk{image: filepath.Join(t.TempDir(), "disk")}
	if out, err := exec.CommandContext(t.Context(), "cp", "--sparse=always", d.image, after.image).CombinedOutput(); err != nil {
		t.Fatalf("copy the disk: %v %s", err, out)
	}
	return after
}

// Forgetful is a database on the same disk that does not sync. It shows that the
// disk forgets.
type Forgetful struct {
	db            *sql.DB
	Written, Lost int
}

const forgetfulFile = "forgetful.db"

// OpenForgetful makes the database in a folder of the disk.
func OpenForgetful(t *testing.T, folder string) *Forgetful {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, forgetfulFile)+"?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	f := &Forgetful{db: db}
	f.exec(t, `CREATE TABLE writes (n integer)`)
	return f
}

func (f *Forgetful) exec(t testing.TB, statement string) {
	t.Helper()
	if _, err := f.db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// Write writes some rows, which are not synced.
func (f *Forgetful) Write(t testing.TB) {
	t.Helper()
	for range 20 {
		f.exec(t, `INSERT INTO writes VALUES (1)`)
		f.Written++
	}
}

// Check counts what a copy of the disk has lost.
func (f *Forgetful) Check(t testing.TB, folder string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, forgetfulFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	kept := 0
	// Without the table, or with a damaged one, all of it is lost.
	_ = db.QueryRowContext(t.Context(), `SELECT count(*) FROM writes`).Scan(&kept)
	f.Lost = max(f.Lost, f.Written-kept)
}
