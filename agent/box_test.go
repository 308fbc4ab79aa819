//go:build linux

package agent_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// utilities are the programs that the agent finds on every device.
var utilities = []string{"awk", "cat", "chmod", "cut", "date", "dd", "grep", "head", "ls", "mkdir", "mv", "rm", "sed", "sort", "sync", "tail", "tr", "uname", "wc"}

// realVariable names a folder with programs of OpenWrt, built for this machine, to be
// used in place of their stubs: uclient-fetch and jsonfilter can be.
const realVariable = "BEACON_TEST_OPENWRT"

// box is a device in a sandbox.
type box struct {
	t       testing.TB
	folder  string
	root    string // stands for /
	bin     string // all programs that the agent finds
	answers string // what ubus, iw, hostapd_cli and ping print; see stubs_test.go
	shell   []string
	env     []string
}

// shells are those that the agent is written for.
var shells = []string{"busybox ash", "dash"}

// eachShell runs a test under each shell, as OpenWrt and as Debian have them. make test has
// only the first.
func eachShell(t *testing.T, test func(t *testing.T, shell string)) {
	for _, shell := range shells[:level.Rounds(1, 2, 2)] {
		t.Run(strings.Fields(shell)[0], func(t *testing.T) { test(t, shell) })
	}
}

// needs skips a test whose tool is missing, or fails it from make check on.
func needs(t testing.TB, program, debianPackage string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if level.Now() == level.Test {
		t.Skipf("NOT TESTED: there is no %s; install the Debian package %s", program, debianPackage)
	}
	t.Fatalf("this test needs %s: install the Debian package %s", program, debianPackage)
}

// newBox makes a device with a shell, the utilities that belong to it, and more
// programs: stubs, or those of the machine.
func newBox(t testing.TB, shell string, programs ...string) *box {
	t.Helper()
	words := strings.Fields(shell)
	needs(t, words[0], words[0])
	folder := t.TempDir()
	b := &box{
		t: t, folder: folder, root: filepath.Join(folder, "root"), bin: filepath.Join(folder, "bin"),
		answers: filepath.Join(folder, "answers"), shell: words,
	}
	for _, path := range []string{b.bin, b.answers, b.path("etc/beacon"), b.path("var/run"), b.path("sys/class/net"), b.path("proc/sys/kernel/random")} {
		b.check(os.MkdirAll(path, 0o755))
	}
	for _, name := range utilities {
		program := name
		if words[0] == "busybox" {
			program = "busybox"
		}
		b.install(name, program)
	}
	for _, name := range append([]string{"sleep"}, programs...) {
		if real := filepath.Join(os.Getenv(realVariable), name); os.Getenv(realVariable) != "" && exec.Command("test", "-x", real).Run() == nil {
			b.check(os.Symlink(real, filepath.Join(b.bin, name)))
		} else if _, ok := stubs[name]; ok {
			b.check(os.Symlink(b.testBinary(), filepath.Join(b.bin, name)))
		} else {
			needs(t, name, name)
			b.install(name, name)
		}
	}
	b.check(os.Symlink("/proc/uptime", b.path("proc/uptime")))
	b.check(os.Symlink("/proc/sys/kernel/random/uuid", b.path("proc/sys/kernel/random/uuid")))
	b.boot(1)
	return b
}

func (b *box) testBinary() string {
	b.t.Helper()
	path, err := os.Executable()
	b.check(err)
	return path
}

// install puts a program of the machine where the agent finds it.
func (b *box) install(name, program string) {
	b.t.Helper()
	path, err := exec.LookPath(program)
	b.check(err)
	b.check(os.Symlink(path, filepath.Join(b.bin, name)))
}

