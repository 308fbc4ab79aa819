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

// The system calls with which a server writes to its SQLite file and syncs it.
const (
	Writes = "pwrite64"
	Syncs  = "fdatasync,fsync"
)

// KillAt lets a process be killed when it enters the n-th of some system calls.
func KillAt(t testing.TB, s *Server, calls string, n int) {
	t.Helper()
	inject(t, s, calls, fmt.Sprintf("signal=SIGKILL:when=%d", n))
}

// FailAt lets some system calls of a process fail with an error such as EIO: the
// n-th, or with "n+" all from that on.
func FailAt(t testing.TB, s *Server, calls, errno, n string) *Trace {
	t.Helper()
	return inject(t, s, calls, fmt.Sprintf("error=%s:when=%s", errno, n))
}

// Trace is what strace tells of the writes and syncs of a process.
type Trace struct {
	server *Server
	lines  chan string
	framed bool // the next write is the page to the header that was written
}

// inject attaches strace, whose words for it these are.
func inject(t testing.TB, s *Server, calls, what string) *Trace {
	t.Helper()
	tracer := exec.Command("strace", "-f", "-p", fmt.Sprint(s.Cmd.Process.Pid), "-xx", "-s", "24",
		"-e", "trace="+Writes+","+Syncs, "-e", "signal=none", "-e", "inject="+calls+":"+what)
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
	trace, done := &Trace{server: s, lines: make(chan string, 1<<14)}, make(chan struct{})
	go func() { // or it would stop for want of a reader
		defer close(done)
		defer close(trace.lines)
		for lines.Scan() {
			select {
			case trace.lines <- lines.Text():
			default: // nobody wants to know so much
			}
		}
		_ = tracer.Wait() // it ends as its victim did
	}()
	t.Cleanup(func() {
		_ = tracer.Process.Kill()
		<-done
	})
	return trace
}

var (
	// frame is the header of a page in the write-ahead log.
	frame = regexp.MustCompile(`pwrite64\(\d+, "((?:\\x..){24})", 24, `)
	// whole is a page in the file itself, which is where one goes without the log.
	whole = regexp.MustCompile(`pwrite64\(\d+, "[^"]*"\.\.\., 4096, (\d+)`)
	// flush is a sync that begins, synced one that succeeded.
	flush  = regexp.MustCompile(`(?:fsync|fdatasync)\(`)
	synced = regexp.MustCompile(`(?:fsync|fdatasync)(?:\(| resumed>).*= 0$`)
)

// pageOf returns the page that a line of strace says is written, or 0.
func (tr *Trace) pageOf(line string) int {
	framed := tr.framed
	tr.framed = frame.MatchString(line)
	if header := frame.FindStringSubmatch(line); header != nil {
		number, _ := hex.DecodeString(strings.ReplaceAll(header[1], `\x`, "")[:8])
		return int(number[0])<<24 | int(number[1])<<16 | int(number[2])<<8 | int(number[3])
	}
	if body := whole.FindStringSubmatch(line); body != nil && !framed {
		offset, _ := strconv.Atoi(body[1])
		return offset/4096 + 1
	}
	return 0
}

// FailedIn reports whether what failed first was in a transaction that writes to some
// pages. The process must be gone.
func (tr *Trace) FailedIn(pages map[int]bool) (in bool) {
	for line := range tr.lines {
		switch {
		case pages[tr.pageOf(line)]:
			in = true
		case synced.MatchString(line): // the end of a transaction
			in = false
		case strings.Contains(line, "INJECTED"):
			return in
		}
	}
	return false
}

// HoldIn lets a server go on until it writes to a table of its SQLite file, and stops
// it there. Meanwhile something is done that makes it write there. SQLite has one
// writer: the next writes and the next sync of the server belong to the same
// transaction.
func HoldIn(t *testing.T, s *Server, table string, meanwhile func()) *Trace {
	t.Helper()
	pages := PagesOf(t, s.DB, table)
	tr := inject(t, s, Writes+","+Syncs, "signal=SIGSTOP")
	meanwhile()
	for page := 0; !pages[page]; {
		page, _ = tr.Next(t)
	}
	return tr
}

// Next lets a server that HoldIn stops go on to its next write or sync, and returns
// which page it writes, if that is known.
func (tr *Trace) Next(t testing.TB) (page int, sync bool) {
	t.Helper()
	for began := time.Now(); time.Since(began) < Patience; {
		_ = syscall.Kill(-tr.server.Cmd.Process.Pid, syscall.SIGCONT)
		line, there := tr.await(2 * time.Second)
		for there && !strings.Contains(line, Writes+"(") && !flush.MatchString(line) { // a call that ends
			line, there = tr.await(2 * time.Second)
		}
		if there {
			return tr.pageOf(line), flush.MatchString(line)
		}
		tr.server.Running(t)
		// It may be idle. It may also stand still: that strace passes on a signal to
		// stop and one to go on that come together is not certain.
	}
	t.Fatalf("after %v, still no write by the server; its log: %s", Patience, Remarks(tr.server.Log(t)))
	return 0, false
}

// await waits some time for a line.
func (tr *Trace) await(limit time.Duration) (line string, there bool) {
	select {
	case line, there = <-tr.lines:
	case <-time.After(limit):
	}
	return line, there
}

// PagesOf returns which pages of a SQLite file belong to a table.
func PagesOf(t testing.TB, file, table string) map[int]bool {
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
