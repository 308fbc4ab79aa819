package node

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
)

// Lines reach the log in order and complete, also those of the last moment.
func TestLogBuffer(t *testing.T) {
	var out bytes.Buffer
	b := newLogBuffer(&out, true)
	var want strings.Builder
	for i := range 1000 {
		line := fmt.Sprintf("line %d\n", i)
		want.WriteString(line)
		if _, err := b.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	b.flush()
	if out.String() != want.String() {
		t.Errorf("the log has %d bytes; want %d", len(out.String()), want.Len())
	}
}

// A reader that stops reading stops neither the service nor fills its memory. Once it
// reads on, the log says in its own form that lines are missing.
func TestLogBuffer_StuckReader(t *testing.T) {
	for form, want := range map[string]string{"text": ` level=WARN msg="log lines were dropped`, "json": `,"level":"WARN","msg":"log lines were dropped`} {
		reader, writer := io.Pipe() // blocks until it is read
		b := newLogBuffer(writer, form == "text")
		line := bytes.Repeat([]byte("x"), 1023)
		line = append(line, '\n')
		for range 4 << 10 { // 4 MiB
			if _, err := b.Write(line); err != nil {
				t.Fatal(err)
			}
		}
		b.mu.Lock()
		kept, dropped := len(b.pending), b.dropped
		b.mu.Unlock()
		if kept > maxPending || dropped == 0 {
			t.Errorf("%d bytes wait, %d lines were dropped", kept, dropped)
		}
		read := make(chan string)
		go func() {
			all, _ := io.ReadAll(reader)
			read <- string(all)
		}()
		b.flush()
		writer.Close()
		if log := <-read; !strings.Contains(log, want) {
			t.Errorf("the log does not say as %s that lines are missing; it ends with %q", form, log[max(0, len(log)-200):])
		}
	}
}

// Whoever owns the output has it for itself once the log is closed.
func TestLog_Closed(t *testing.T) {
	var out bytes.Buffer
	l := OpenLog(&out, true, slog.LevelInfo)
	l.Logger.Info("before")
	l.Close()
	l.Logger.Info("after")
	l.buffer.flush() // as a timer would
	if log := out.String(); !strings.Contains(log, "before") || strings.Contains(log, "after") {
		t.Errorf("the log has %q", log)
	}
}
