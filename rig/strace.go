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
	inject(t, s, calls, fmt.Sprintf("signal=SIGKILL:when=%d", n))
}

// FailAt lets some system calls of a process fail with an error such as EIO: the
// n-th, or with "n+" all from that on.
func FailAt(t testing.TB, s *Server, calls, errno, n string) {
	t.Helper()
	inject(t, s, calls, fmt.Sprintf("error=%s:when=%s", errno, n))
}

// inject attaches strace, whose words for it these are.
func inject(t testing.TB, s *Server, calls, what string) {
	t.Helper()
	tracer := exec.Command("strace", "-f", "-p", fmt.Sprint(s.Cmd.Process.Pid),
		"-e", "trace="+calls, "-e", "signal=none", "-e", "inject="+calls+":"+what)
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
			t.Skipf("NOT TESTED: what happens at single system calls; strace may not watch processes here: %s", lines.Text())
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
