package docs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// driver is a shell that takes one block after the other, so that each finds the
// variables of those before. It ends with the first command that fails.
const driver = `set -eu -o pipefail
while read -r kind block printed <&3; do
	case $kind in
	run) source "$block" >"$printed" 2>&1 </dev/null 3<&- 4>&- ;;
	refuse)
		set +e
		source "$block" >"$printed" 2>&1 </dev/null 3<&- 4>&-
		status=$?
		set -e
		[ "$status" -ne 0 ]
		;;
	serve) # in a process group of its own, which can be ended as a whole
		set -m
		(set +m; source "$block") >"$printed" 2>"$printed.log" </dev/null 3<&- 4>&- &
		set +m
		echo "$!" >&4
		;;
	esac
	echo done >&4
done`

// session is the one shell of a page.
type session struct {
	ctx     context.Context
	shell   *exec.Cmd
	orders  *os.File
	reports *bufio.Scanner
	exited  chan struct{} // closed when the shell has ended
	notes   string        // a folder for scripts and what they print
	count   int
	servers []int // process groups
}

// begin starts a shell in a folder.
func begin(ctx context.Context, folder, notes string, env []string) (*session, error) {
	ordersIn, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	reports, reportsOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &session{ctx: ctx, orders: orders, reports: bufio.NewScanner(reports), exited: make(chan struct{}), notes: notes}
	s.shell = exec.Command("bash", "-c", driver)
	s.shell.Dir, s.shell.Env = folder, env
	s.shell.ExtraFiles = []*os.File{ordersIn, reportsOut}
	s.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.shell.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = s.shell.Wait() // that it ended is enough to know
		close(s.exited)
	}()
	return s, errors.Join(ordersIn.Close(), reportsOut.Close())
}

// order has the shell run a text in a way that it knows, and gives its reports
// and where it prints. An error says that the shell has ended.
func (s *session) order(how, text string) (reports []string, printed string, err error) {
	s.count++
	script := filepath.Join(s.notes, fmt.Sprintf("block-%d.sh", s.count))
	printed = filepath.Join(s.notes, fmt.Sprintf("printed-%d", s.count))
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		return nil, printed, err
	}
	if _, err := fmt.Fprintln(s.orders, how, script, printed); err != nil {
		return nil, printed, err
	}
	done := make(chan bool, 1)
	go func() {
		for s.reports.Scan() {
			if s.reports.Text() == "done" {
				done <- true
				return
			}
			reports = append(reports, s.reports.Text())
		}
		done <- false
	}()
	select {
	case whole := <-done:
		if !whole {
			<-s.exited
			err = fmt.Errorf("a command failed, or ended the shell: %s", s.shell.ProcessState)
		}
		return reports, printed, err
	case <-s.ctx.Done():
		return nil, printed, s.ctx.Err()
	}
}

// ready is what servers print once they can be asked.
var ready = []string{"listening on http", "ready in "}

// serve starts a server and waits until it is ready.
func (s *session) serve(text string) (printed string, err error) {
	reports, printed, err := s.order("serve", text)
	if err != nil {
		return printed, err
	}
	var group int
	if _, err := fmt.Sscan(strings.Join(reports, " "), &group); err != nil {
		return printed, fmt.Errorf("the shell reports %q", reports)
	}
	s.servers = append(s.servers, group)
	err = s.until(func() bool {
		text, _ := os.ReadFile(printed)
		for _, word := range ready {
			if strings.Contains(string(text), word) && strings.HasSuffix(string(text), "\n") {
				return true
			}
		}
		return !alive(group)
	})
	if err == nil && !alive(group) {
		log, _ := os.ReadFile(printed + ".log")
		err = fmt.Errorf("the server ended: %s", log)
	}
	return printed, err
}

// stopServers ends the servers that run, as Ctrl-C would.
func (s *session) stopServers() error {
	var failed error
	for _, group := range s.servers {
		failed = errors.Join(failed, s.endGroup(group))
	}
	s.servers = nil
	return failed
}

// end stops all that the page has started.
func (s *session) end() error {
	err := errors.Join(s.stopServers(), s.orders.Close(), s.endGroup(s.shell.Process.Pid))
	<-s.exited
	return err
}

// endGroup asks all processes of a group to end, and does not ask a second time.
func (s *session) endGroup(group int) error {
	_ = syscall.Kill(-group, syscall.SIGTERM) // none may be left
	err := s.until(func() bool { return !alive(group) })
	if err != nil {
		_ = syscall.Kill(-group, syscall.SIGKILL)
		return fmt.Errorf("a program does not end: %w", err)
	}
	return nil
}

func alive(group int) bool { return syscall.Kill(-group, 0) == nil }

// until waits for a condition.
func (s *session) until(met func() bool) error {
	ctx, cancel := context.WithTimeout(s.ctx, harness.Patience)
	defer cancel()
	for tick := time.NewTicker(5 * time.Millisecond); !met(); {
		select {
		case <-ctx.Done():
			tick.Stop()
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
