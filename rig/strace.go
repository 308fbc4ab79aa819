//go:build linux

package rig

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// KillAt lets a process be killed when it enters the n-th of some system calls.
func KillAt(t testing.TB, s *Server, calls string, n int) {
	t.Helper()
	inject(t, s, calls, fmt.Sprintf("signal=SIGKILL:when=%d", n))
}

// FailAt lets some system calls of a process fail with an error such as EIO: the
// n-th, or with "n+" all from that on.
func FailAt(t testing.TB, s *Server, calls, errno, n string) *Injection {
	t.Helper()
	return inject(t, s, calls, fmt.Sprintf("error=%s:when=%s", errno, n))
}

// Injection is what is done to the system calls of a process.
type Injection struct {
	mu sync.Mutex
	at time.Time
}

// At is when a call was first made to fail, or the zero time.
func (i *Injection) At() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.at
}

func (i *Injection) note(line string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.at.IsZero() && strings.Contains(line, "(INJECTED)") {
		i.at = time.Now()
	}
}

// inject attaches strace, whose words for it these are.
func inject(t testing.TB, s *Server, calls, what string) *Injection {
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
	injection, read := &Injection{}, make(chan struct{})
	go func() { // or it would stop for want of a reader
		defer close(read)
		for lines.Scan() {
			injection.note(lines.Text())
		}
	}()
	t.Cleanup(func() {
		_ = tracer.Process.Kill()
		<-read
		_ = tracer.Wait() // it ends as its victim did
	})
	return injection
}
