//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// lockFile locks a file until it is closed, and reports whether nobody else has.
func lockFile(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// deadManSwitch is the byte of the shared memory that every process locks while it has
// the database open (see the file format of SQLite's write-ahead log).
const deadManSwitch = 128

// Unused returns an error if another process has the database at path open, also one
// whose file was moved away from there since.
func Unused(path string) error {
	file, err := os.OpenFile(path+"-shm", os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: deadManSwitch, Len: 1}
	if err := syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, &lock); err != nil {
		return fmt.Errorf("see whether %s is open: %w", path, err)
	}
	if lock.Type != syscall.F_UNLCK {
		return fmt.Errorf("process %d has the database %s open: stop it first", lock.Pid, path)
	}
	return nil
}
