//go:build linux

package harness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Server is a running "beacon serve".
type Server struct {
	URL     string
	DB      string
	Cmd     *exec.Cmd
	logFile string
	Exited  chan struct{} // closed once the process is gone; Cmd.ProcessState then tells how
}

// Program is a binary and the variables that it is started with, beside ours.
type Program struct {
	Binary      string
	Environment []string
}

// Start runs a server on a database until the end of the test, without limits of
// rate, and without turning requests away on a busy machine: these tests are about
// other things. A new database has policy 1, which pays devices: the oracles know it.
func Start(t *testing.T, db string, flags ...string) *Server {
	t.Helper()
	return Program{Binary: Binary}.Start(t, db, flags...)
}

// Start does the same with another program.
func (p Program) Start(t *testing.T, db string, flags ...string) *Server {
	t.Helper()
	return p.begin(t, db, flags...)()
}

// Begin starts a server beside others, and returns a function that waits for it as Start
// does.
func Begin(t *testing.T, db string, flags ...string) (wait func() *Server) {
	t.Helper()
	return Program{Binary: Binary}.begin(t, db, flags...)
}

// begin starts a server. One that ends because its database did not respond in time is
// started again, as by a supervisor.
func (p Program) begin(t *testing.T, db string, flags ...string) (wait func() *Server) {
	t.Helper()
	s, ready := p.launch(t, db, flags...)
	return func() *Server {
		t.Helper()
		for deadline := time.After(Patience); ; s, ready = p.launch(t, db, flags...) {
			select {
			case s.URL = <-ready:
			case <-deadline:
				t.Fatalf("the server did not become ready; its log: %s", Remarks(s.Log(t)))
			}
			if s.URL != "" {
				return s
			}
			if log := s.Log(t); !tooSlow(log) {
				t.Fatalf("the server did not become ready; its log: %s", Remarks(log))
			}
		}
	}
}

// tooSlow reports whether a server has ended because its database took too long to let it
// in, or to respond: then it says that one may try again.
func tooSlow(log string) bool {
	return strings.Contains(log, "failed to connect") && strings.Contains(log, "timeout") ||
		strings.Contains(log, "canceling statement due to statement timeout") ||
		strings.Contains(log, "the service cannot reach its database right now; nothing was changed, try again")
}

// Launch starts a server and does not wait: its address comes through ready,
// empty when the process ends before.
func Launch(t *testing.T, db string, flags ...string) (s *Server, ready <-chan string) {
	t.Helper()
	return Program{Binary: Binary}.launch(t, db, flags...)
}

func (p Program) launch(t *testing.T, db string, flags ...string) (s *Server, ready <-chan string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	args := append([]string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", "off", "--rate-limit", "off", "--load-shedding", "off", "--log-level", "debug", "--policy", filepath.Join(Root(), "test", "harness", "devices.json"), "--db", db}, flags...)
	s = &Server{DB: db, Cmd: exec.Command(p.Binary, args...), logFile: log.Name(), Exited: make(chan struct{})}
	s.Cmd.Env = append(os.Environ(), p.Environment...)
	s.Cmd.Stderr = log
	s.Cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := s.Cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		address <- strings.TrimPrefix(strings.TrimSpace(line), "beacon: listening on ")
		_ = s.Cmd.Wait()
		close(s.Exited)
	}()
	t.Cleanup(func() {
		s.Kill()
		s.checkLog(t)
	})
	return s, address
}

// Signal sends a signal to the process and all that it started.
func (s *Server) Signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(-s.Cmd.Process.Pid, sig); err != nil {
		t.Errorf("signal %v: %v", sig, err)
	}
}

// Kill ends the process in the hardest way, if it still runs.
func (s *Server) Kill() {
	if s.Runs() {
		_ = syscall.Kill(-s.Cmd.Process.Pid, syscall.SIGKILL)
		<-s.Exited
	}
}

// Stop ends the process as a supervisor does, and wants a clean exit.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.Signal(t, syscall.SIGTERM)
	select {
	case <-s.Exited:
		if code := s.Cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("after SIGTERM the server exited with %d", code)
		}
	case <-time.After(Patience):
		t.Errorf("%v after SIGTERM the server still runs", Patience)
	}
}

// Running fails the test when the process is gone.
func (s *Server) Running(t testing.TB) {
	t.Helper()
	if !s.Runs() {
		t.Fatalf("the server crashed: %v; its log: %s", s.Cmd.ProcessState, Remarks(s.Log(t)))
	}
}

// Runs reports whether the process is there.
func (s *Server) Runs() bool {
	select {
	case <-s.Exited:
		return false
	default:
		return true
	}
}

// Log returns all that the process wrote to its log.
func (s *Server) Log(t testing.TB) string {
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
func (s *Server) checkLog(t *testing.T) {
	text := s.Log(t)
	if found := secrets.FindStringIndex(text); found != nil {
		t.Errorf("the log holds a secret: …%.200s", text[max(0, found[0]-100):])
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "beacon: ") {
			continue // why it ended: that is said to whoever started it
		}
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
		t.Logf("the log says, beside its requests: %s", Remarks(text))
	}
}

// Remarks returns the last lines of a log that are not about a single request.
func Remarks(log string) string {
	var kept []string
	for line := range strings.Lines(log) {
		if !strings.Contains(line, `"msg":"request"`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-10):], "")
}

// Command runs another command of the binary and returns what it prints.
func Command(t testing.TB, args ...string) string {
	t.Helper()
	return Program{Binary: Binary}.Command(t, args...)
}

// Command does the same with another program.
func (p Program) Command(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.Binary, args...)
	cmd.Env = append(os.Environ(), p.Environment...)
	out, err := cmd.Output()
	if err != nil {
		stderr := ""
		if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Output gives it as it is
			stderr = string(exit.Stderr)
		}
		t.Fatalf("beacon %s: %v %s", args[0], err, stderr)
	}
	return string(out)
}

// Freeze stops a process and waits until each of its threads stands still, also
// those that are in the middle of a system call.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	s.Signal(t, syscall.SIGSTOP)
	awaitStillness(t, s.Cmd.Process.Pid)
}

// awaitStillness waits until all threads of a process have stopped.
func awaitStillness(t testing.TB, pid int) {
	t.Helper()
	Eventually(t, "all threads stand still", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(threads) == 0 {
			t.Fatalf("no threads: %v", err)
		}
		for _, thread := range threads {
			text, err := os.ReadFile(thread)
			_, state, found := strings.Cut(string(text), ") ")
			if err == nil && (!found || state[0] != 'T') {
				return false
			}
		}
		return true
	})
}
