//go:build unix

package extract

import (
	"os"
	"syscall"
)

// lockFile locks a file until it is closed, and reports whether nobody else has.
func lockFile(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
