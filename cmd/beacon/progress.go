package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// showProgress shows a line: on a terminal once a second, in place, and elsewhere seldom.
// Stop clears it for what comes next.
func showProgress(out io.Writer, line func() string) (stop func()) {
	every, form := 10*time.Second, "%s\n"
	if onTerminal(out) {
		every, form = time.Second, clearLine(out)+"%s"
	}
	end := make(chan struct{})
	var showing sync.WaitGroup
	showing.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(out, form, line())
			case <-end:
				return
			}
		}
	})
	return func() {
		close(end)
		showing.Wait()
		fmt.Fprint(out, clearLine(out))
	}
}

// clearLine returns the text that clears the line of a terminal.
func clearLine(out io.Writer) string {
	if onTerminal(out) {
		return "\r\x1b[K"
	}
	return ""
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
