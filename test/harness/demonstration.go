//go:build linux

package harness

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// Demonstration is a network with a past, in a file, in which devices beat.
type Demonstration struct {
	File string
	cmd  *exec.Cmd
}

// Demonstrate runs "beacon demo" until the end of the test.
func Demonstrate(t testing.TB, hotspots int, flags ...string) *Demonstration {
	t.Helper()
	d := &Demonstration{File: filepath.Join(t.TempDir(), "demo.db")}
	args := []string{"demo", "--hotspots", strconv.Itoa(hotspots), "--addr", "127.0.0.1:0", "--db", d.File}
	d.cmd = exec.Command(Binary, append(args, flags...)...)
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := d.cmd.StdoutPipe()
	if err == nil {
		err = d.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // if that was not done yet
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the demonstration did not begin: %v", err)
	}
	return d
}

// Stop ends it as a user does. The file is whole then.
func (d *Demonstration) Stop(t testing.TB) {
	t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Wait(); err != nil {
		t.Fatalf("the demonstration: %v", err)
	}
}

// Kill ends it in the hardest way: its log stays beside the file.
func (d *Demonstration) Kill() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait() // it was killed
}
