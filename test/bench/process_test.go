package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// process is a server under measurement.
type process struct {
	addr string // host:port
	pid  int
	log  string // the file
	cmd  *exec.Cmd
}

// start runs a command that prints "… listening on http://ADDR" once ready.
func start(b *testing.B, cmd *exec.Cmd) *process {
	b.Helper()
	var log bytes.Buffer
	cmd.Stderr = &log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	_, addr, ok := strings.Cut(strings.TrimSpace(line), "listening on http://")
	if err != nil || !ok {
		b.Fatalf("%s did not start: %q, %v\n%s", cmd.Path, line, err, log.String())
	}
	return &process{addr: addr, pid: cmd.Process.Pid, cmd: cmd}
}

// adminVariable names an address for the admin interface of the server under
// measurement, for who wants to see a profile of it.
const adminVariable = "BEACON_BENCH_ADMIN"

// serveBeacon starts the binary. The log goes to a file, as a supervisor would
// have it: writing it is part of the cost.
func serveBeacon(b *testing.B, args ...string) *process {
	b.Helper()
	binary := build(b)
	script := `exec "$0" "$@" 2>"$BEACON_BENCH_LOG"`
	admin := cmp.Or(os.Getenv(adminVariable), "off")
	cmd := exec.Command("sh", append([]string{"-c", script, binary, "serve", "--addr", "127.0.0.1:0", "--admin-addr", admin}, args...)...)
	log := filepath.Join(b.TempDir(), "log")
	cmd.Env = append(os.Environ(), "BEACON_BENCH_LOG="+log)
	cmd.Dir = b.TempDir() // for the database that it makes
	p := start(b, cmd)
	p.log = log
	return p
}

// build makes the binary as it is released.
func build(b *testing.B) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "beacon")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "../../cmd/beacon")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// cpu is the processor time that a process has used, user and system, in
// seconds. The kernel counts it in hundredths.
func (p *process) cpu(b *testing.B) float64 {
	b.Helper()
	stat := statOf(p.pid)
	if len(stat) < 13 {
		b.Fatalf("process %d has ended", p.pid)
	}
	return seconds(stat[11:13])
}

// settle waits until the process has nothing left to do of its own accord: until it
// uses less than a twentieth of a core for two seconds.
func (p *process) settle(b *testing.B) {
	b.Helper()
	const span = 2 * time.Second
	for last := p.cpu(b); ; {
		time.Sleep(span)
		now := p.cpu(b)
		if now-last < span.Seconds()/20 {
			return
		}
		last = now
	}
}

// stop ends the process in an orderly way.
func (p *process) stop(b *testing.B) {
	b.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	_ = p.cmd.Wait()
}

// statOf gives the fields of /proc/PID/stat from the state on, which is the third
// of them; none when the process has ended.
func statOf(pid int) []string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may contain spaces
	return strings.Fields(rest)
}

// seconds adds up times that the kernel counts in hundredths.
func seconds(times []string) (sum float64) {
	for _, text := range times {
		hundredths, _ := strconv.Atoi(text)
		sum += float64(hundredths) / 100
	}
	return sum
}

// memory is what a process takes of the machine's memory, in bytes.
func (p *process) memory(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kilobytes) * 1024
}
