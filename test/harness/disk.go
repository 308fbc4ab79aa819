//go:build linux

package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// Disk is a file with a file system in it. Of its own accord, that writes nothing
// down for a long time.
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
	var err error
	if d.Folder, err = mount(t, "loop,commit=300", d.image); err != nil {
		t.Skipf("NOT TESTED: what a power cut leaves behind; %v", err)
	}
	return d
}

// mount mounts something in a folder of its own.
func mount(t *testing.T, options, what string, more ...string) (folder string, err error) {
	t.Helper()
	folder = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", append(more, "-o", options, what, folder)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("a file system cannot be mounted: %w %s", err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) }) // if that was not done yet
	return folder, nil
}

// Sync writes down what a test has prepared: that is not what may be lost.
func (d Disk) Sync(t testing.TB) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "sync", "--file-system", d.Folder).CombinedOutput(); err != nil {
		t.Fatalf("sync the disk: %v %s", err, out)
	}
}

// Cut gives the disk as it would be found after a power cut at this moment.
func (d Disk) Cut(t *testing.T) Disk {
	t.Helper()
	after := Disk{image: filepath.Join(t.TempDir(), "disk")}
	if out, err := exec.CommandContext(t.Context(), "cp", "--sparse=always", d.image, after.image).CombinedOutput(); err != nil {
		t.Fatalf("copy the disk: %v %s", err, out)
	}
	var err error
	if after.Folder, err = mount(t, "loop,commit=300", after.image); err != nil {
		t.Fatal(err)
	}
	return after
}

// Discard takes a disk that nobody uses any more away.
func (d Disk) Discard(t testing.TB) {
	t.Helper()
	if err := syscall.Unmount(d.Folder, 0); err != nil {
		t.Errorf("unmount: %v", err)
	}
	if err := os.Remove(d.image); err != nil {
		t.Error(err)
	}
}

// forgetfulRows is how much a Forgetful writes.
const forgetfulRows = 20

// Forgetful is a database on a disk that does not sync what it wrote. It shows
// that the disk forgets.
type Forgetful struct{ name string }

// WriteForgetful makes the database on a disk.
func WriteForgetful(t testing.TB, d Disk) Forgetful {
	t.Helper()
	f := Forgetful{fmt.Sprintf("forgetful-%d.db", time.Now().UnixNano())}
	db := OpenSQL(t, filepath.Join(d.Folder, f.name)+"?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&")
	defer db.Close()
	for _, statement := range append([]string{`CREATE TABLE writes (n integer)`}, slices.Repeat([]string{`INSERT INTO writes VALUES (1)`}, forgetfulRows)...) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// Lost counts the rows that a disk has lost of it.
func (f Forgetful) Lost(t testing.TB, d Disk) int {
	t.Helper()
	db := OpenSQL(t, filepath.Join(d.Folder, f.name))
	defer db.Close()
	kept := 0
	// Without the table, or with a damaged one, all of it is lost.
	_ = db.QueryRowContext(t.Context(), `SELECT count(*) FROM writes`).Scan(&kept)
	return forgetfulRows - kept
}

// Room is a folder with room for few files.
type Room struct{ Folder string }

// NewRoom makes a room of some megabytes; it skips the test where that is not
// allowed.
func NewRoom(t *testing.T, megabytes int) Room {
	t.Helper()
	folder, err := mount(t, fmt.Sprintf("size=%dm", megabytes), "tmpfs", "-t", "tmpfs")
	if err != nil {
		t.Skipf("NOT TESTED: what happens on a full disk; %v", err)
	}
	return Room{folder}
}

func (r Room) filler() string { return filepath.Join(r.Folder, "filler") }

// Fill takes all the room that is left.
func (r Room) Fill(t testing.TB) {
	t.Helper()
	file, err := os.Create(r.filler())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk cannot be filled: %v", err)
	}
}

// Free gives the room back.
func (r Room) Free(t testing.TB) {
	t.Helper()
	if err := os.Remove(r.filler()); err != nil {
		t.Fatal(err)
	}
}
