//go:build unix

package fastpath

import (
	"errors"
	"syscall"
)

const canSeeLeaving = true

// gone reports whether the client has closed the connection, or its side of it. It
// consumes no input.
func (c *conn) gone() bool {
	var n int
	var failed error
	err := c.raw.Control(func(fd uintptr) {
		n, _, failed = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
	})
	switch {
	case err != nil: // closed by us
		return true
	case errors.Is(failed, syscall.EAGAIN), errors.Is(failed, syscall.EINTR):
		return false
	default:
		return failed != nil || n == 0
	}
}
