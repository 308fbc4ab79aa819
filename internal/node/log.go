package node

import (
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/httpserver"
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

// Log is the log of a process.
type Log struct {
	Logger   *slog.Logger
	Requests func(*http.Request, httpserver.RequestInfo) // logs requests; nil if the level excludes them

	buffer *logBuffer
}

// OpenLog returns a log that writes lines of at least a level to out, as text or as
// JSON. Close it to write the last lines.
func OpenLog(out io.Writer, text bool, level slog.Level) *Log {
	l := &Log{buffer: newLogBuffer(out)}
	options := &slog.HandlerOptions{Level: level}
	if text {
		l.Logger = slog.New(slog.NewTextHandler(l.buffer, options))
	} else {
		l.Logger = slog.New(slog.NewJSONHandler(l.buffer, options))
	}
	if level <= slog.LevelInfo {
		l.Requests = exceptUsualBeats(httpserver.NewAccessLog(l.buffer, text).Observe)
	}
	return l
}

// Close writes the remaining lines.
func (l *Log) Close() { l.buffer.Close() }

// exceptUsualBeats omits heartbeats that succeed or get a temporary refusal: a million
// devices would make 16,700 lines a second, and the metrics count them.
func exceptUsualBeats(log func(*http.Request, httpserver.RequestInfo)) func(*http.Request, httpserver.RequestInfo) {
	return func(r *http.Request, e httpserver.RequestInfo) {
		usual := e.Status == http.StatusOK || e.Status == http.StatusServiceUnavailable
		if !usual || !api.IsHeartbeat(r) {
			log(r, e)
		}
	}
}
