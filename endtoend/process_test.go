//go:build linux

package endtoend_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server is a running "beacon serve".
type server struct {
	url     string
	db      string
	cmd     *exec.Cmd
	logFile string
	exited  chan struct{} // closed once the process is gone; cmd.ProcessState then tells how
}

const startTimeout = 20 * time.Second

// start runs a server on a database until the end of the test, without limits
// of rate: these tests are about other things.
func start(t *testing.T, db string, flags ...string) *server {
	t.Helper()
	s, ready := launch(t, db, flags...)
	select {
	case s.url = <-ready:
	case <-time.After(startTimeout):
	}
	if s.url == "" {
		t.Fatalf("the server did not become ready; its log: %s", remarks(s.log(t)))
	}
	return s
}

// launch starts a server and does not wait: its address comes through ready,
// empty when the process ends before.
func launch(t *testing.T, db string, flags ...string) (s *server, ready <-chan string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	args := append([]string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", "off", "--rate-limit", "off", "--log-level", "debug", "--db", db}, flags...)
	s = &server{db: db, cmd: exec.Command(binary, args...), logFile: log.Name(), exited: make(chan struct{})}
	s.cmd.Stderr = log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		address <- strings.TrimPrefix(strings.TrimSpace(line), "beacon: listening on ")
		_ = s.cmd.Wait()
		close(s.exited)
	}()
	t.Cleanup(func() {
		s.kill()
		s.checkLog(t)
	})
	return s, address
}

func (s *server) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(-s.cmd.Process.Pid, sig); err != nil {
		t.Errorf("signal %v: %v", sig, err)
	}
}

// kill ends the process in the hardest way, if it still runs.
func (s *server) kill() {
	select {
	case <-s.exited:
		return
	default:
	}
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	<-s.exited
}

// stop ends the process as a supervisor does, and wants a clean exit in time.
func (s *server) stop(t testing.TB, within time.Duration) {
	t.Helper()
	s.signal(t, syscall.SIGTERM)
	select {
	case <-s.exited:
		if code := s.cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("after SIGTERM the server exited with %d", code)
		}
	case <-time.After(within):
		t.Errorf("%v after SIGTERM the server still runs", within)
	}
}

// running fails the test when the process is gone.
func (s *server) running(t testing.TB) {
	t.Helper()
	select {
	case <-s.exited:
		t.Fatalf("the server crashed: %v; its log: %s", s.cmd.ProcessState, remarks(s.log(t)))
	default:
	}
}

// runs reports whether the process is there.
func (s *server) runs() bool {
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}

func (s *server) log(t testing.TB) string {
	text, err := os.ReadFile(s.logFile)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// secrets is what must not be in a log (decision X9): anything with the prefix
// of a key, and the MACs that these tests give out, in every spelling.
var secrets = regexp.MustCompile(`(?i)bcn_|02[:.-]be[:.-]ac|02be\.ac|02beac[0-9a-f]{6}`)

// checkLog holds the whole log of a process to what every log must be: lines of
// JSON, no panic, no secret.
func (s *server) checkLog(t *testing.T) {
	text := s.log(t)
	if found := secrets.FindStringIndex(text); found != nil {
		t.Errorf("the log holds a secret: …%.200s", text[max(0, found[0]-100):])
	}
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) && strings.HasSuffix(line, "\n") { // a kill may cut the last
			t.Errorf("a line of the log is no JSON: %.300s", line)
			break
		}
		if strings.Contains(line, `"msg":"panic`) {
			t.Errorf("a handler panicked: %.2000s", line)
			break
		}
	}
	if t.Failed() {
		t.Logf("the log says, beside its requests: %s", remarks(text))
	}
}

// remarks are the last lines of a log that are not about a single request.
func remarks(log string) string {
	var kept []string
	for line := range strings.Lines(log) {
		if !strings.Contains(line, `"msg":"request"`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-10):], "")
}

// command runs another command of the binary and answers what it prints.
func command(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, args...).Output()
	if err != nil {
		stderr := ""
		if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Output gives it as it is
			stderr = string(exit.Stderr)
		}
		t.Fatalf("beacon %s: %v %s", args[0], err, stderr)
	}
	return string(out)
}