func (b *box) check(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// path returns where a file of the device is.
func (b *box) path(name string) string { return filepath.Join(b.root, name) }

func (b *box) write(name, text string) {
	b.t.Helper()
	b.check(os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	b.check(os.WriteFile(b.path(name), []byte(text), 0o600))
}

// boot gives the kernel another boot id.
func (b *box) boot(n int) {
	b.write("proc/sys/kernel/random/boot_id", fmt.Sprintf("00000000-0000-4000-8000-%012d\n", n))
}

// answer sets what a stub prints when it is asked in these words.
func (b *box) answer(words, text string) {
	b.t.Helper()
	b.check(os.WriteFile(filepath.Join(b.answers, strings.ReplaceAll(words, "/", "_")), []byte(text), 0o600))
}

// configure writes the settings, as a file for Linux; the stub of uci reads it too.
func (b *box) configure(lines ...string) {
	b.write("etc/beacon/agent.conf", strings.Join(append(lines, ""), "\n"))
}

// counters of a network interface.
type counters struct{ rxBytes, txBytes, rxPackets, txPackets uint64 }

// network makes a Wi-Fi interface, or changes what it shows.
func (b *box) network(name string, ifindex int, c counters) {
	b.t.Helper()
	dir := "sys/class/net/" + name + "/"
	b.check(os.MkdirAll(b.path(dir+"phy80211"), 0o755))
	b.write(dir+"ifindex", strconv.Itoa(ifindex)+"\n")
	b.write(dir+"operstate", "up\n")
	b.write(dir+"address", fmt.Sprintf("02:00:5e:10:00:%02x\n", len(name)))
	for file, value := range map[string]uint64{"rx_bytes": c.rxBytes, "tx_bytes": c.txBytes, "rx_packets": c.rxPackets, "tx_packets": c.txPackets} {
		b.write(dir+"statistics/"+file, strconv.FormatUint(value, 10)+"\n")
	}
}

// command prepares the agent with some arguments.
func (b *box) command(args ...string) *exec.Cmd {
	words := append(slices.Clone(b.shell), filepath.Join(harness.Root(), "agent/beacon-agent"))
	cmd := exec.Command(words[0], append(words[1:], args...)...)
	cmd.Dir = b.folder
	cmd.Env = append([]string{"PATH=" + b.bin, "BEACON_ROOT=" + b.root, "TEST_ANSWERS=" + b.answers, "TZ=UTC"}, b.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if path, err := exec.LookPath(words[0]); err == nil {
		cmd.Path = path
	}
	return cmd
}

// do runs a command of the agent and returns what it prints and its exit code.
func (b *box) do(args ...string) (printed string, code int) {
	b.t.Helper()
	out, err := b.command(args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	} else if err != nil {
		code = exit.ExitCode()
	}
	return string(out), code
}

// service is a running agent.
type service struct {
	cmd    *exec.Cmd
	log    string // a file
	exited chan struct{}
}

// said returns what the agent wrote to its log.
func (s *service) said() string {
	text, _ := os.ReadFile(s.log)
	return string(text)
}

// run starts the agent as a service until the end of the test.
func (b *box) run() *service {
	b.t.Helper()
	log, err := os.CreateTemp(b.folder, "log")
	b.check(err)
	defer log.Close()
	s := &service{cmd: b.command("run"), log: log.Name(), exited: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	b.check(s.cmd.Start())
	go func() {
		_ = s.cmd.Wait() // it is killed
		close(s.exited)
	}()
	b.t.Cleanup(func() {
		s.kill()
		if b.t.Failed() {
			b.t.Logf("the agent said:\n%s", s.said())
		}
	})
	return s
}

// kill ends the agent and all that it started, as a power cut does.
func (s *service) kill() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	<-s.exited
}

// slept returns the seconds of each time that the agent slept.
func (b *box) slept() (seconds []int) {
	text, _ := os.ReadFile(filepath.Join(b.answers, "slept"))
	for word := range strings.FieldsSeq(string(text)) {
		n, err := strconv.Atoi(word)
		b.check(err)
		seconds = append(seconds, n)
	}
	return seconds
}

// linkTo writes what linking leaves behind.
func (b *box) linkTo(url, id string) {
	b.write("etc/beacon/device", fmt.Sprintf("%s /v1/hotspots/hs_test/heartbeats bcn_test_key %s 00000000-0000-4000-8000-%012d\n", url, id, 1))
}
