package main

import (
	"io"
	"log/slog"
	"sync"
	"time"
)

// logBuffer collects log lines and writes them together, so that a request does not
// wait for the terminal or the disk, and one system call writes many lines. If the
// reader of the log stops reading, lines beyond maxPending are dropped and counted: a
// stuck log must not stop the service.
type logBuffer struct {
	out io.Writer

	mu      sync.Mutex
	pending []byte
	spare   []byte // the other buffer, when it is not being written
	dropped int

	wake    chan struct{} // there are lines to write
	closing chan struct{}
	done    chan struct{}
}

const (
	maxPending  = 1 << 20
	logInterval = 100 * time.Millisecond
)

func newLogBuffer(out io.Writer) *logBuffer {
	b := &logBuffer{
		out:     out,
		wake:    make(chan struct{}, 1),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	go b.flushLoop()
	return b
}

// Write buffers one line; slog's handlers call it once for each.
func (b *logBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pending)+len(line) > maxPending {
		b.dropped++
		return len(line), nil
	}
	if len(b.pending) == 0 {
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
	b.pending = append(b.pending, line...)
	return len(line), nil
}

// Close writes the remaining lines.
func (b *logBuffer) Close() {
	close(b.closing)
	<-b.done
}

func (b *logBuffer) flushLoop() {
	defer close(b.done)
	defer b.flush()
	for {
		select {
		case <-b.wake:
		case <-b.closing:
			return
		}
		select {
		case <-time.After(logInterval): // let more lines collect
		case <-b.closing:
			return
		}
		b.flush()
	}
}

func (b *logBuffer) flush() {
	b.mu.Lock()
	lines, dropped := b.pending, b.dropped
	b.pending, b.spare, b.dropped = b.spare[:0], nil, 0
	b.mu.Unlock()

	_, _ = b.out.Write(lines) // there is nowhere to report an error
	if dropped > 0 {
		slog.New(slog.NewJSONHandler(b.out, nil)).Warn("log lines were dropped: the log is not read fast enough", "lines", dropped)
	}
	b.mu.Lock()
	b.spare = lines
	b.mu.Unlock()
}

// newLogger returns the process's logger.
func newLogger(out io.Writer, format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "text" {
		return slog.New(slog.NewTextHandler(out, options))
	}
	return slog.New(slog.NewJSONHandler(out, options))
}
