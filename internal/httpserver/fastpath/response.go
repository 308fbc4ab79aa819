package fastpath

import (
	"bufio"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// responseWriter writes the response to a plain request, byte for byte as net/http would, and
// with one system call if possible. It supports what handlers here use: bodies of known
// and unknown length, Flush and SetWriteDeadline through http.ResponseController. It
// supports no trailers, no 1xx responses and no Hijack.
type responseWriter struct {
	conn   *conn
	header http.Header
	keys   []string // scratch space to sort the header names

	status   int // 0 until the handler sets one
	typed    bool
	encoded  bool
	dated    bool
	length   int64 // Content-Length; -1 for none
	unsure   bool  // Content-Length is invalid
	written  int64
	finished bool // the handler returned
	begun    bool // the head is complete
	chunked  bool
	closing  bool // the connection ends with this response

	out   []byte        // ready to be sent
	parts [2][]byte     // scratch space to send out and a piece
	both  net.Buffers   // the unsent rest of parts
	small *bufio.Writer // buffers the start of a body of unknown length
	err   error         // why the client cannot be reached
}

const (
	sniffed  = 2 << 10 // bytes buffered before the body is sent in chunks; as in net/http
	together = 4 << 10 // up to this size, pieces are copied together
)

// reset prepares for the next response.
func (a *responseWriter) reset() {
	clear(a.header)
	clear(a.keys)
	*a = responseWriter{conn: a.conn, header: a.header, keys: a.keys[:0], out: a.out[:0], small: a.small, length: -1}
	if a.small != nil {
		a.small.Reset(pieces{a})
	}
}

func (a *responseWriter) Header() http.Header { return a.header }

// SendsWhole marks a writer that sends a header and a body of known length with one
// system call if it can. net/http's takes two.
func (a *responseWriter) SendsWhole() {}

func (a *responseWriter) bodyAllowed() bool {
	return a.status != http.StatusNoContent && a.status != http.StatusNotModified
}

// Write adds a part of the body. While the length of the body is unknown, its start is
// buffered. If that turns out to be all, its length is sent; otherwise the body is sent
// in chunks.
func (a *responseWriter) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if !a.bodyAllowed() {
		return 0, http.ErrBodyNotAllowed
	}
	a.written += int64(len(p))
	if a.length >= 0 && a.written > a.length {
		return 0, http.ErrContentLength
	}
	if a.length >= 0 && a.typed {
		return a.piece(p)
	}
	if a.small == nil {
		a.small = bufio.NewWriterSize(pieces{a}, sniffed)
	}
	return a.small.Write(p)
}

// pieces is the writer that small flushes to.
type pieces struct{ a *responseWriter }

func (p pieces) Write(b []byte) (int, error) { return p.a.piece(b) }

// piece sends a part of the body, or buffers it to be sent with what follows.
func (a *responseWriter) piece(p []byte) (int, error) {
	if !a.begun {
		a.begin(p)
	}
	if a.chunked {
		a.out = append(strconv.AppendInt(a.out, int64(len(p)), 16), "\r\n"...)
	}
	if len(a.out)+len(p) <= together {
		a.out = append(a.out, p...)
	} else {
		a.send(p)
	}
	if a.chunked {
		a.out = append(a.out, "\r\n"...)
	}
	if a.err != nil {
		return 0, a.err
	}
	return len(p), nil
}

// breakOff sends what there is of a response that will not be finished.
func (a *responseWriter) breakOff() {
	if a.begun {
		a.send(nil)
	}
}

// send writes the buffered output and p to the connection.
func (a *responseWriter) send(p []byte) {
	if a.err == nil && len(p) > 0 {
		a.parts = [2][]byte{a.out, p}
		a.both = a.parts[:]
		_, a.err = a.both.WriteTo(a.conn.Conn)
		a.parts = [2][]byte{} // p belongs to the handler
	} else if a.err == nil && len(a.out) > 0 {
		_, a.err = a.conn.Write(a.out)
	}
	if a.err != nil {
		a.conn.cancel() // the rest will not be read
	}
	a.out = a.out[:0]
}

