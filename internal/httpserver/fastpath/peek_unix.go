//go:build unix

package fastpath

import (
	"errors"
	"syscall"
)

const canSeeLeaving = true

// peek reports whether the client has closed its sending side, and whether the
// connection is broken. A client that has closed both sides looks like one that has
// closed the first, until something is sent to it. It consumes no input.
func (c *conn) peek() (ended, broken bool) {
	var n int
	var failed error
	err := c.raw.Control(func(fd uintptr) {
		n, _, failed = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
	})
	switch {
	case err != nil: // closed by us
		return true, true
	case errors.Is(failed, syscall.EAGAIN), errors.Is(failed, syscall.EINTR):
		return false, false
	default:
		return failed != nil || n == 0, failed != nil
	}
}
