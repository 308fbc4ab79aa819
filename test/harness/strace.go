//go:build linux

package harness

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// syncs are the system calls with which a server syncs its SQLite file.
const syncs = "fdatasync,fsync"

// KillAt lets a process be killed when it enters the n-th of some system calls.
func KillAt(t testing.TB, s *Server, calls string, n int) {
	t.Helper()
	trace(t, s, calls, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", calls, n))
}

// FailAt lets some system calls of a process fail with an error such as EIO: the
// n-th, or with "n+" all from that on.
func FailAt(t testing.TB, s *Server, calls, errno, n string) {
	t.Helper()
	trace(t, s, calls, "-e", fmt.Sprintf("inject=%s:error=%s:when=%s", calls, errno, n))
}

// tracer is strace at work on a process.
type tracer struct {
	command *exec.Cmd
	lines   chan string // that tell of system calls
}

// trace attaches strace to a process until the end of the test.
func trace(t testing.TB, s *Server, calls string, options ...string) *tracer {
	t.Helper()
	tr := &tracer{lines: make(chan string, 1024)}
	tr.command = exec.Command("strace", append([]string{"-f", "-p", fmt.Sprint(s.Cmd.Process.Pid), "-e", "trace=" + calls, "-e", "signal=none"}, options...)...)
	tr.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	says, err := tr.command.StderrPipe()
	if err == nil {
		err = tr.command.Start()
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
		t.Fatalf("strace cannot attach to the server: %v", tr.command.Wait())
	}
	done := make(chan struct{})
	go func() { // or it would stop for want of a reader
		defer close(tr.lines)
		for lines.Scan() {
			select {
			case tr.lines <- lines.Text():
			default: // nobody reads them
			}
		}
		_ = tr.command.Wait() // it ends as its victim did
		close(done)
	}()
	t.Cleanup(func() {
		_ = tr.command.Process.Kill()
		<-done
	})
	return tr
}

// detach leaves the process to itself: one that stands still goes on doing so.
func (tr *tracer) detach() {
	_ = tr.command.Process.Signal(syscall.SIGINT)
	for range tr.lines {
	}
}

// Held is a server that stands still in the middle of a transaction on its SQLite
// file. SQLite has one writer: the next writes and the next sync of the process
// belong to that transaction.
type Held struct {
	server *Server
	tracer *tracer
	framed bool // the next write is the page to the header that was written
}

// HoldIn lets a server go on until it writes to a table of its SQLite file. Meanwhile
// something is done that makes it write there. It stops the server at every write and
// sync, and looks which table the page belongs to.
func HoldIn(t *testing.T, s *Server, table string, meanwhile func()) *Held {
	t.Helper()
	pages := pagesOf(t, s.DB, table)
	h := &Held{server: s, tracer: trace(t, s, "pwrite64,"+syncs, "-xx", "-s", "24", "-e", "inject=pwrite64,"+syncs+":signal=SIGSTOP")}
	meanwhile()
	for page := 0; !pages[page]; {
		page, _ = h.Next(t)
	}
	return h
}

// pagesOf returns which pages of a SQLite file belong to a table.
func pagesOf(t *testing.T, file, table string) map[int]bool {
	t.Helper()
	db := OpenSQL(t, file)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT pageno FROM dbstat WHERE name = $1`, table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	pages := map[int]bool{}
	for rows.Next() {
		var page int
		if err := rows.Scan(&page); err != nil {
			t.Fatal(err)
		}
		pages[page] = true
	}
	if rows.Err() != nil || len(pages) == 0 {
		t.Fatalf("%d pages of %s, %v", len(pages), table, rows.Err())
	}
	return pages
}

var (
	// frame is the header of a page in the write-ahead log.
	frame = regexp.MustCompile(`pwrite64\(\d+, "((?:\\x..){24})", 24, `)
	// whole is a page in the file itself, which is where one goes without the log.
	whole = regexp.MustCompile(`pwrite64\(\d+, "[^"]*"\.\.\., 4096, (\d+)`)
	// flush is a sync.
	flush = regexp.MustCompile(`(?:fsync|fdatasync)\(`)
)

// Next lets the server go on to its next write or sync, and returns which page it
// writes if that is known, else 0.
func (h *Held) Next(t testing.TB) (page int, sync bool) {
	t.Helper()
	_ = syscall.Kill(-h.server.Cmd.Process.Pid, syscall.SIGCONT)
	for {
		var line string
		select {
		case line = <-h.tracer.lines:
		case <-time.After(Patience):
			t.Fatalf("after %v, still no write by the server; its log: %s", Patience, Remarks(h.server.Log(t)))
		}
		switch header, body := frame.FindStringSubmatch(line), whole.FindStringSubmatch(line); {
		case header != nil:
			h.framed = true
			number, _ := hex.DecodeString(strings.ReplaceAll(header[1], `\x`, "")[:8])
			return int(number[0])<<24 | int(number[1])<<16 | int(number[2])<<8 | int(number[3]), false
		case body != nil:
			if offset, _ := strconv.Atoi(body[1]); !h.framed {
				page = offset/4096 + 1
			}
			h.framed = false
			return page, false
		case strings.Contains(line, "pwrite64("): // of something else, such as the header of the log
			return 0, false
		case flush.MatchString(line):
			return 0, true
		case line == "":
			h.server.Running(t)
			t.Fatal("strace is gone")
		}
	}
}

// FailSync lets the sync of the transaction fail, and those that follow it where they
// all should. The server stands still until Continue.
func (h *Held) FailSync(t testing.TB, all bool) {
	t.Helper()
	h.server.Signal(t, syscall.SIGSTOP)
	h.tracer.detach()
	awaitStillness(t, h.server.Cmd.Process.Pid)
	when := "1"
	if all {
		when += "+"
	}
	FailAt(t, h.server, syncs, "EIO", when)
}

// Continue lets the server go on.
func (h *Held) Continue(t testing.TB) { h.server.Signal(t, syscall.SIGCONT) }
