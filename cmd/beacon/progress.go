package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// watch shows progress: on a terminal once a second, on one line, and elsewhere
// seldom.
type watch struct {
	out  io.Writer
	end  chan struct{}
	done sync.WaitGroup
}

func newWatch(out io.Writer, line func() string) *watch {
	w := &watch{out: out, end: make(chan struct{})}
	every, form := 10*time.Second, "%s\n"
	if onTerminal(out) {
		every, form = time.Second, "\r\x1b[K%s"
	}
	w.done.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(out, form, line())
			case <-w.end:
				return
			}
		}
	})
	return w
}

// stop clears the line for what comes next.
func (w *watch) stop() {
	close(w.end)
	w.done.Wait()
	if onTerminal(w.out) {
		fmt.Fprint(w.out, "\r\x1b[K")
	}
}

func onTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

const barWidth = 30

// bar draws a progress bar. Done may exceed total, as for a file that grows, or while
// the total is not known yet.
func bar(what string, done, total int64) string {
	filled := int(barWidth * min(done, total) / max(total, 1))
	return fmt.Sprintf("[%s%s] %d of %d %s", strings.Repeat("=", filled), strings.Repeat(" ", barWidth-filled), done, total, what)
}
