package node

import (
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// logBuffer collects log lines and writes them together, so that a request does not
// wait for the terminal or the disk, and one system call writes many lines. If the
// reader of the log stops reading, lines beyond maxPending are dropped and counted: a
// stuck log must not stop the service.
type logBuffer struct {
	out    io.Writer
	direct *slog.Logger // writes to out, past the buffer

	writing sync.Mutex // held while lines are written; taken before mu
	spare   []byte     // the other buffer

	mu      sync.Mutex
	pending []byte
	dropped int
	closed  bool // out is no longer ours
}

const (
	maxPending  = 1 << 20
	logInterval = 100 * time.Millisecond
)

func newLogBuffer(out io.Writer, text bool) *logBuffer {
	return &logBuffer{out: out, direct: slog.New(newLogHandler(out, text, slog.LevelWarn))}
}

// newLogHandler returns a handler that writes lines of at least a level, as text or as JSON.
func newLogHandler(out io.Writer, text bool, level slog.Level) slog.Handler {
	options := &slog.HandlerOptions{Level: level}
	if text {
		return slog.NewTextHandler(out, options)
	}
	return slog.NewJSONHandler(out, options)
}

// Write buffers one line; slog's handlers call it once for each.
func (b *logBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return len(line), nil
	}
	if len(b.pending)+len(line) > maxPending {
		b.dropped++
		return len(line), nil
	}
	if len(b.pending) == 0 {
		time.AfterFunc(logInterval, b.flush) // let more lines collect
	}
	b.pending = append(b.pending, line...)
	return len(line), nil
}

// flush writes the lines that wait, if there are any.
func (b *logBuffer) flush() {
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	lines, dropped := b.pending, b.dropped
	b.pending, b.dropped = b.spare[:0], 0
	b.mu.Unlock()

	if len(lines) > 0 {
		_, _ = b.out.Write(lines) // there is nowhere to report an error
	}
	if dropped > 0 {
		b.direct.Warn("log lines were dropped: the log is not read fast enough", "lines", dropped)
	}
	b.spare = lines
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
	l := &Log{buffer: newLogBuffer(out, text)}
	l.Logger = slog.New(newLogHandler(l.buffer, text, level))
	if level <= slog.LevelInfo {
		l.Requests = exceptUsualBeats(httpserver.NewAccessLog(l.buffer, text).Observe)
	}
	return l
}

// Close writes the remaining lines. Later ones are lost.
func (l *Log) Close() {
	l.buffer.mu.Lock()
	l.buffer.closed = true
	l.buffer.mu.Unlock()
	l.buffer.flush()
}

// exceptUsualBeats omits heartbeats that succeed or get a temporary refusal: a million
// devices would make 16,700 lines a second, and the metrics count them.
func exceptUsualBeats(log func(*http.Request, httpserver.RequestInfo)) func(*http.Request, httpserver.RequestInfo) {
	return func(r *http.Request, e httpserver.RequestInfo) {
		usual := e.Status == http.StatusOK || e.Status == http.StatusServiceUnavailable
		if !usual || !edge.IsHeartbeat(r) {
			log(r, e)
		}
	}
}