// FlushError sends the buffered output.
func (a *responseWriter) FlushError() error {
	a.settle()
	a.send(nil)
	return a.err
}

// settle makes everything written so far ready to be sent.
func (a *responseWriter) settle() {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.small != nil {
		_ = a.small.Flush() // a.err holds the error
	}
	if !a.begun {
		a.begin(nil)
	}
}

// SetWriteDeadline replaces the usual deadline for this response.
func (a *responseWriter) SetWriteDeadline(t time.Time) error { return a.conn.limitWrites(t) }

// finish ends the response and reports whether the connection can be reused.
func (a *responseWriter) finish() (reusable bool) {
	a.finished = true
	a.settle()
	if a.chunked {
		a.out = append(a.out, "0\r\n\r\n"...)
	}
	a.send(nil)
	short := a.length >= 0 && a.bodyAllowed() && a.length != a.written
	return a.err == nil && !a.closing && !short
}

// WriteHeader encodes the header immediately: later changes have no effect.
func (a *responseWriter) WriteHeader(status int) {
	if a.status != 0 || status < 200 {
		return
	}
	a.status = status
	a.out = append(a.out, "HTTP/1.1 "...)
	a.out = strconv.AppendInt(a.out, int64(status), 10)
	a.out = append(a.out, ' ')
	if text := http.StatusText(status); text != "" {
		a.out = append(a.out, text...)
	} else {
		a.out = strconv.AppendInt(append(a.out, "status code "...), int64(status), 10)
	}
	a.out = append(a.out, "\r\n"...)
	for name := range a.header {
		a.keys = append(a.keys, name)
	}
	slices.Sort(a.keys)
	for _, name := range a.keys {
		if values := a.header[name]; a.takes(name, values) {
			a.out = appendField(a.out, name, values)
		}
	}
}

// takes inspects a field that the handler set, and reports whether it is sent.
func (a *responseWriter) takes(name string, values []string) bool {
	first := ""
	if len(values) > 0 {
		first = values[0]
	}
	switch name {
	case "Content-Length":
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil || n < 0 {
			a.unsure = true
			return false
		}
		a.length = n
		return a.bodyAllowed()
	case "Content-Type":
		a.typed = true
		return a.status != http.StatusNotModified
	case "Content-Encoding":
		a.encoded = first != ""
	case "Date":
		a.dated = true
	case "Connection":
		a.closing = first == "close"
	case "Transfer-Encoding":
		return false
	}
	return all([]byte(name), inName) && name != ""
}

// appendField writes the lines of a field. No value can break out of its line.
func appendField(out []byte, name string, values []string) []byte {
	for _, value := range values {
		if strings.ContainsAny(value, "\r\n") {
			value = strings.NewReplacer("\r", " ", "\n", " ").Replace(value)
		}
		out = append(out, name...)
		out = append(out, ": "...)
		out = append(out, strings.Trim(value, " \t")...)
		out = append(out, "\r\n"...)
	}
	return out
}

// begin completes the head, now that the first part of the body is known.
func (a *responseWriter) begin(p []byte) {
	a.begun = true
	if !a.dated {
		a.out = append(append(append(a.out, "Date: "...), a.conn.ln.date()...), "\r\n"...)
	}
	if a.length < 0 && a.bodyAllowed() {
		if a.finished && !a.unsure {
			a.length = int64(len(p))
			a.out = strconv.AppendInt(append(a.out, "Content-Length: "...), a.length, 10)
			a.out = append(a.out, "\r\n"...)
		} else {
			a.chunked = true
		}
	}
	if !a.typed && !a.encoded && len(p) > 0 {
		a.out = append(append(append(a.out, "Content-Type: "...), http.DetectContentType(p)...), "\r\n"...)
	}
	if !a.closing && a.conn.ln.stopping.Load() {
		a.closing = true
		a.out = append(a.out, "Connection: close\r\n"...)
	}
	if a.chunked {
		a.out = append(a.out, "Transfer-Encoding: chunked\r\n"...)
	}
	a.out = append(a.out, "\r\n"...)
}
