//go:build linux

package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

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
