//go:build linux

package endtoend_test

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/beacon-wifi/beacon/test/harness"
)

const unlimited = ^uint64(0)

// limitFileSize sets RLIMIT_FSIZE of a running process.
func limitFileSize(t testing.TB, s *harness.Server, bytes uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: bytes, Max: unlimited}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(s.Cmd.Process.Pid), syscall.RLIMIT_FSIZE,
		uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		t.Fatalf("prlimit: %v", errno)
	}
}
