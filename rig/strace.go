//go:build linux

package rig

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// KillAt lets a process be killed when it enters the n-th of some system calls.
func KillAt(t testing.TB, s *Server, calls string, n int) {
	t.Helper()
	tracer := exec.Command("strace", "-f", "-p", fmt.Sprint(s.Cmd.Process.Pid),
		"-e", "trace="+calls, "-e", "signal=none", "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", calls, n))
	tracer.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	says, err := tracer.StderrPipe()
	if err == nil {
		err = tracer.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(says)
	attached := false
	for !attached && lines.Scan() {
		attached = strings.Contains(lines.Text(), "attached")
		if strings.Contains(lines.Text(), "not permitted") {
			t.Skipf("NOT TESTED: a kill at the very sync; strace may not watch processes here: %s", lines.Text())
		}
	}
	if !attached {
		t.Fatalf("strace cannot attach to the server: %v", tracer.Wait())
	}
	read := make(chan struct{})
	go func() { // or it would stop for want of a reader
		defer close(read)
		for lines.Scan() {
		}
	}()
	t.Cleanup(func() {
		_ = tracer.Process.Kill()
		<-read
		_ = tracer.Wait() // it ends as its victim did
	})
}
